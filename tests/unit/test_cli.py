"""The command line: it says what was paid and how it ended, and refuses in one sentence before any data is opened."""

import json
import re
import signal
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from click.testing import Result
from sklearn.base import BaseEstimator, ClassifierMixin

from expost.cli import main
from expost.jobs import audit as check
from expost.jobs.job import Result as JobResult
from expost.jobs.synthesis import command as tables
from expost.jobs.synthesis import owner
from expost.jobs.synthesis.recipe import LADDER
from expost.ladder import Ladder
from expost.noise import Integers
from expost.report.digits import price
from expost.tabular.apart import TAUGHT
from expost.tabular.model import footprint
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_table
from expost.terminal import ending
from expost.terminal.ending import ENDINGS
from tests.unit.commands import PLEDGED, beside, kept, refused, run, said
from tests.unit.folders.examples import older_release
from tests.unit.jobs.synthesis.customers import SCHEMA, csv, public_records, records

SHORT = ("--estimator", "model", "--ladder", "renyi:0.02:2:3")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and its schema, to work in."""
    csv(tmp_path)
    public_records(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA.dumps(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def synth(*words: str, source: str = "customers.csv", accuracy: str = "0.8", form: str = "schema.toml") -> Result:
    """A release of the customers into the folder ``out``."""
    usual = ("--schema", form, "--target", "renewed", "--accuracy", accuracy, "--out", "out", *SHORT)
    return run("synth", source, *beside(usual, words))


def plan(*words: str) -> Result:
    """What the customers' release would cost."""
    return run("plan", "synth", *beside(("--schema", "schema.toml", "--target", "renewed"), words))


def test_a_release_that_passed_exits_with_zero_and_says_what_it_cost(here: Path) -> None:
    result = synth("--seed", "1")

    assert result.exit_code == 0, result.output
    assert "on held-out records that were not used to make them. With 95 % confidence, the accuracy" in said(result)
    assert "This cost ε = " in said(result)


FILES = {"synthetic.csv", "counts.csv", "schema.toml", "report.html", "receipt.json"}


def test_a_release_is_a_table_with_its_counts_and_schema_a_report_and_a_receipt(here: Path) -> None:
    synth("--seed", "1")

    assert {path.name for path in (here / "out").iterdir()} == FILES
    assert len(read_table(here / "out/synthetic.csv", SCHEMA)) == kept(here)["rows"]


def test_a_release_can_be_parquet(here: Path) -> None:
    synth("--seed", "1", "--format", "parquet")

    assert len(read_table(here / "out/synthetic.parquet", SCHEMA)) == kept(here)["rows"]


def test_a_ladder_that_ends_exits_with_three_and_keeps_the_last_release_marked(here: Path) -> None:
    result = synth("--seed", "1", accuracy="0.99")

    assert result.exit_code == 3, result.output
    assert "was NOT confirmed" in said(result)
    assert "NOT CONFIRMED" in (here / "out/report.html").read_text(encoding="utf-8")
    assert kept(here)["ended"]["reached"] is False
    assert (here / "out/synthetic.csv").exists()


def test_a_release_that_passed_is_not_marked_so(here: Path) -> None:
    result = synth("--seed", "1")

    assert "NOT confirmed" not in said(result)
    assert "NOT CONFIRMED" not in (here / "out/report.html").read_text(encoding="utf-8")
    assert kept(here)["ended"]["reached"] is True


@pytest.mark.parametrize("accuracy", ["0", "1", "1.2", "-0.5", "nan", "inf"])
def test_an_absurd_accuracy_is_refused_before_the_data_is_opened(accuracy: str, here: Path) -> None:
    assert "no file" not in refused(synth(source="nowhere.csv", accuracy=accuracy), here)


@pytest.mark.parametrize(
    "words",
    [
        ("--target", "income"),
        ("--ladder", "1"),
        ("--ladder", "0.01:1:0"),
        ("--ladder", "1:0.01:3"),
        ("--ladder", "-1:1:3"),
        ("--ladder", "nan:1:3"),
        ("--ladder", "1/0:1:3"),
        ("--ladder", "0.01:1e400:3"),
        ("--ladder", "1e-300:1:3"),
        ("--ladder", "eps:0.2:1:3"),
        ("--ladder", "renyi:eps:0.2:1:3"),
        ("--ladder", "Renyi:0.01:1:3"),
        ("--ladder", "renyi:1:0.01:3"),
        ("--alpha", "1"),
        ("--alpha", "nan"),
        ("--delta", "0"),
        ("--delta", "nan"),
        ("--query-epsilon", "0"),
        ("--check", "guess"),
        ("--check", "public:none.csv"),
        ("--check", "gaussian", "--check-epsilon", "0"),
        ("--validation", "0"),
        ("--validation", "1"),
        ("--validation", "nan"),
        ("--validation", "inf"),
        ("--rows", "0"),
        ("--max-epsilon", "0"),
        ("--max-epsilon", "nan"),
        ("--seed", "-1"),
        ("--estimator", "no.such.Classifier"),
        ("--estimator", "sklearn.ensemble.VotingClassifier"),
    ],
    ids=" ".join,
)
def test_an_absurd_option_is_refused_before_the_data_is_opened(words: tuple[str, ...], here: Path) -> None:
    assert "no file nowhere.csv" not in refused(synth(*words, source="nowhere.csv"), here)


