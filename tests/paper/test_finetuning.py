"""Fine-tuning in miniature: draws, the bills of replayed training, the rules beside each other, features by file."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from paper.__main__ import main
from paper.engine.job import Job
from paper.heads.images import Source, pool
from paper.heads.recipes import CONFIDENT, KINDS, PRIVATE, PUBLIC, Settings, Tuned, multiplier, recipe, tuned_on_digits
from paper.heads.replay import Ending, accuracy, ending, trained
from paper.items.finetuning import FULL, QUICK, _case, _plan, run
from paper.show.finetuning import text
from paper.summaries.confidence import confident

from expost import Odometer, Private, SeededNoise, Split
from expost.errors import InvalidValue, Unreadable
from expost.jobs.finetuning.recipe import HeadRecipe, fine_tune, plan_training
from expost.training import Classifier

DIGITS = pool(Source())
TUNED = Tuned(learning_rate=0.1, clip=0.3)


def job_of(kind: str, threshold: str = "0.64", settings: Settings = FULL) -> HeadRecipe:
    return recipe(settings, DIGITS, TUNED, kind, threshold, public=DIGITS.test)


def ended(passed: bool, test: float, validation: float = 1.0, stops: float = 2) -> Ending:
    return Ending(paper=1, fixed=3, stops=stops, validation=validation, test=test, releases=4, passed=passed)


def write(path: Path, *, width: int = 6, per_class: int = 100, labels: type = np.int64) -> Path:
    """A file of three classes that lie apart."""
    codes = np.repeat(np.arange(3), per_class)
    rows = np.eye(3)[codes].repeat(2, axis=1) + np.linspace(0, 1, len(codes))[:, None]
    np.savez(
        path, train_features=rows, train_labels=codes.astype(labels), test_features=rows[:, :width], test_labels=codes
    )
    return path


def test_a_draw_takes_as_many_of_each_class_for_both_parts_and_no_record_twice() -> None:
    train, held = DIGITS.draw(50, SeededNoise(1))

    assert np.bincount(train.labels).tolist() == np.bincount(held.labels).tolist() == [50] * 10
    assert len(np.unique(np.concatenate([train.features, held.features]), axis=0)) == 1000


def test_other_seeds_draw_other_records() -> None:
    one, other = (DIGITS.draw(50, SeededNoise(seed))[0].features for seed in (1, 2))

    assert (one != other).any()


def test_a_class_with_too_few_records_is_refused() -> None:
    with pytest.raises(InvalidValue, match="fewer than 400 records"):
        DIGITS.draw(200, SeededNoise(1))


def test_no_digit_is_both_drawn_and_tested_on() -> None:
    rows = np.concatenate([DIGITS.records.features, DIGITS.test.features])

    assert len(DIGITS.records) + len(DIGITS.test) == 1797
    assert len(np.unique(rows, axis=0)) == 1797


def test_the_first_release_has_its_price_at_the_best_order() -> None:
    job = job_of(PUBLIC)

    assert float(multiplier(FULL)) == pytest.approx(4.406831168, rel=1e-8)
    assert job.descent.promise(job.schedule.first).approx(FULL.delta) == pytest.approx(1.5, abs=1e-9)


def test_schedules_are_those_of_the_paper() -> None:
    assert job_of(PUBLIC).schedule.steps == tuple(range(500, 5001, 500))
    assert job_of("private, balanced").schedule.steps == (500, 1500, 2500, 3500, 4500)


@pytest.mark.parametrize("threshold", ["0.3", "0.75", "0.99"])
def test_replayed_training_ends_and_costs_as_training_does(threshold: str) -> None:
    settings = replace(FULL, first=20, public=(20, 4))
    train, held = DIGITS.draw(50, SeededNoise(1))
    job = recipe(settings, DIGITS, TUNED, PUBLIC, threshold, public=held)
    odometer = Odometer(pledge=plan_training(job).pledge, rehearsal=True)
    outcome = fine_tune(Split.whole(Private(train)), job, DIGITS.shape, odometer=odometer, noise=SeededNoise(5))

    found = ending(job, trained(job, DIGITS.shape, train, SeededNoise(5)), (train, held, DIGITS.test), SeededNoise(9))

    assert found["releases"] == len(outcome.history)
    assert found["stops"] == outcome.epsilon
    assert found["test"] == accuracy(outcome.release.value, DIGITS.test)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fixed_order_starts_at_the_best_and_no_valid_rule_is_below_it(kind: str) -> None:
    plan = _plan(job_of(kind), kind)

    assert plan["fixed"][0] == pytest.approx(plan["paper"][0])
    assert all(low < high for low, high in zip(plan["paper"][1:], plan["fixed"][1:], strict=True))
    assert all(low < high for low, high in zip(plan["paper"], plan["stops"], strict=True))
    assert plan["orders"] == sorted(plan["orders"], reverse=True)


def test_an_ending_is_stated_as_planned_for_its_release() -> None:
    settings = replace(FULL, first=5, private=(5, 3))
    train, held = DIGITS.draw(50, SeededNoise(1))
    job = recipe(settings, DIGITS, TUNED, "private, balanced", "0.99", public=held)
    plan = _plan(job, "private, balanced")

    found = ending(job, trained(job, DIGITS.shape, train, SeededNoise(5)), (train, held, DIGITS.test), SeededNoise(9))

    assert not found["passed"]
    assert found["releases"] == 3
    assert [found["paper"], found["fixed"], found["stops"]] == pytest.approx(
        [plan["paper"][2], plan["fixed"][2], plan["stops"][2]]
    )


def test_the_paper_s_four_checks_share_what_training_the_first_release_costs() -> None:
    job, sensitivity = job_of("private, calibrated"), 0.64
    cost = job.descent.promise(job.schedule.first).at(job.order)

    noise = _plan(job, "private, calibrated")["check"]

    assert noise == pytest.approx([sensitivity * math.sqrt(4 * float(job.order) / (2 * cost))] * 4)


def test_a_balanced_check_is_less_noisy_than_one_of_the_paper_s() -> None:
    balanced, calibrated = (_plan(job_of(kind), kind)["check"] for kind in PRIVATE)

    assert all(one < other for one, other in zip(balanced, calibrated, strict=True))


def test_only_heads_that_passed_count_as_accepted() -> None:
    endings = [ended(True, 0.7), ended(True, 0.69, 0.6), ended(False, 0.9), ended(False, 0.1)]

    case = _case("public", "0.7", endings, endings)

    assert (case["accepted"]["count"], case["accepted"]["of"]) == (2, 4)
    assert (case["truly"]["count"], case["truly"]["of"]) == (1, 2)
    assert (case["truly_validation"]["count"], case["truly_validation"]["of"]) == (1, 2)
    assert case["test"]["mean"] == pytest.approx((0.7 + 0.69 + 0.9 + 0.1) / 4)


@pytest.mark.parametrize("kind", CONFIDENT)
def test_a_confidence_has_a_price_over_the_same_repeats_without_it(kind: str) -> None:
    sure, unsure = [ended(True, 0.7, stops=3), ended(False, 0.7, stops=6)], [ended(True, 0.7, stops=2)] * 2

    assert _case(kind, "0.7", unsure, unsure)["price"] == pytest.approx({"count": 2, "mean": 1, "std": 0, "reach": 0})
    price = _case(kind, "0.7", sure, unsure)["price"]
    assert price is not None
    assert price["mean"] == pytest.approx(9 / 4)
    assert _case(CONFIDENT[kind], "0.7", unsure, unsure)["price"] is None


@pytest.mark.parametrize("kind", CONFIDENT)
def test_a_confident_check_looks_at_every_release_and_wants_a_margin_for_the_same_price(kind: str) -> None:
    sure, plain = (_plan(job_of(each), each) for each in (kind, CONFIDENT[kind]))

    assert (len(sure["guard"]), len(plain["guard"])) == (5, 4)
    assert all(guard > 2 * noise for guard, noise in zip(sure["guard"], sure["check"], strict=True))
    assert plain["guard"] == [0] * 4
    assert sure["stops"] == plain["stops"]


def test_a_head_that_passes_only_by_noise_is_not_accepted_surely() -> None:
    """The first release lacks a record: noise of a few lifts it over the target unless the check is confident."""
    settings, kinds = replace(FULL, first=5, private=(5, 3)), ("private, calibrated", confident("private, calibrated"))
    train, held = DIGITS.draw(50, SeededNoise(1))
    made = trained(recipe(settings, DIGITS, TUNED, kinds[0], "0.5", public=held), DIGITS.shape, train, SeededNoise(5))
    first = min(made.values(), key=lambda release: release.steps)
    short = f"{accuracy(Classifier(first.weights), held) + 1 / len(held):.4f}"
    jobs = [recipe(settings, DIGITS, TUNED, kind, short, public=held) for kind in kinds]

    found = [
        [ending(job, made, (train, held, DIGITS.test), noise) for noise in map(SeededNoise, range(20))] for job in jobs
    ]

    unsure, sure = (sum(each["passed"] and each["validation"] < float(short) for each in endings) for endings in found)
    assert unsure >= 4
    assert sure <= 4


def test_a_threshold_nobody_accepted_is_told_without_a_share(tmp_path: Path) -> None:
    result = run(Job("finetuning", 1, replace(QUICK, shares=(0.1, 0.99)), 1, tmp_path, 1))

    told = text(result)

    private = [case for case in result["cases"] if case["kind"] == "private, balanced"]
    assert [case["accepted"]["count"] for case in private] == [2, 0]
    assert "| none |" in told
    assert "digits, not CIFAR-10" in told


def test_the_search_on_digits_finds_better_than_its_worst_corner() -> None:
    train, _ = DIGITS.draw(50, SeededNoise(3))
    found = tuned_on_digits(replace(FULL, trials=8), 1)
    scores = []
    for setting in (found, Tuned(learning_rate=0.5, clip=1.0)):
        job = recipe(replace(FULL, public=(50, 1)), DIGITS, setting, PUBLIC, "0.5", public=DIGITS.test)
        (head,) = trained(job, DIGITS.shape, train, SeededNoise(4)).values()
        scores.append((head.weights[:, :-1] @ DIGITS.test.features.T + head.weights[:, -1:]).argmax(axis=0))

    right = [(score == DIGITS.test.labels).mean() for score in scores]

    assert right[0] > right[1] + 0.05


def test_features_come_from_a_file_that_is_named_and_whose_path_is_not_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "features.npz")
    arguments = ["--only", "finetuning", "--features", str(path), "--named", "three clouds, no network", "--quick"]

    done = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path)])

    assert done.exit_code == 0, done.output
    stored = (tmp_path / "results/finetuning.json").read_text(encoding="utf-8")
    result = json.loads(stored)["result"]
    assert (result["data"], result["digits"], result["width"]) == ("three clouds, no network", False, 6)
    assert result["digest"] == Source.file(path).digest
    assert str(tmp_path) not in stored
    assert "three clouds, no network" in text(result)
    assert (tmp_path / "figures/finetuning.svg").exists()


def test_features_without_a_name_are_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["--features", str(write(tmp_path / "features.npz")), "--quick"])

    assert done.exit_code == 2
    assert "say with --named" in done.output


def test_a_file_without_test_records_is_refused_by_a_sentence(tmp_path: Path) -> None:
    np.savez(tmp_path / "features.npz", train_features=np.eye(2), train_labels=np.arange(2))

    done = CliRunner().invoke(
        main, ["--features", str(tmp_path / "features.npz"), "--named", "clouds", "--quick", "--out", str(tmp_path)]
    )

    assert done.exit_code == 1
    assert "does not hold an array named test_features" in done.output


def test_training_and_test_records_of_different_widths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="different widths"):
        pool(Source.file(write(tmp_path / "features.npz", width=4)))


def test_labels_that_are_not_whole_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="no whole numbers as labels"):
        pool(Source.file(write(tmp_path / "features.npz", labels=float)))


def test_a_changed_file_is_another_source(tmp_path: Path) -> None:
    before = Source.file(write(tmp_path / "features.npz"))

    after = Source.file(write(tmp_path / "features.npz", per_class=101))

    assert before.path == after.path
    assert before != after
