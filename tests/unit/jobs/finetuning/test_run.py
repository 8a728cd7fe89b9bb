"""Fine-tuning from end to end: features in, a head out, with its bill; refusals before data is opened."""

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

import expost
from expost.accounting.curve import AdpEpsilon
from expost.bill import spent_so_far
from expost.errors import BudgetExceeded, InvalidValue, Unreadable
from expost.jobs import audit as check
from expost.jobs.finetuning.run import finetune
from expost.judge import Balanced, Budgeted, OnPublic
from expost.ledger import MemoryLedger
from expost.noise import SeededNoise, SystemNoise
from expost.receipts.receipt import receipt
from expost.report.answers import Reading
from expost.search import Ended
from expost.training import Classifier, FloatSums, Labelled
from tests.unit.examples import one_sentence
from tests.unit.jobs.finetuning.rehearsals import made, refused
from tests.unit.report.examples import blobs, head, trained


def saved(folder: Path, **arrays: Any) -> Path:
    """Arrays as a file."""
    np.savez(folder / "records.npz", **arrays)
    return folder / "records.npz"


def test_digits_are_recognised_for_a_price_that_was_known_beforehand() -> None:
    features, labels = load_digits(return_X_y=True)

    done = finetune(features, labels, accuracy=0.8, noise=SeededNoise(1))

    assert done.passed
    assert float(np.mean(done.release.value.predict(features) == labels)) > 0.78
    assert done.epsilon == done.facts.stops[len(done.history) - 1].epsilon
    assert (done.delta, done.facts.delta) == (1e-5, 1e-5)


def test_the_first_release_is_stated_as_what_was_asked() -> None:
    assert made(start=expost.Epsilon(0.7)).facts.stops[0].epsilon == pytest.approx(0.7, rel=1e-6)


def test_a_noise_multiplier_may_be_said_in_place_of_a_price() -> None:
    assert head(made(start=Fraction(8)).facts).noise_multiplier == 8


def test_a_bare_number_is_neither() -> None:
    assert "Epsilon(1.5)" in str(refused(start=1.5))


def test_a_file_leads_to_the_same_head_as_its_arrays(tmp_path: Path) -> None:
    features, labels = blobs()
    path = saved(tmp_path, features=features, labels=labels)

    heads = [done.release.value.weights for done in (made(features, labels), made(path), made(str(path)))]

    assert all(np.array_equal(heads[0], each) for each in heads[1:])


def test_rows_are_scaled_by_themselves() -> None:
    features, labels = blobs()
    lengths = SeededNoise(2).uniform(len(labels))[:, None] + 0.5

    one, other = made(features, labels), made(features * 2.0**40, labels)

    assert np.array_equal(one.release.value.weights, other.release.value.weights)
    assert made(features * lengths, labels).passed


def test_a_finished_run_says_its_price_and_not_its_weights() -> None:
    done = made()

    assert repr(done) == f"Result(Classifier, ε = {done.epsilon:.4g}, δ = 1e-05, NOT PRIVATE, halted)"
    assert "NOT PRIVATE" in done._repr_html_()


def test_a_run_with_system_noise_is_not_called_seeded() -> None:
    done = made(noise=SystemNoise())

    assert not done.release.seeded
    assert "NOT PRIVATE" not in repr(done) + done._repr_html_()


def test_every_release_is_told_as_it_is_reported() -> None:
    seen: list[Reading] = []

    done = made(accuracy=0.99, on_step=seen.append)

    assert tuple(seen) == done.history


def test_the_steps_of_each_release_are_told() -> None:
    seen: list[tuple[int, int]] = []

    made(accuracy=0.99, on_progress=lambda taken, steps: seen.append((taken, steps)))

    assert [steps for taken, steps in seen if taken == steps] == [20, 40, 40, 40]


@pytest.mark.parametrize(("confidence", "last"), [(0.95, False), (None, None)])
def test_a_run_that_does_not_pass_hands_over_its_last_release(confidence: float | None, last: bool | None) -> None:
    """The paper's check is not asked about it."""
    done = made(accuracy=0.99, confidence=confidence)

    assert (done.passed, done.ended) == (False, Ended.EXHAUSTED)
    assert done.history[-1].passed is last


@pytest.mark.parametrize("maker", [Balanced(), Budgeted()])
def test_every_check_leads_to_a_receipt_that_adds_up(maker: Any) -> None:
    for accuracy in (0.8, 0.99):
        done = made(accuracy=accuracy, check=maker)

        audit = check(json.loads(json.dumps(receipt(done.facts))))

        assert audit.matches, str(audit)
        assert audit.epsilon == pytest.approx(done.epsilon)


def test_the_check_on_the_bill_is_the_one_that_was_asked() -> None:
    looks = {item.entry.what for item in made(check=Budgeted()).facts.bill if item.entry.part == "data/held"}

    assert looks == {"Gaussian check"}


PUBLIC: dict[str, Any] = {
    "arrays": lambda folder: blobs(90),
    "records": lambda folder: Labelled.of(*blobs(90), classes=3),
    "a file": lambda folder: saved(folder, features=blobs(90)[0], labels=blobs(90)[1]),
}