def test_the_data_would_be_missed_if_it_were_opened(here: Path) -> None:
    assert "no file nowhere.csv" in refused(synth(source="nowhere.csv"), here)


def test_a_draft_is_refused_until_it_is_reviewed(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    form = tmp_path_factory.mktemp("draft") / "draft.toml"
    form.write_text(run("schema", "customers.csv").stdout, encoding="utf-8")
    assert "reviewed = true" in refused(synth(form=str(form)), here)

    form.write_text(form.read_text(encoding="utf-8").replace("reviewed = false", "reviewed = true"), encoding="utf-8")

    assert synth("--seed", "1", form=str(form)).exit_code in {0, 3}


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("none.toml", "none.toml"),
        ("customers.csv", "not TOML"),
    ],
)
def test_a_schema_that_cannot_be_read_is_refused(form: str, words: str, here: Path) -> None:
    assert words in refused(synth(form=form), here)


def test_a_schema_of_another_table_is_refused(here: Path) -> None:
    text = SCHEMA.dumps().replace('"region"', '"county"')
    (here / "schema.toml").write_text(text, encoding="utf-8")

    assert "county" in refused(synth(), here)


HEAD = b"region,age,plan,renewed\n"
BROKEN = {
    "half-written.csv": HEAD + b"north,5,full,yes\nnorth,5,fu",
    "latin.csv": HEAD + b"north,5,full,\xffyes\n",
    "quoted.csv": HEAD + b'north,5,"full,yes\n',
    "empty.csv": b"",
    "header.csv": HEAD,
    "broken.parquet": b"PAR1 and no more",
    "table.xlsx": HEAD,
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read_is_refused(name: str, here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("broken") / name
    path.write_bytes(BROKEN[name])

    refused(synth(source=str(path)), here)


def test_a_folder_is_no_table(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert "no file" in refused(synth(source=str(tmp_path_factory.mktemp("folder"))), here)


def test_a_folder_that_exists_is_refused_and_left_alone(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out/precious").write_text("kept", encoding="utf-8")

    result = synth(source="nowhere.csv")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "out exists" in result.stderr
    assert [path.read_text(encoding="utf-8") for path in (here / "out").iterdir()] == ["kept"]


def test_a_release_is_replaced_if_that_is_asked_and_its_receipt_is_kept(here: Path) -> None:
    first = synth("--seed", "1", "--format", "parquet")
    receipt = (here / "out/receipt.json").read_text(encoding="utf-8")

    second = synth("--seed", "1", "--overwrite")

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert {path.name for path in (here / "out").iterdir()} == FILES | {"earlier"}
    assert (here / "out/earlier/receipt-1.json").read_text(encoding="utf-8") == receipt


def test_a_refused_run_leaves_a_folder_it_was_to_replace_alone(here: Path) -> None:
    older_release(here / "out")

    assert "no file nowhere.csv" in synth("--overwrite", source="nowhere.csv").stderr

    assert {path.name for path in (here / "out").iterdir()} == {"synthetic.csv", "receipt.json"}


def test_a_folder_that_holds_the_table_is_not_replaced(here: Path) -> None:
    older_release(here / "out")
    (here / "customers.csv").rename(here / "out/synthetic.csv")

    result = synth("--overwrite", source="out/synthetic.csv")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "out holds what this run reads" in result.stderr
    assert (here / "out/synthetic.csv").read_text(encoding="utf-8").startswith("undeclared,region")


def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_spent(here: Path) -> None:
    words = ("--schema", "schema.toml", "--target", "renewed", "--accuracy", "0.8", "--out", "customers.csv/out")

    result = run("synth", "customers.csv", *words, *SHORT, "--seed", "1")

    assert "customers.csv" in refused(result, here)


def test_a_seed_is_called_not_private_in_the_terminal_the_report_and_the_receipt(here: Path) -> None:
    result = synth("--seed", "1")

    assert "NOT PRIVATE" in said(result)
    assert "NOT PRIVATE" in (here / "out/report.html").read_text(encoding="utf-8")
    assert kept(here)["seeded"] is True
    assert (here / "out/receipt.json").read_text(encoding="utf-8").startswith('{\n  "warning": "NOT PRIVATE')


def test_without_a_seed_nothing_is_called_so(here: Path) -> None:
    result = synth()

    assert result.exit_code in {0, 3}, result.output
    assert "NOT PRIVATE" not in said(result)
    assert "NOT PRIVATE" not in (here / "out/report.html").read_text(encoding="utf-8")
    assert kept(here)["seeded"] is False


def test_a_seed_repeats_the_release(here: Path) -> None:
    tables = []
    for _ in range(2):
        synth("--seed", "4", "--overwrite")
        tables.append((here / "out/synthetic.csv").read_bytes())

    assert tables[0] == tables[1]


@pytest.mark.parametrize("accuracy", ["0.8", "0.99"])
def test_as_json_the_receipt_is_all_that_is_printed_and_it_adds_up(accuracy: str, here: Path) -> None:
    result = synth("--seed", "1", "--json", accuracy=accuracy)

    printed = json.loads(result.stdout)
    assert printed == kept(here)
    assert check(printed).matches


def test_a_receipt_that_was_changed_does_not_add_up(here: Path) -> None:
    printed = json.loads(synth("--seed", "1", "--json").stdout)

    printed["statement"]["epsilon"] /= 2

    assert not check(printed).matches


CHANGED = "counts.csv beside the receipt does not have the digest that the receipt names; it was changed.\n"


def test_the_audit_of_a_release_compares_its_counts(here: Path) -> None:
    """A receipt that lies alone, or without the counts, is worked out all the same."""
    synth("--seed", "1")
    counts, audit = here / "out/counts.csv", ("audit", "out/receipt.json")
    page = (here / "out/report.html").read_text(encoding="utf-8")

    assert sha256(counts.read_bytes()).hexdigest() == kept(here)["counts"]["sha256"]
    assert kept(here)["counts"]["sha256"] in page
    assert run(*audit).exit_code == 0
    counts.write_bytes(counts.read_bytes().replace(b"1", b"2", 1))
    assert (run(*audit).exit_code, run(*audit).output) == (3, CHANGED)
    counts.unlink()
    assert run(*audit).exit_code == 0


@pytest.mark.parametrize("told", [None, {}, {"sha256": 1}, {"sha256": "0", "more": "1"}], ids=str)
def test_a_digest_of_the_counts_that_is_none_is_refused(told: object, here: Path) -> None:
    printed = json.loads(synth("--seed", "1", "--json").stdout)

    printed["counts"] = told

    assert "missing or malformed" in str(check(printed))


def test_a_refusal_prints_no_json(here: Path) -> None:
    refused(synth("--json", accuracy="2"), here)


@pytest.mark.parametrize("kind", ["balanced", "gaussian", "svt", "public:public.csv"])
def test_every_check_leads_to_a_release_whose_receipt_adds_up(kind: str, here: Path) -> None:
    result = synth("--seed", "1", "--check", kind)

    assert result.exit_code in {0, 3}, result.output
    assert check(kept(here)).matches


LOOKS = {
    "balanced": {"balanced check"},
    "gaussian": {"Gaussian check"},
    "svt": {"sparse vector check"},
    "public:public.csv": set[str](),
}


@pytest.mark.parametrize("kind", LOOKS)
def test_the_check_on_the_bill_is_the_one_that_was_asked(kind: str, here: Path) -> None:
    synth("--seed", "1", "--check", kind)

    looks = {str(item["what"]) for item in kept(here)["bill"] if item["part"] == "data/held"}
    assert looks == LOOKS[kind]


@pytest.mark.parametrize("cap", [0.3, 0.6])
def test_the_stated_epsilon_never_passes_the_cap(cap: float, here: Path) -> None:
    result = synth("--seed", "1", "--max-epsilon", str(cap), accuracy="0.99")

    assert result.exit_code == 3
    assert kept(here)["statement"]["epsilon"] <= cap


def test_without_a_cap_it_would_pass(here: Path) -> None:
    synth("--seed", "1", accuracy="0.99")

    assert kept(here)["statement"]["epsilon"] > 0.6


def test_a_run_that_a_cap_ended_says_so_in_the_terminal_the_report_and_the_receipt(here: Path) -> None:
    result = synth("--seed", "1", "--max-epsilon", "0.6", accuracy="0.99")

    told = "the cap of ε = 0.6 left no room for rung"
    assert told in said(result)
    assert "The last rung" not in said(result)
    assert told in (here / "out/report.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    assert told in kept(here)["ended"]["because"]
    assert kept(here)["cap"] == 0.6


def test_a_ladder_that_ended_is_not_put_down_to_a_cap(here: Path) -> None:
    result = synth("--seed", "1", accuracy="0.99")

    assert "rung 3 was the last. On rung 3, the last one checked" in said(result)
    assert "cap" not in said(result)


class Failing(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """A classifier that predicts for nobody once it has learnt from more records than it is tried on beforehand."""

    def fit(self, features: Integers, labels: Integers) -> "Failing":
        self.learnt_ = len(labels)
        return self

    def predict(self, features: Integers) -> Integers:
        if self.learnt_ > TAUGHT:
            raise ValueError("no idea")
        return np.zeros(len(features), dtype=np.int64)


@pytest.mark.parametrize(
    "text",
    ["accuracy = " + "[" * 10**5, "accuracy = 1" + "0" * 10**5, "#" * (2**20 + 1)],
    ids=["deep", "long", "large"],
)
def test_hostile_options_and_schemas_are_refused_in_one_sentence(text: str, here: Path) -> None:
    (here / "job.toml").write_text(text, encoding="utf-8")

    options = run("plan", "synth", "--schema", "schema.toml", "--config", "job.toml")
    schema = run("plan", "synth", "--schema", "job.toml")

    assert (options.exit_code, schema.exit_code) == (2, 2)
    assert options.stderr.endswith("job.toml is not a readable TOML file of at most 1,048,576 bytes.\n")
    assert schema.stderr.startswith("expost: the schema ")
    assert schema.stderr.count("\n") == 1


def test_a_run_that_fails_after_something_was_spent_says_what_was(here: Path) -> None:
    result = synth("--seed", "1", "--estimator", f"{__name__}.Failing")

    assert result.exit_code == 2
    spent = float(result.stderr.removesuffix(" is spent, as out.journal says.\n").rpartition(" = ")[2])
    assert "fails on values that no synthetic row has" in result.stderr
    assert 0.1 < spent < 0.6
    assert f"ε = {spent:.3f}" in run("audit", "out.journal").stdout
    assert "a journal does not hold a digest" in run("audit", "out.journal", "--pledge", "0" * 64).stderr


def interrupt(*words: object, **settings: object) -> NoReturn:
    """Somebody presses the interrupt key."""
    raise KeyboardInterrupt


def test_an_interrupt_while_files_are_written_says_whether_they_were(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JobResult, "save", interrupt)

    result = synth("--seed", "1")

    assert result.exit_code == 130
    assert "nothing was written, and ε = " in result.stderr
    assert not (here / "out").exists()


@pytest.fixture
def attentive() -> Iterator[None]:
    """A process that hears Ctrl-C, which one that a script has put into the background does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("attentive")
def test_a_signal_that_comes_while_files_are_written_ends_the_run_when_they_are(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = JobResult.save

    def pressed(*words: Any, **settings: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        write(*words, **settings)

    monkeypatch.setattr(JobResult, "save", pressed)

    result = synth("--seed", "1")

    assert result.exit_code == 130
    assert "interrupted; the release is in out, and ε = " in result.stderr
    assert check(kept(here)).matches


@pytest.mark.usefixtures("attentive")
def test_a_second_signal_while_files_are_written_does_not_wait(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*words: Any, **settings: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(JobResult, "save", pressed)

    result = synth("--seed", "1")

    assert result.exit_code == 130
    assert "nothing was written, and ε = " in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("schema", "customers.csv"),
        ("check", "customers.csv", "--schema", "schema.toml"),
        ("plan", "synth", "--schema", "schema.toml", "--target", "renewed"),
    ],
    ids=" ".join,
)
def test_an_interrupt_elsewhere_claims_nothing(
    words: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((owner, "draft"), (owner, "check_table"), (tables, "table_recipe")):
        monkeypatch.setattr(module, name, interrupt)

    result = run(*words)

    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "\nexpost: interrupted.\n")


def test_every_exit_status_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs/data-steward.md").read_text(encoding="utf-8")
    statuses = re.findall(r"^\| ([\d, ]+) \|", page.partition("| exit status |")[2].partition("\n\n")[0], re.MULTILINE)

    signals = [ending.BY_SIGNAL + number for number in ENDINGS]
    others = [ending.REACHED, ending.NOT_SHOWN, ending.REFUSED, ending.NOT_REACHED, ending.FAILED]

    assert sorted(int(each) for each in ",".join(statuses).split(",")) == sorted([*others, *signals])


def test_a_cap_below_the_first_rung_is_refused(here: Path) -> None:
    assert "cap 0.05" in refused(synth("--max-epsilon", "0.05"), here)


def stated(*words: str) -> list[float]:
    """The ε of every rung of a plan, from a run that climbs all of them."""
    result = synth("--seed", "1", "--json", *words, accuracy="0.99")
    return [stop["epsilon"] for stop in json.loads(result.stdout)["plan"]["stops"]]


def test_a_ladder_of_stated_epsilons_ends_where_it_was_asked_to_and_not_above(here: Path) -> None:
    prices = stated("--ladder", "0.2:1.5:4")

    assert len(prices) == 4
    assert 0.1999 <= prices[0] <= 0.2
    assert 1.4999 <= prices[-1] <= 1.5


@pytest.mark.parametrize("words", [("--check", "gaussian"), ("--check", "svt"), ("--check", "public:public.csv")])
def test_a_ladder_of_stated_epsilons_is_kept_under_every_check(words: tuple[str, ...], here: Path) -> None:
    prices = stated("--ladder", "0.3:1.5:3", *words)

    assert prices[0] <= 0.3
    assert prices[-1] <= 1.5


def test_the_word_that_a_ladder_of_stated_epsilons_no_longer_has_is_named(here: Path) -> None:
    assert "write 0.2:1.5:4 instead" in refused(synth("--ladder", "eps:0.2:1.5:4"), here)


def test_the_usual_ladder_is_that_of_python(here: Path) -> None:
    (given,) = (each for each in tables.synth.params if each.name == "ladder")

    typed = tables.ladder_typed(str(given.default), LADDER.alpha)

    assert isinstance(typed, Ladder)
    assert [*map(float, typed.levels)] == [*map(float, LADDER.levels)]


def test_a_check_dearer_than_a_ladder_of_stated_epsilons_is_refused(here: Path) -> None:
    words = ("--ladder", "0.2:1.5:4", "--check", "gaussian", "--check-epsilon", "1")

    refused(synth(*words), here)


def test_a_plan_shows_the_price_of_each_rung(here: Path) -> None:
    result = plan("--ladder", "renyi:0.02:2:3")

    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.output.splitlines() if line[:8].strip().isdigit()] == ["1", "2", "3"]


def noises(*words: str, column: int = 4) -> list[str]:
    """A column of the plan: the noise of the check unless another is named."""
    lines = plan("--ladder", "renyi:0.02:2:3", *words).output.splitlines()
    return [re.split(r" {2,}", line.strip())[column] for line in lines if line[:8].strip().isdigit()]


def test_a_plan_shows_how_noisy_the_check_is_on_each_rung(here: Path) -> None:
    assert [float(each) > 0 for each in noises()] == [True, True, True]
    assert noises("--confidence", "none")[-1] == "not asked"


def test_a_plan_shows_what_passes_on_each_rung(here: Path) -> None:
    guards = [float(each) for each in noises(column=5)]

    assert guards == sorted(guards, reverse=True)
    assert noises("--confidence", "none", column=5)[:2] == ["+0.0", "+0.0"]
    assert all(
        sure > guard for sure, guard in zip(map(float, noises("--confidence", "0.999", column=5)), guards, strict=True)
    )


@pytest.mark.parametrize("level", ["1", "0.4", "nan", "95", "sure", "1/0"])
def test_a_confidence_that_is_none_is_refused_before_the_data_is_opened(level: str, here: Path) -> None:
    assert "no file" not in refused(synth("--confidence", level, source="nowhere.csv"), here)


def test_the_accuracy_that_is_asked_for_changes_the_noise_of_the_check(here: Path) -> None:
    """A record counts for the larger of the accuracy and its complement."""
    half, high = (float(noises("--accuracy", accuracy)[0]) for accuracy in ("0.5", "0.9"))

    assert high / half == pytest.approx(1.8, rel=0.02)


def test_a_plan_shows_the_noise_as_accuracy_where_the_number_of_records_is_public(here: Path) -> None:
    words = ("--records", "1000000", "--accuracy", "0.8")
    fifth, half = (noises(*words, "--validation", share, column=6)[0] for share in ("0.2", "0.5"))

    assert float(fifth) - 0.8 == pytest.approx(float(noises("--accuracy", "0.8", column=5)[0]) / 200000, abs=1e-4)
    assert float(fifth) >= float(half) > 0.8


def test_looks_that_would_be_too_noisy_are_left_out_where_the_number_of_records_is_public(here: Path) -> None:
    assert noises("--records", "1000")[0] == "not asked"
    assert "not asked" not in noises("--records", "1000000")


def test_a_plan_warns_where_not_even_a_perfect_table_could_pass(here: Path) -> None:
    few, many = (("--accuracy", "0.99", "--records", number) for number in ("20", "1000000"))

    assert {*noises(*few, column=6)} <= {"—", "above 1"}
    assert "Nothing passes here but by luck" in plan("--ladder", "renyi:0.02:2:3", *few).output
    assert max(map(float, noises(*many, column=6))) < 1
    assert "by luck" not in plan("--ladder", "renyi:0.02:2:3", *many).output


def test_a_plan_for_a_public_check_has_no_noise(here: Path) -> None:
    assert noises("--check", "public:public.csv") == ["none"] * 3


@pytest.mark.parametrize(
    "words",
    [
        ("synth", "nowhere.csv", "--within", "2%", "--within", "3%"),
        ("synth", "--rows", "8", "nowhere.csv", "--rows=8"),
        ("plan", "synth", "--schema", "a.toml", "--schema", "a.toml"),
        ("demo", "--overwrite", "--overwrite"),
        ("finetune", "nowhere.npz", "--config", "a.toml", "--config", "b.toml"),
        ("plan", "finetune", "--delta", "1e-5", "--delta", "1e-6"),
        ("audit", "receipt.json", "--pledge", "a", "--pledge", "b"),
        ("explain", "--epsilon", "1", "--epsilon", "2", "--delta", "1e-5"),
    ],
    ids=" ".join,
)
def test_an_option_that_is_given_twice_is_refused_by_every_command(words: tuple[str, ...]) -> None:
    result = run(*words)

    assert result.exit_code == 2
    assert re.search(r"Error: --[a-z]+ is given 2 times; give it once\.\n$", result.stderr)


def test_an_option_that_may_be_repeated_is(here: Path) -> None:
    result = run("schema", "customers.csv", "--missing", "?", "--missing", "n/a")

    assert Schema.load(result.stdout).missing_marks == ("?", "n/a")


def test_the_command_line_wins_over_the_file_of_options(here: Path) -> None:
    (here / "job.toml").write_text('target = "region"\naccuracy = 0.99\nladder = "eps:1:2:3"\n', encoding="utf-8")

    result = synth("--config", "job.toml", "--seed", "1")

    assert result.exit_code == 0, result.output
    assert kept(here)["asked"]["threshold"] == "4/5"


def test_one_file_of_options_serves_the_plan_and_the_run(here: Path) -> None:
    (here / "job.toml").write_text('ladder = "renyi:0.02:2:3"\nmax-epsilon = 9\nrecords = 900\n', encoding="utf-8")

    planned = plan("--config", "job.toml")
    result = synth("--config", "job.toml", "--seed", "1")

    assert (planned.exit_code, result.exit_code) == (0, 0), planned.output + result.output
    assert "about 900 records" in said(planned)
    assert kept(here)["cap"] == 9


def test_a_plan_touches_no_data(here: Path) -> None:
    (here / "customers.csv").unlink()
    (here / "public.csv").unlink()

    assert plan().exit_code == 0
    assert [path.name for path in here.iterdir()] == ["schema.toml"]


def detailed(*sizes: int) -> str:
    """A schema of whole numbers with so many values each, beside the target."""
    columns = (Integer(f"c{place}", tuple(range(size)), Missing.FALLBACK) for place, size in enumerate(sizes))
    return Schema((*columns, Boolean("renewed", Missing.FALLBACK)), True, SCHEMA.neighbours).dumps()


def test_a_plan_says_how_much_memory_the_largest_model_takes(here: Path) -> None:
    assert "at most 5 pairs at first; rungs with little noise add more." in said(plan())
    assert "Fitting the model takes at most 1.2 MB of memory." in said(plan())


def test_a_plan_of_one_rung_and_one_pair_speaks_of_one(here: Path) -> None:
    Path("schema.toml").write_text(detailed(3), encoding="utf-8")

    told = said(plan("--ladder", "0.5:0.5:1"))

    assert "at most 1 pair at first;" in told
    assert "One stop is planned." in told
    assert "too few looks are planned to see that answers no longer rise." in told


def test_a_schema_that_does_not_fit_is_refused_by_the_plan_and_before_the_data_is_opened(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(footprint, "memory", lambda: 10**9)
    (here / "schema.toml").write_text(detailed(*[500] * 8), encoding="utf-8")

    for result in (plan(), synth(source="nowhere.csv")):
        assert "of memory, and there is room for 1 GB" in refused(result, here)


def test_a_schema_that_does_not_fit_into_the_memory_that_was_given_is_refused_before_the_data_is_opened(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(footprint, "memory", lambda: 10**12)
    (here / "schema.toml").write_text(detailed(*[500] * 8), encoding="utf-8")

    assert "and there is room for 550 MB" in refused(synth("--memory", "1GB", source="nowhere.csv"), here)
    assert "there is no file nowhere.csv" in refused(synth("--memory", "100GB", source="nowhere.csv"), here)


def test_the_same_schema_is_planned_where_it_fits(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footprint, "memory", lambda: 10**10)
    (here / "schema.toml").write_text(detailed(*[500] * 8), encoding="utf-8")

    assert plan().exit_code == 0


@pytest.mark.parametrize(("size", "told"), [(724, False), (725, True)])
def test_a_plan_and_a_report_say_that_columns_are_measured_with_the_target_only(
    size: int, told: bool, here: Path
) -> None:
    (here / "schema.toml").write_text(detailed(size, size), encoding="utf-8")
    lines = ["c0,c1,renewed", *(f"{place % size},{place % 7},{place % 2}" for place in range(200))]
    (here / "customers.csv").write_text("\n".join(lines), encoding="utf-8")

    planned, made = plan("--ladder", "renyi:0.02:2:3"), synth("--seed", "1", accuracy="0.6")

    assert made.exit_code in {0, 3}, made.output
    page = (here / "out/report.html").read_text(encoding="utf-8")
    for text in (said(planned), page):
        assert ("Each column is measured with renewed only" in text) is told


def test_a_plan_is_made_for_a_draft_too(here: Path) -> None:
    draft = Schema(SCHEMA.columns, False, SCHEMA.neighbours)
    (here / "schema.toml").write_text(draft.dumps(), encoding="utf-8")

    assert plan().exit_code == 0


def test_a_plan_says_when_a_run_ends_early(here: Path) -> None:
    patient = "3 looks together gain less than 1.0 points"

    assert patient in said(plan("--patience", "3", "--min-gain", "0.01"))
    for words in (("--patience", "0"), ("--check", "svt"), ("--check", "public:public.csv")):
        assert "Every rung is climbed until one passes" in said(plan(*words))


@pytest.mark.parametrize("words", [("--patience", "-1"), ("--min-gain", "-0.1"), ("--min-gain", "nan")])
def test_a_patience_that_makes_no_sense_is_refused(words: tuple[str, str], here: Path) -> None:
    refused(synth(*words), here)


def test_a_plan_says_the_prices_that_the_run_then_states(here: Path) -> None:
    planned = plan("--ladder", "renyi:0.02:2:3").output

    synth("--seed", "1")

    assert all(price(stop["epsilon"]) in planned for stop in kept(here)["plan"]["stops"])


def test_a_drafted_schema_is_marked_as_private_and_not_reviewed(here: Path) -> None:
    result = run("schema", "customers.csv")

    assert result.exit_code == 0
    assert "DRAFT, PRIVATE" in result.stdout
    assert not Schema.load(result.stdout).reviewed


def test_why_a_column_is_left_out_is_said_beside_the_draft_and_not_in_it(here: Path) -> None:
    (here / "people.csv").write_text(
        "visit_id;person_id;smokes;day\n1;7;ja;01/02/2020\n2;7;nein;03/04/2021\n", encoding="utf-8"
    )

    result = run("schema", "people.csv")

    assert result.stderr.splitlines() == [
        "PRIVATE, as the draft is; not part of its file:",
        "visit_id is left out: by its name it tells people or rows apart.",
        "person_id: it is proposed as the unit, because it looks like an identifier and several rows have the same "
        "value; confirm that it says whose row it is, or remove that line.",
        'day: if the month comes first, say format = "%m/%d/%Y".',
    ]
    assert "left out" not in result.stdout
    assert Schema.load(result.stdout).names == ("smokes", "day")


def test_a_table_that_cannot_be_read_is_not_drafted(here: Path) -> None:
    refused(run("schema", "nowhere.csv"), here)


def test_a_receipt_that_adds_up_is_audited_with_zero(here: Path) -> None:
    synth("--seed", "1")

    result = run("audit", "out/receipt.json")

    assert result.exit_code == 0, result.output
    assert "lead to what it states" in result.stdout


def test_a_receipt_that_was_changed_is_audited_with_three(here: Path) -> None:
    synth("--seed", "1")
    changed = kept(here)
    changed["statement"]["epsilon"] /= 2
    (here / "out/receipt.json").write_text(json.dumps(changed), encoding="utf-8")

    result = run("audit", "out/receipt.json")

    assert result.exit_code == 3
    assert "its lines lead to" in result.stdout


def test_the_pledge_is_shown_before_the_table_is_read_and_kept_in_the_receipt(here: Path) -> None:
    before = synth("--seed", "1", source="nowhere.csv").stdout
    shown = PLEDGED.match(synth("--seed", "1").stdout)

    assert before.splitlines()[0] == f"pledged: sha256 {kept(here)['pledged']}"
    assert shown is not None
    assert shown[0] == before


def test_as_json_the_pledge_is_shown_beside_the_receipt(here: Path) -> None:
    result = synth("--seed", "1", "--json")

    assert result.stderr.splitlines()[0] == f"pledged: sha256 {json.loads(result.stdout)['pledged']}"


def test_a_receipt_is_compared_with_the_pledge_that_was_shown(here: Path) -> None:
    synth("--seed", "1")
    shown = kept(here)["pledged"]

    assert run("audit", "out/receipt.json", "--pledge", shown).exit_code == 0
    other = run("audit", "out/receipt.json", "--pledge", "0" * 64)
    assert other.exit_code == 3
    assert "not that of the run whose pledge was shown" in other.stdout


@pytest.mark.parametrize("path", ["nowhere.json", "customers.csv", "."])
def test_what_is_no_receipt_is_not_audited(path: str, here: Path) -> None:
    refused(run("audit", path), here)


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", '{"bill": 3}'])
def test_a_file_that_is_json_but_no_receipt_does_not_add_up(text: str, tmp_path: Path) -> None:
    (tmp_path / "receipt.json").write_text(text, encoding="utf-8")

    result = run("audit", str(tmp_path / "receipt.json"))

    assert result.exit_code == 3, result.exception
    assert "not one that expost writes" in result.stdout


def test_the_target_is_that_of_the_schema_unless_another_is_named(here: Path) -> None:
    form = Schema(SCHEMA.columns, True, SCHEMA.neighbours, "plan")
    (here / "schema.toml").write_text(form.dumps(), encoding="utf-8")

    run("synth", "customers.csv", "--schema", "schema.toml", "--accuracy", "0.3", "--out", "out", *SHORT, "--seed", "1")

    assert kept(here)["asked"]["target"] == "plan"


def test_a_job_without_a_target_is_refused(here: Path) -> None:
    words = ("--schema", "schema.toml", "--accuracy", "0.3", "--out", "out", *SHORT)

    assert "target" in refused(run("synth", "customers.csv", *words), here)


def test_a_bound_is_explained() -> None:
    result = run("explain", "--epsilon", "0.39", "--delta", "1e-5")

    assert result.exit_code == 0
    assert "e^ε = 1.48" in result.stdout
    assert "Whether" in result.stdout


def test_the_mu_of_a_run_is_explained_where_one_is_given() -> None:
    plain = run("explain", "--epsilon", "0.39", "--delta", "1e-5")
    known = run("explain", "--epsilon", "0.39", "--delta", "1e-5", "--mu", "0.12")

    assert "μ-Gaussian differential privacy with μ = 0.120" in known.stdout
    assert "find at most 1.37 %" in " ".join(known.stdout.split())
    assert "Gaussian" not in plain.stdout


def test_a_mu_below_zero_is_refused(here: Path) -> None:
    assert "mu is" in refused(run("explain", "--epsilon", "1", "--delta", "1e-5", "--mu", "-0.1"), here)


def test_a_bound_on_what_a_record_says_is_explained_as_such() -> None:
    result = run("explain", "--epsilon", "0.39", "--delta", "1e-5", "--neighbours", "replace-one")

    assert "Somebody guesses what one record says" in result.stdout


@pytest.mark.parametrize(
    ("neighbours", "guessed"),
    [("add-remove", "whether one person is in the data"), ("replace-one", "what the rows of one person say")],
)
def test_a_bound_per_person_is_explained_as_such(neighbours: str, guessed: str) -> None:
    result = run(
        "explain", "--epsilon", "0.39", "--delta", "1e-5", "--neighbours", neighbours, "--unit", "person"
    )  # fmt: skip

    assert f"Somebody guesses {guessed}" in " ".join(result.stdout.split())
    assert "record" not in result.stdout.replace("recorded", "").replace("receipt", "")


@pytest.mark.parametrize(("epsilon", "delta"), [("nan", "1e-5"), ("-1", "1e-5"), ("1", "2"), ("1", "nan")])
def test_a_bound_that_is_none_is_not_explained(epsilon: str, delta: str, here: Path) -> None:
    refused(run("explain", "--epsilon", epsilon, "--delta", delta), here)


def test_the_demo_releases_the_census_table(here: Path) -> None:
    result = run("demo", "--seed", "1", "--accuracy", "0.8", "--out", "out", "--estimator", "model")

    assert result.exit_code == 0, result.output
    assert kept(here)["asked"] == {
        "target": "income",
        "measure": "accuracy",
        "threshold": "4/5",
        "aims": [{"measure": "accuracy", "target": "income", "threshold": "4/5", "positive": None, "crosstabs": []}],
        "confidence": "19/20",
        "looks": 7,
        "check": {
            "name": "balanced check",
            "facts": {"confidence": "19/20", "looks": 7, "sensitivity": 4, "unit": 5},
        },
        "patience": {"looks": 2, "min gain": "1/200"},
    }


def configured(here: Path, text: str, *words: str) -> Result:
    """A release with options from a file."""
    (here / "options.toml").write_text(text, encoding="utf-8")
    return synth("--seed", "1", "--config", "options.toml", *words)


def test_a_file_sets_options(here: Path) -> None:
    configured(here, 'delta = 1e-6\nrows = 50\ncheck = "svt"\n')

    assert kept(here)["statement"]["delta"] == 1e-6
    assert kept(here)["rows"] == 50


def test_an_option_with_two_words_is_spelled_as_on_the_command_line(here: Path) -> None:
    result = configured(here, "max-epsilon = 0.05\n")

    assert "cap 0.05" in result.stderr


def test_the_command_line_wins_over_the_file(here: Path) -> None:
    configured(here, "rows = 50\n", "--rows", "60")

    assert kept(here)["rows"] == 60


def test_every_option_of_the_command_may_be_in_the_file(here: Path) -> None:
    result = configured(here, 'format = "parquet"\njson = true\n')

    assert result.exit_code == 0, result.output
    assert (here / "out/synthetic.parquet").exists()
    assert json.loads(result.stdout) == kept(here)


@pytest.mark.parametrize("text", ["epsilon = 1\n", "[synth]\nrows = 3\n", "rows = \n", 'rows = "many"\n'])
def test_a_file_with_an_unknown_key_or_a_slip_is_refused(text: str, here: Path) -> None:
    result = configured(here, text)

    assert result.exit_code == 2
    assert "options.toml" in result.stderr or "rows" in result.stderr
    assert not (here / "out").exists()


def test_a_file_that_is_not_there_is_refused(here: Path) -> None:
    assert synth("--config", "none.toml").exit_code == 2


COMMANDS = ("ask", "demo", "synth", "finetune", "plan", "schema", "check", "explain", "audit", "ledger")


@pytest.mark.parametrize("words", [(), *((command,) for command in COMMANDS)])
def test_help_is_at_hand(words: tuple[str, ...]) -> None:
    result = run(*words, "--help")

    assert result.exit_code == 0
    assert result.output.startswith("Usage:")


def test_the_help_names_every_command() -> None:
    assert set(main.commands) == set(COMMANDS)
    assert all(command in run("--help").output for command in COMMANDS)


def test_the_version_is_that_of_the_package() -> None:
    assert "0.1.0" in run("--version").output


def test_the_example_has_a_column_that_no_release_may_show(here: Path) -> None:
    synth("--seed", "1")

    assert "undeclared" in records()
    assert "undeclared" not in (here / "out/synthetic.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [(), ("plan",), ("ledger",)])
def test_no_line_of_a_list_of_commands_is_cut_off(words: tuple[str, ...]) -> None:
    assert "..." not in run(*words, "--help").output.partition("Commands:")[2]
