"""The job from end to end: any table in, the same kind of table out, with its bill; refusals before data is opened."""

import json
import math
from collections.abc import Callable
from csv import DictReader
from datetime import UTC, date, datetime
from fractions import Fraction
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import Plan
from expost.bill import spent_so_far
from expost.datasets import adult
from expost.errors import BudgetExceeded, ExpostError, InvalidValue, SchemaMismatch, Unreadable
from expost.jobs import audit as check
from expost.jobs.job import Result
from expost.jobs.synthesis.recipe import LADDER as USUAL
from expost.jobs.synthesis.recipe import TableRecipe, plan_synthesis
from expost.judge import Balanced, Budgeted, Judge, OnPublic, SparseVector
from expost.ladder import Ladder
from expost.ledger import MemoryLedger
from expost.noise import Floats, SeededNoise, SystemNoise
from expost.receipts.receipt import receipt
from expost.report.answers import Reading
from expost.report.digits import points, price
from expost.report.page import render
from expost.report.reading import noise_of_an_answer, reading
from expost.report.words import conclusion
from expost.search import Ended
from expost.tabular.aims import Aim
from expost.tabular.schema.binned import Dates, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Conditional, Sklearn
from expost.tabular.source.frames import Format
from expost.tabular.table import Kind, Table
from tests.unit.examples import ADD, budget, one_sentence
from tests.unit.jobs.synthesis.customers import LADDER, SCHEMA, csv, made, records
from tests.unit.report.examples import customers, table

pd, pl, pa = import_module("pandas"), import_module("polars"), import_module("pyarrow")

PAPER = 0.616
"""The ε that the accuracy-first experiments on Adult were stated at."""


def parquet(folder: Path) -> Path:
    """The records as another file."""
    pl.DataFrame(records()).write_parquet(folder / "customers.parquet")
    return folder / "customers.parquet"


def refused(table: object, **changes: Any) -> ExpostError:
    """Why the job was not done; one sentence."""
    with pytest.raises(ExpostError) as refusal:
        made(table, **changes)
    assert one_sentence(refusal.value)
    return refusal.value


SOURCES: dict[str, tuple[Callable[[Path], object], Kind]] = {
    "csv": (csv, Kind.DUCKDB),
    "csv as text": (lambda folder: str(csv(folder)), Kind.DUCKDB),
    "parquet": (parquet, Kind.DUCKDB),
    "duckdb query": (lambda folder: f"duckdb:SELECT * FROM '{parquet(folder)}'", Kind.DUCKDB),
    "duckdb relation": (lambda folder: duckdb.read_parquet(str(parquet(folder))), Kind.DUCKDB),
    "pandas": (lambda folder: pd.DataFrame(records()), Kind.PANDAS),
    "polars": (lambda folder: pl.DataFrame(records()), Kind.POLARS),
    "lazy polars": (lambda folder: pl.LazyFrame(records()), Kind.POLARS),
    "pyarrow": (lambda folder: pa.table(records()), Kind.PYARROW),
    "coded": (lambda folder: customers(SCHEMA, 900), Kind.DUCKDB),
}
NATIVE = {
    # Not among a test's parameters: pytest keeps those until Python ends, and DuckDB then reports leaks.
    Kind.DUCKDB: duckdb.DuckDBPyRelation,
    Kind.PANDAS: pd.DataFrame,
    Kind.POLARS: pl.DataFrame,
    Kind.PYARROW: pa.Table,
}


def names(frame: Any) -> list[str]:
    """The columns of any kind of frame."""
    return list(getattr(frame, "column_names", None) or frame.columns)