@pytest.mark.parametrize("source", PUBLIC.values(), ids=PUBLIC)
def test_public_records_are_checked_on_for_free_and_hold_nothing_out(source: Any, tmp_path: Path) -> None:
    done = made(check=OnPublic(source(tmp_path)))

    assert done.passed
    assert {item.entry.part for item in done.facts.bill} == {"data"}
    assert check(json.loads(json.dumps(receipt(done.facts)))).matches


def test_a_public_check_judges_the_last_release_too() -> None:
    assert made(accuracy=0.99, check=OnPublic(blobs(90))).history[-1].passed is False


def test_a_class_that_only_public_records_have_is_counted() -> None:
    features, labels = blobs()

    assert head(made(features, labels, check=OnPublic(blobs(90, 4))).facts).classes == 4


def test_classes_are_counted_unless_they_are_said() -> None:
    counted, said = head(made().facts), head(made(classes=5).facts)

    assert (counted.classes, counted.counted) == (3, True)
    assert (said.classes, said.counted) == (5, False)


@pytest.mark.parametrize("cap", [1.0, 2.1])
def test_the_stated_epsilon_stays_within_the_cap(cap: float) -> None:
    done = made(accuracy=0.99, max_epsilon=cap)

    assert done.epsilon <= cap
    assert done.ended is Ended.CAPPED


def test_without_a_cap_the_same_run_would_cost_more() -> None:
    assert made(accuracy=0.99).epsilon > 2.1


def test_a_cap_below_the_first_release_is_refused() -> None:
    refusal = refused(max_epsilon=0.5)

    assert isinstance(refusal, BudgetExceeded)
    assert "is stated as ε = 0.8699, above the cap 0.5; raise the cap, or start lower." in str(refusal)


def test_floating_point_noise_is_marked() -> None:
    done = made(summation=FloatSums())

    assert done.release.floating
    assert all(item.entry.floating for item in done.facts.bill if item.entry.what == "Head")


def test_exact_noise_is_the_default() -> None:
    assert not made().release.floating


def test_a_torch_device_leads_to_a_head_of_its_own_and_is_told() -> None:
    done = made(device="cpu", releases=1)

    assert head(done.facts).device == "torch on cpu"
    assert "torch" in dict(done.facts.versions)
    assert "torch" not in dict(made(releases=1).facts.versions)
    assert float(np.mean(done.release.value.predict(blobs()[0]) == blobs()[1])) > 0.8


ABSURD: dict[str, dict[str, Any]] = {
    "an accuracy of one": {"accuracy": 1},
    "an accuracy that is no number": {"accuracy": math.nan},
    "nothing held out": {"validation": 0},
    "everything held out": {"validation": 1.0},
    "a share that is no number": {"validation": math.nan},
    "public records that are not there": {"check": OnPublic("none.npz")},
    "public records that do not match": {"check": OnPublic((np.zeros((3, 6)), [0, 1]))},
    "public records that are three arrays": {"check": OnPublic((np.zeros((3, 6)), [0, 1, 0], [0]))},
    "public records that are not numbers": {"check": OnPublic((np.full((2, 6), math.nan), [0, 1]))},
    "public records in place of a share": {"validation": "none.npz"},
    "one class": {"classes": 1},
    "no release": {"releases": 0},
    "no epoch": {"epochs": 0},
    "no epoch between releases": {"epochs_between": 0},
    "a rate of zero": {"rate": 0},
    "a rate above one": {"rate": 1.5},
    "a rate that is no number": {"rate": math.nan},
    "a price out of reach": {"start": expost.Epsilon(1e-9), "delta": 1e-15},
    "δ of zero": {"delta": 0.0},
    "δ that is no number": {"delta": math.nan},
    "a clip of zero": {"max_grad_norm": 0},
    "a batch of none": {"batch": 0},
    "no learning": {"learning_rate": 0},
    "a learning rate that is no number": {"learning_rate": math.nan},
    "a drop below zero": {"drop": -1},
    "a device that is not there": {"device": "abacus"},
    "no records": {"records": 0},
    "a cap of zero": {"max_epsilon": 0},
    "a cap that is no number": {"max_epsilon": math.nan},
}


@pytest.mark.parametrize("changes", ABSURD.values(), ids=ABSURD)
def test_an_absurd_setting_is_refused_before_the_data_is_opened(changes: dict[str, Any]) -> None:
    assert "nowhere" not in str(refused(**changes))


def test_the_data_would_be_missed_if_it_were_opened() -> None:
    assert "nowhere.npz" in str(refused())


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf])
def test_an_absurd_price_is_refused_when_it_is_wished(epsilon: float) -> None:
    with pytest.raises(InvalidValue):
        expost.Epsilon(epsilon)