@pytest.fixture(scope="module")
def by_kind(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result[Any]]:
    """The job done once from each kind of table."""
    return {name: made(source(tmp_path_factory.mktemp("kind"))) for name, (source, _) in SOURCES.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_the_synthetic_table_is_of_the_kind_that_came_in(name: str, by_kind: dict[str, Result[Any]]) -> None:
    assert isinstance(by_kind[name].release.value, NATIVE[SOURCES[name][1]])


@pytest.mark.parametrize("name", SOURCES)
def test_the_synthetic_table_has_the_columns_of_the_schema(name: str, by_kind: dict[str, Result[Any]]) -> None:
    assert names(by_kind[name].release.value) == list(SCHEMA.names)


def test_every_kind_of_table_leads_to_the_same_release(by_kind: dict[str, Result[Any]]) -> None:
    assert len({(done.epsilon, len(done.history), table(done.facts).rows) for done in by_kind.values()}) == 1


def test_a_seed_repeats_the_synthetic_table() -> None:
    first, second = (made(pl.DataFrame(records())).release.value for _ in range(2))

    assert first.equals(second)


def test_another_seed_makes_another_synthetic_table() -> None:
    first, second = (made(pl.DataFrame(records()), noise=SeededNoise(seed)).release.value for seed in (1, 2))

    assert not first.equals(second)


def test_the_usual_classifier_learns_from_the_synthetic_table_and_passes() -> None:
    done = made(customers(SCHEMA, 3000), learner=None)

    assert done.passed


def test_as_many_rows_are_drawn_as_were_asked() -> None:
    assert len(made(pl.DataFrame(records()), rows=17).release.value) == 17


def test_without_a_number_about_as_many_rows_are_drawn_as_there_are_records() -> None:
    """The noise in the counts of a column has a standard error below 60 at the first rung."""
    assert abs(len(made(pl.DataFrame(records(3000))).release.value) - 3000) < 600


def test_an_accuracy_in_reach_ends_the_climb() -> None:
    done = made(customers(SCHEMA))

    assert (done.passed, done.ended) == (True, Ended.HALTED)


def test_an_accuracy_out_of_reach_keeps_the_last_release_and_says_that_it_did_not_pass() -> None:
    done = made(customers(SCHEMA), accuracy=0.99)

    assert (done.passed, done.ended) == (False, Ended.EXHAUSTED)
    assert len(done.history) == len(LADDER.levels)
    assert "NOT CONFIRMED" in render(done.facts)


def test_the_stated_epsilon_is_that_of_the_planned_stop() -> None:
    done = made(customers(SCHEMA))

    assert done.epsilon == done.facts.stops[len(done.history) - 1].epsilon


def test_the_release_carries_the_bill_of_the_whole_run() -> None:
    ledger = MemoryLedger()

    done = made(customers(SCHEMA), ledger=ledger)

    assert done.release.spent == done.facts.spent == done.history[-1].line.spent
    assert spent_so_far(ledger) == done.epsilon


def test_a_rehearsal_is_called_not_private() -> None:
    done = made(customers(SCHEMA))

    assert done.release.seeded
    assert "NOT PRIVATE" in done._repr_html_()
    assert receipt(done.facts)["seeded"] is True


def test_system_noise_makes_a_private_release() -> None:
    done = made(customers(SCHEMA), noise=SystemNoise())

    assert not done.release.seeded


def test_noise_is_the_systems_unless_another_is_given() -> None:
    assert not made(customers(SCHEMA), noise=None).release.seeded


def test_each_rung_is_told_as_it_is_done() -> None:
    seen: list[Reading] = []

    done = made(customers(SCHEMA), on_step=seen.append)

    assert [each.line for each in seen] == [each.line for each in done.history]
    assert [each.epsilon for each in seen] == [each.epsilon for each in done.history]


def test_what_is_being_done_is_told() -> None:
    seen: list[str] = []

    made(customers(SCHEMA), on_progress=seen.append)

    assert seen[0] == "selecting columns to measure together"
    assert "fitting the model" in seen


CHECKS: dict[str, Judge] = {
    "balanced": Balanced(),
    "gaussian": Budgeted(0.01),
    "sparse vector": SparseVector(0.01),
    "public": OnPublic(pl.DataFrame(records(300))),
}


@pytest.mark.parametrize("maker", CHECKS.values(), ids=CHECKS)
def test_every_check_leads_to_a_receipt_that_adds_up(maker: Judge) -> None:
    done = made(customers(SCHEMA), check=maker)

    audit = check(json.loads(json.dumps(receipt(done.facts))))

    assert audit.matches, str(audit)
    assert audit.epsilon == pytest.approx(done.epsilon)


def test_a_public_check_looks_at_no_private_record() -> None:
    done = made(customers(SCHEMA), check=CHECKS["public"])

    assert {item.entry.part for item in done.facts.bill} == {"data"}


def test_a_public_check_judges_the_last_rung_too() -> None:
    done = made(customers(SCHEMA), accuracy=0.99, check=CHECKS["public"])

    assert done.history[-1].passed is False


@pytest.mark.parametrize("cap", [0.25, 0.5, 1.0])
def test_the_stated_epsilon_stays_within_the_cap(cap: float) -> None:
    done = made(customers(SCHEMA), accuracy=0.99, max_epsilon=cap)

    assert done.epsilon <= cap
    assert done.ended is Ended.CAPPED


@pytest.mark.parametrize("cap", [0.25, 0.5, 1.0])
def test_a_run_that_a_cap_ended_says_so_and_what_the_next_rung_would_have_cost(cap: float) -> None:
    done = made(customers(SCHEMA), accuracy=0.99, max_epsilon=cap)

    told = conclusion(done.facts)

    following = done.facts.stops[len(done.history)].epsilon
    assert following > cap
    assert f"the cap of ε = {cap:g} left no room for rung {len(done.history) + 1}" in told
    assert f"would have cost ε = {price(following)}" in told


def test_a_check_that_says_yes_or_no_is_told_with_its_noise() -> None:
    """The noise is in records: of a tenth as many held out it is ten times the share."""
    few, many = (made(customers(SCHEMA, count), check=CHECKS["sparse vector"]).facts for count in (1000, 10000))

    fewer, more = noise_of_an_answer(few), noise_of_an_answer(many)
    assert fewer is not None and more is not None
    assert fewer == pytest.approx(10 * more, rel=0.4)
    assert f"The standard error of its answer is {points(fewer)}." in reading(few)


@pytest.mark.parametrize("kind", ["balanced", "gaussian", "public"])
def test_other_checks_have_no_noise_of_that_kind(kind: str) -> None:
    assert noise_of_an_answer(made(customers(SCHEMA), check=CHECKS[kind]).facts) is None


def test_a_run_under_a_public_check_speaks_of_no_records_held_out() -> None:
    private, public = (render(made(customers(SCHEMA), check=CHECKS[kind]).facts) for kind in ("balanced", "public"))

    assert "Every look at the held-out records is included." in private
    assert "split into two parts" in private
    for words in ("held-out", "held out for", "split into two parts", "Of the two parts of the split"):
        assert words not in public
    assert "The check read public records only" in public


def test_without_a_cap_the_same_run_would_cost_more() -> None:
    assert made(customers(SCHEMA), accuracy=0.99).epsilon > 1


def test_a_cap_below_the_first_rung_is_refused() -> None:
    assert isinstance(refused(customers(SCHEMA), max_epsilon=0.01), BudgetExceeded)


@pytest.mark.parametrize("cap", [0, -1, math.nan, math.inf])
def test_a_cap_that_is_none_is_refused_before_the_data_is_opened(cap: float) -> None:
    assert "cap" in str(refused("nowhere.csv", max_epsilon=cap))


@pytest.mark.parametrize("accuracy", [0, 1, 1.2, -0.5, math.nan, math.inf])
def test_an_absurd_accuracy_is_refused_before_the_data_is_opened(accuracy: float) -> None:
    refusal = refused("nowhere.csv", accuracy=accuracy)

    assert isinstance(refusal, InvalidValue)
    assert "no file" not in str(refusal)


ABSURD: dict[str, dict[str, Any]] = {
    "a target that is no column": {"target": "income"},
    "no target": {"target": ""},
    "nothing held out": {"validation": 0},
    "everything held out": {"validation": 1},
    "a share that is no number": {"validation": math.nan},
    "δ of zero": {"delta": 0.0},
    "δ that is no number": {"delta": math.nan},
    "no rows": {"rows": 0},
    "another order": {"query": budget(0.01, 10)},
    "a column with nothing to predict from": {"schema": Schema((Boolean("renewed", Missing.FALLBACK),), True, ADD)},
}


@pytest.mark.parametrize("changes", ABSURD.values(), ids=ABSURD)
def test_an_absurd_setting_is_refused_before_the_data_is_opened(changes: dict[str, Any]) -> None:
    assert "no file" not in str(refused("nowhere.csv", **changes))


def test_the_data_would_be_missed_if_it_were_opened() -> None:
    assert "no file" in str(refused("nowhere.csv"))


def test_a_draft_is_refused_until_it_is_reviewed(tmp_path: Path) -> None:
    draft = Schema(SCHEMA.columns, False, ADD)

    assert "reviewed = true" in str(refused(csv(tmp_path), schema=draft))


def test_a_schema_with_a_column_that_the_table_lacks_is_refused(tmp_path: Path) -> None:
    wider = Schema((*SCHEMA.columns, Boolean("married", Missing.FALLBACK)), True, ADD)

    assert "married" in str(refused(csv(tmp_path), schema=wider))


def test_a_coded_table_of_another_schema_is_refused_before_anything_is_spent() -> None:
    other, ledger = Schema((Boolean("region", Missing.FALLBACK), *SCHEMA.columns[1:]), True, ADD), MemoryLedger()

    refusal = refused(customers(SCHEMA), schema=other, ledger=ledger)

    assert isinstance(refusal, SchemaMismatch)
    assert (ledger.lines, ledger.held) == ((), ())


def test_a_table_coded_under_a_draft_is_refused() -> None:
    draft = Schema(SCHEMA.columns, False, ADD)
    coded = Table(draft, customers(SCHEMA, 300).columns)

    assert isinstance(refused(coded, schema=draft), SchemaMismatch)


def test_an_empty_record_has_spent_nothing() -> None:
    assert spent_so_far(MemoryLedger()) == AdpEpsilon(0)


def test_a_run_that_was_pledged_and_never_begun_has_spent_nothing() -> None:
    ledger = MemoryLedger()
    refused("nowhere.csv", ledger=ledger)

    assert spent_so_far(ledger) == AdpEpsilon(0)


def test_what_was_spent_is_known_after_an_interrupt() -> None:
    ledger = MemoryLedger()

    def interrupt(text: str) -> None:
        if text == "fitting the model":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(customers(SCHEMA), ledger=ledger, on_progress=interrupt)

    assert 0 < spent_so_far(ledger) <= made(customers(SCHEMA), accuracy=0.99).history[0].epsilon


FILES = {"synthetic.csv", "counts.csv", "schema.toml", "report.html", "receipt.json"}
COUNT = 400
COIN = [place % 2 == 0 for place in range(COUNT)]
MANY = tuple(f"v{place}" for place in range(200))
WIDE = (-math.inf, -1e300, 0.0, 1e-300, 1e300, math.inf)
ABSENT: tuple[Column, ...] = (
    Categorical("a", ("u", "v"), missing=Missing.CATEGORY),
    Integer("b", (1, 2), Missing.CATEGORY),
    Dates("c", (date(2020, 1, 1), date(2021, 1, 1)), Closed.LEFT, Missing.CATEGORY),
    Boolean("d", Missing.CATEGORY),
)
ODD: dict[str, tuple[dict[str, list[Any]], tuple[Column, ...]]] = {
    "columns without a value": (dict.fromkeys("abcd", [None] * COUNT), ABSENT),
    "a record that lacks each": ({"a": [None] * COUNT}, (Categorical("a", ("u", "v"), missing=Missing.DROP),)),
    "a single value": ({"a": ["u"] * COUNT}, (Categorical("a", ("u",), missing=Missing.FALLBACK),)),
    "a value that is never seen": (
        {"a": ["u"] * COUNT},
        (Categorical("a", ("v", "w", "x"), missing=Missing.FALLBACK),),
    ),
    "two hundred categories": (
        {"a": [MANY[place % 200] for place in range(COUNT)]},
        (Categorical("a", MANY, missing=Missing.FALLBACK),),
    ),
    "numbers of all sizes": (
        {"a": [(-1) ** place * 10.0 ** (place - 200) for place in range(COUNT)]},
        (Numeric("a", WIDE, Closed.LEFT, Missing.FALLBACK),),
    ),
    "sixty columns": (
        {f"c{i}": [place * i % 3 for place in range(COUNT)] for i in range(60)},
        tuple(Integer(f"c{i}", (0, 1, 2), Missing.FALLBACK) for i in range(60)),
    ),
}
each_odd = pytest.mark.parametrize(("columns", "declared"), ODD.values(), ids=ODD)
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@each_odd
def test_an_odd_table_becomes_a_synthetic_one_with_a_report_and_a_receipt(
    columns: dict[str, list[Any]], declared: tuple[Column, ...], tmp_path: Path
) -> None:
    form = Schema((*declared, Boolean("y", Missing.FALLBACK)), True, ADD)

    done = made(pl.DataFrame({**columns, "y": COIN}), schema=form, target="y")
    done.save(tmp_path / "out")

    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert check(json.loads((tmp_path / "out/receipt.json").read_text(encoding="utf-8"))).matches


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_columns_without_a_value_come_back_in_every_kind_of_frame(frame: Callable[[object], object]) -> None:
    form = Schema((*ABSENT, Boolean("y", Missing.FALLBACK)), True, ADD)

    done = made(frame({**dict.fromkeys("abcd", [None] * COUNT), "y": COIN}), schema=form, target="y")

    assert names(done.release.value) == list("abcdy")


def test_a_target_with_a_single_value_is_always_predicted() -> None:
    form = Schema(
        (Categorical("a", ("u", "v"), missing=Missing.FALLBACK), Categorical("y", ("k",), missing=Missing.FALLBACK)),
        True,
        ADD,
    )

    assert made(pl.DataFrame({"a": ["u"] * COUNT, "y": ["k"] * COUNT}), schema=form, target="y").passed


@pytest.mark.parametrize(
    "learner", [Conditional(), Sklearn("sklearn.tree.DecisionTreeClassifier")], ids=["model", "tree"]
)
@pytest.mark.parametrize("seed", range(3))
def test_one_record_is_a_table_whichever_part_it_falls_in(seed: int, learner: Any) -> None:
    form = Schema((Categorical("a", ("u", "v"), missing=Missing.FALLBACK), Boolean("y", Missing.FALLBACK)), True, ADD)

    done = made(
        pl.DataFrame({"a": ["u"], "y": [True]}), schema=form, target="y", learner=learner, noise=SeededNoise(seed)
    )

    assert len(done.release.value) >= 1


def test_a_table_without_rows_is_refused() -> None:
    assert "no rows" in str(refused(pl.DataFrame({name: [] for name in SCHEMA.names})))


def test_any_number_of_rungs_and_any_noise_can_be_drawn_in_a_report() -> None:
    """The span of the axes has every leading digit over these accuracies and ladders."""
    for accuracy in (0.03, 0.9, 0.97):
        for top in (1, 4, 8, 16):
            ladder = Ladder.geometric(Fraction(1, 100), top, 2, alpha=20)
            assert render(made(customers(SCHEMA, 300), accuracy=accuracy, ladder=ladder).facts)


@pytest.mark.parametrize("chosen", Format)
def test_a_run_is_saved_with_its_counts_and_its_schema(chosen: Format, tmp_path: Path) -> None:
    made(customers(SCHEMA)).save(tmp_path / "a/b", format=chosen.value)

    found = {path.name for path in (tmp_path / "a/b").iterdir()}
    assert found == {f"synthetic.{chosen.value}", "counts.csv", "schema.toml", "report.html", "receipt.json"}
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_the_counts_are_those_that_were_released_with_their_noise(tmp_path: Path) -> None:
    """12 pairs of values and 11 of one column; each within 7 standard errors of the truth, but for 1e-10."""
    done = made(customers(SCHEMA), accuracy=0.99)
    done.save(tmp_path / "out")
    rows = list(DictReader((tmp_path / "out/counts.csv").read_text(encoding="utf-8").splitlines()))

    renewed = [row for row in rows if (row["column 1"], row["column 2"]) == ("renewed", "")]
    pairs = {(row["column 1"], row["column 2"]) for row in rows if row["column 2"]}
    assert [row["value 1"] for row in renewed] == ["false", "true"]
    job = table(done.facts)
    assert pairs == {*job.measured, *(clique for added in job.grown for clique in added)}
    told = {row["column 1"]: 0.0 for row in rows if not row["column 2"]}
    for row in rows:
        if not row["column 2"]:
            told[row["column 1"]] += float(row["count"])
    assert set(told) == set(SCHEMA.names)
    assert all(abs(total - 2400) < 7 * (20 + 2 * float(renewed[0]["std"])) for total in told.values())
    assert float(rows[-1]["std"]) < float(rows[0]["std"]), "pairs are refined, columns alone are not"


def test_the_schema_in_the_folder_is_the_one_that_the_receipt_names(tmp_path: Path) -> None:
    done = made(customers(SCHEMA))
    done.save(tmp_path / "out")
    written = (tmp_path / "out/schema.toml").read_bytes()

    digest = sha256(written).hexdigest()

    assert Schema.load(written.decode()) == SCHEMA
    assert json.loads((tmp_path / "out/receipt.json").read_text(encoding="utf-8"))["schema"]["sha256"] == digest
    assert digest in (tmp_path / "out/report.html").read_text(encoding="utf-8")


def test_a_report_is_known_by_its_title_its_date_and_what_was_pledged(tmp_path: Path) -> None:
    done = made(customers(SCHEMA), noise=SystemNoise(), title="Renewals of 2025")
    done.save(tmp_path / "out")
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")

    assert "<h1>Renewals of 2025</h1>" in page
    assert done.facts.date in page
    assert date.fromisoformat(done.facts.date) <= datetime.now(UTC).date()
    assert str(receipt(done.facts)["pledged"]) in page


def test_without_a_title_the_report_names_the_target_and_not_the_file(tmp_path: Path) -> None:
    assert made(csv(tmp_path)).facts.title == "Synthetic table for renewed"


def test_a_rehearsal_has_no_date_so_that_it_repeats_itself() -> None:
    first, second = (made(customers(SCHEMA)) for _ in range(2))

    assert first.facts.date == ""
    assert render(first.facts) == render(second.facts)


def test_a_folder_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()

    with pytest.raises(InvalidValue):
        made(customers(SCHEMA)).save(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def demo() -> Plan:
    """What the demo plans."""
    return plan_synthesis(
        TableRecipe(schema=adult.adult_schema(), aims=(Aim.accuracy("income", 0.825),), learner=Conditional())
    )


def test_the_first_rung_of_the_demo_is_stated_at_a_third_of_the_papers_epsilon() -> None:
    plan = demo()

    assert plan.pledge.epsilon(plan.stops[0]) < PAPER / 3


def test_the_whole_ladder_of_the_demo_would_be_stated_at_more() -> None:
    plan = demo()

    assert plan.pledge.epsilon(plan.stops[-1]) > PAPER
    assert len(plan.stops) == len(USUAL.levels)


def test_a_public_check_reads_its_table_at_once(tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        made(customers(SCHEMA), check=OnPublic(tmp_path / "none.csv"))


def test_a_score_of_the_callers_own_is_called_a_mean_score() -> None:
    done = made(customers(SCHEMA), score=lambda candidate, table: np.ones(len(table)))

    assert (done.passed, done.facts.measure) == (True, "mean score")


def constant(value: float) -> Callable[[Candidate, Table], Floats]:
    """A score that is the same for every record."""
    return lambda candidate, records: np.full(len(records), value)


def test_records_that_score_nine_tenths_reach_a_mean_score_of_a_half() -> None:
    done = made(customers(SCHEMA), score=constant(0.9), accuracy=0.5)

    assert done.passed
    assert done.history[0].accuracy == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize(("score", "passed"), [(0.8, True), (0.799, False)])
def test_a_mean_score_is_told_to_the_thousandth(score: float, passed: bool) -> None:
    done = made(customers(SCHEMA), score=constant(score), check=OnPublic(pl.DataFrame(records(90))))

    assert done.passed is passed


def test_a_target_too_fine_for_scores_in_thousandths_is_refused_beforehand() -> None:
    assert "round it" in str(refused(customers(SCHEMA), score=constant(0.9), accuracy=0.1234567))
    assert made(customers(SCHEMA), accuracy=0.1234567).passed


@pytest.mark.parametrize("score", [0.9, 0.1])
def test_a_mean_score_is_never_called_an_accuracy(score: float) -> None:
    facts = made(customers(SCHEMA), score=constant(score), accuracy=0.5).facts

    for told in (conclusion(facts), render(facts)):
        plainly = told.replace("\N{NO-BREAK SPACE}", " ")
        said = "mean score on those records is at least 50 %" if score > 0.5 else "mean score of 50 %"
        assert said in plainly
        assert "accuracy" not in told


def test_a_run_that_added_pairs_lists_them_and_its_receipt_adds_up() -> None:
    run = made(pl.DataFrame(records()), accuracy=0.99, ladder=Ladder.of([1, 100], alpha=20))

    found: dict[str, Any] = json.loads(json.dumps(receipt(run.facts)))

    audit = check(found)
    assert audit.matches, str(audit)
    before, added = found["grown"]
    assert (before, len(added)) == ([], 1)
    assert added[0] not in found["measured"]
    assert "1 pair that fitted badly was counted as well" in render(run.facts)


def test_a_run_that_added_triples_lists_them_and_its_receipt_adds_up() -> None:
    run = made(pl.DataFrame(records()), accuracy=0.99, ladder=Ladder.of([1, 4000], alpha=20))

    found: dict[str, Any] = json.loads(json.dumps(receipt(run.facts)))

    audit = check(found)
    assert audit.matches, str(audit)
    pair, *triples = found["grown"][1]
    assert (len(pair), {*map(len, triples)}) == (2, {3})
    assert f"{len(triples)} triples were counted once noise in the pairs was small" in render(run.facts)
    assert all(" × ".join(each) in render(run.facts) for each in triples)


def test_a_run_that_added_nothing_says_why() -> None:
    run = made(pl.DataFrame(records()), accuracy=0.99, ladder=Ladder.of([Fraction(1, 100)], alpha=20))

    assert receipt(run.facts)["grown"] == [[]]
    assert "none was worth the noise that it would have brought" in render(run.facts)