X, Y = blobs(30)
BROKEN: dict[str, tuple[Any, ...]] = {
    "a feature that is no number": (np.where(np.eye(30, 6) > 0, math.nan, X), Y),
    "a feature beyond single precision": (X * 1e300, Y),
    "features in words": (np.full((30, 6), "x"), Y),
    "rows of two lengths": ([[1.0], [1.0, 2.0]], [0, 1]),
    "features without rows": (X[:, 0], Y),
    "no features": (X[:, :0], Y),
    "a label too few": (X, Y[1:]),
    "labels in columns": (X, Y[:, None]),
    "labels between the classes": (X, Y + 0.5),
    "labels in words": (X, Y.astype(str)),
    "labels that are durations": (X, Y.astype("timedelta64[ns]")),
    "a negative label": (X, Y - 1),
    "a label beyond any head": (X, Y + 10**12),
    "labels of two lengths": (X, [[0], [1, 2]]),
    "one class": (X, np.zeros(30, int)),
    "nobody": (X[:0], Y[:0]),
    "no labels": (X,),
}


@pytest.mark.parametrize("given", BROKEN.values(), ids=BROKEN)
def test_broken_records_are_refused_before_anything_is_spent(given: tuple[Any, ...]) -> None:
    refused(*given)


def test_a_label_beyond_the_classes_that_were_said_is_refused() -> None:
    assert "0 … 1" in str(refused(X, Y, classes=2))


def test_labels_beside_a_file_are_refused() -> None:
    assert "leave them out" in str(refused("nowhere.npz", Y))


FILES: dict[str, Any] = {
    "no labels": {"features": X},
    "other names": {"x": X, "y": Y},
    "pickled objects": {"features": np.array([{}, None], object), "labels": Y},
}


@pytest.mark.parametrize("arrays", FILES.values(), ids=FILES)
def test_a_file_without_records_is_refused(arrays: Any, tmp_path: Path) -> None:
    assert isinstance(refused(saved(tmp_path, **arrays)), Unreadable)


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "records.npz").write_text("features, labels", encoding="utf-8")

    refused(tmp_path / "records.npz")


def test_public_records_with_other_features_are_refused_before_anything_is_spent() -> None:
    features, labels = blobs(90)

    assert "other features" in str(refused(X, Y, check=OnPublic((features[:, :4], labels))))


def test_what_was_spent_is_known_after_an_interrupt() -> None:
    ledger, whole = MemoryLedger(), made(accuracy=0.99)

    def interrupt(taken: int, steps: int) -> None:
        if steps == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(accuracy=0.99, ledger=ledger, on_progress=interrupt)

    assert spent_so_far(ledger) == whole.facts.stops[1].epsilon


def test_an_unspent_record_is_known_as_such() -> None:
    assert spent_so_far(MemoryLedger()) == AdpEpsilon(0)


def test_a_run_is_saved_as_three_files_from_which_the_head_comes_back(tmp_path: Path) -> None:
    done = trained(0.8)

    done.save(tmp_path / "a/b")

    assert {path.name for path in (tmp_path / "a/b").iterdir()} == {"model.npz", "report.html", "receipt.json"}
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]
    assert np.array_equal(Classifier.load(tmp_path / "a/b/model.npz").weights, done.release.value.weights)
    assert check(json.loads((tmp_path / "a/b/receipt.json").read_text(encoding="utf-8"))).matches


def test_a_folder_that_is_there_and_is_not_a_release_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/kept").touch()

    with pytest.raises(InvalidValue):
        trained(0.8).save(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["kept"]

    with pytest.raises(InvalidValue):
        trained(0.8).save(tmp_path / "out", overwrite=True)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["kept"]


def loaded(code: str, name: str) -> bool:
    """Whether a fresh process has a module in memory after running the code."""
    found = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nsys.exit({name!r} in sys.modules)"], check=False
    ).returncode
    return bool(found)


def test_torch_is_not_loaded_before_it_is_used() -> None:
    assert not loaded("import expost, expost.cli, expost.training", "torch")
    assert loaded("import expost", "numpy")


@pytest.mark.parametrize("name", expost.training.__all__)
def test_every_name_of_the_training_package_is_there_under_its_name(name: str) -> None:
    assert getattr(expost.training, name).__name__ == name


def test_a_name_that_is_not_there_is_said_so() -> None:
    with pytest.raises(AttributeError, match="no Teacher"):
        _ = expost.training.Teacher


class TooLarge:
    """Records whose reading fails as NumPy does where memory is short: it tells their number."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise MemoryError("unable to allocate an array with shape (123457, 300)")


def test_records_that_do_not_fit_into_memory_are_refused_without_their_number() -> None:
    with pytest.raises(Unreadable) as refused:
        expost.finetune(TooLarge(), np.arange(4) % 2, accuracy=0.8, start=expost.Epsilon(1.0))

    assert "123457" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert one_sentence(refused.value)


@pytest.mark.parametrize(
    "check", [Balanced(), OnPublic(([[0.5, 2.0], [3.0, 1.0]], [0, 1]))], ids=["held out", "public"]
)
def test_the_arrays_that_were_given_stay_as_they_were(check: Balanced | OnPublic) -> None:
    """In single precision too, where they could be written over in place."""
    features, labels = SeededNoise(1).gaussian(3.0, (60, 2)).astype(np.float32), np.arange(60) % 2
    before = features.copy()

    finetune(features, labels, accuracy=0.99, check=check, releases=1, noise=SeededNoise(1))

    assert np.array_equal(features, before)
