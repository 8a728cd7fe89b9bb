"""Rules of a schema are kept by every synthetic row, cost nothing, and are told; who breaks them is not."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expost.errors import SchemaMismatch
from expost.jobs.job import Result
from expost.jobs.synthesis.recipe import TableRecipe, plan_synthesis
from expost.jobs.synthesis.report import table_commitment
from expost.ladder import Ladder
from expost.noise import SeededNoise
from expost.receipts.receipt import receipt
from expost.report.page import render
from expost.tabular.aims import Aim
from expost.tabular.model import footprint
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional, Learner, Sklearn
from expost.tabular.table import Table
from tests.unit.commands import Receipt, refused, run
from tests.unit.examples import one_sentence
from tests.unit.jobs.synthesis.customers import LADDER, SCHEMA, csv, made
from tests.unit.report.examples import customers, table

RULES = (
    "region = north implies plan = basic",
    "never age < 20 and renewed = yes",
    "never age >= 60 and region in (south, west) and plan = full",
)
"""Of the records that the tests share, a third breaks the first rule."""
RULED = replace(SCHEMA, rules=RULES)
COLUMNS = [SCHEMA[name] for name in SCHEMA.names]


def keeping(form: Schema, count: int = 3000) -> Table:
    """Records that keep the rules: those that break one are left out."""
    whole = customers(form, count)
    kept = np.logical_and.reduce(
        [rule.allowed[tuple(whole.codes(n) for n in rule.columns)] for rule in RULED.constraints]
    )
    return whole[kept]


def broken(done: Result[Any] | Table) -> list[int]:
    """How many rows of a table break each rule."""
    found = done if isinstance(done, Table) else synthetic(done)
    return [int((~rule.allowed[tuple(found.codes(n) for n in rule.columns)]).sum()) for rule in RULED.constraints]


def synthetic(done: Result[Any]) -> Table:
    """The synthetic rows as codes, read as anybody would read them."""
    rows = done.release.value.fetchnumpy()
    return Table(RULED, {each.name: each.encode([str(cell) for cell in rows[each.name].tolist()]) for each in COLUMNS})


@pytest.mark.parametrize(("seed", "learner"), [(1, Conditional()), (2, Conditional()), (3, Sklearn())])
def test_no_synthetic_row_breaks_a_rule_whatever_the_records_do(seed: int, learner: Learner) -> None:
    done = made(customers(RULED), schema=RULED, learner=learner, noise=SeededNoise(seed), rows=20_000)

    assert broken(customers(RULED))[0] > 400
    assert broken(done) == [0, 0, 0]


def test_without_the_rules_rows_break_them_even_where_no_record_does() -> None:
    done = made(keeping(SCHEMA), schema=SCHEMA, rows=20_000, accuracy=0.6)

    assert broken(keeping(SCHEMA)) == [0, 0, 0]
    assert sum(broken(done)) > 200


def test_a_model_too_large_for_all_pairs_keeps_the_rules_by_raking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footprint, "GROWN_CELLS", 1)
    tall = Ladder.geometric(1, 50, 2, alpha=20)

    done = made(customers(RULED), schema=RULED, rows=20_000, accuracy=0.99, ladder=tall)

    assert broken(done) == [0, 0, 0]


def recipe(form: Schema) -> TableRecipe:
    return TableRecipe(schema=form, aims=(Aim.accuracy("renewed", 0.8),), ladder=LADDER, learner=Conditional())


def test_rules_change_no_price_and_nothing_that_is_pledged() -> None:
    ruled, plain = (recipe(form) for form in (RULED, SCHEMA))

    assert ruled.selection.cost == plain.selection.cost
    assert plan_synthesis(ruled).stops == plan_synthesis(plain).stops
    assert ruled.looks() == plain.looks()
    digests = {table_commitment(each, plan_synthesis(each), cap=None).digest for each in (ruled, plain)}
    assert len(digests) == 1


def told(form: Schema) -> Receipt:
    """The receipt of a run in which all rungs are climbed, since nothing reaches what is asked."""
    found: Receipt = json.loads(json.dumps(receipt(made(customers(form), schema=form, accuracy=0.99).facts)))
    return found


def test_a_receipt_of_rules_differs_by_the_digest_of_the_schema_and_what_was_drawn() -> None:
    ruled, plain = (told(form) for form in (RULED, SCHEMA))

    assert ruled.keys() == plain.keys()
    assert ruled["bill"] == plain["bill"]
    assert ruled["statement"] == plain["statement"]
    assert [line["curve"] for line in ruled["history"]] == [line["curve"] for line in plain["history"]]
    assert ruled["schema"]["sha256"] != plain["schema"]["sha256"]
    assert ruled["schema"] | {"sha256": ""} == plain["schema"] | {"sha256": ""}


def test_the_report_lists_the_rules_and_says_that_every_row_keeps_them() -> None:
    page = render(made(customers(RULED), schema=RULED).facts)

    assert "Every synthetic row keeps these rules" in page
    assert "<li>never age &lt; 20 and renewed = yes</li>" in page
    assert table(made(customers(RULED), schema=RULED).facts).rules == RULES
    assert "these rules" not in render(made(customers(SCHEMA)).facts)


IMPOSSIBLE = replace(SCHEMA, rules=("never age < 40", "plan in (basic, full) implies age < 20"))


def test_rules_that_contradict_each_other_are_refused_before_the_table_is_opened() -> None:
    with pytest.raises(SchemaMismatch, match="leaves no possible value together with the rules before it") as refusal:
        made("nowhere.csv", schema=IMPOSSIBLE)

    assert one_sentence(refusal.value)


def two_way(form: Schema, seed: int) -> float:
    """The mean total variation over all pairs of columns between records that keep the rules and a synthetic table."""
    data = keeping(form)
    rows = synthetic(made(data, schema=form, accuracy=0.99, noise=SeededNoise(seed), rows=20_000))
    far = []
    for left, right in combinations(form.names, 2):
        cells = [each.codes(left).astype(int) * 10 + each.codes(right) for each in (data, rows)]
        shares = [np.bincount(each, minlength=50) / len(each) for each in cells]
        far.append(float(np.abs(shares[0] - shares[1]).sum() / 2))
    return float(np.mean(far))


def test_tables_are_no_worse_for_rules_that_the_records_keep() -> None:
    """Over ten seeds, by the mean two-way error, as far as that can be told from noise."""
    worse = np.array([two_way(RULED, seed) - two_way(SCHEMA, seed) for seed in range(10)])

    assert worse.mean() <= 3 * worse.std() / np.sqrt(len(worse))


def test_the_command_line_takes_a_schema_with_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    csv(tmp_path, 3000)
    (tmp_path / "schema.toml").write_text(RULED.dumps(), encoding="utf-8")
    usual = ("--schema", "schema.toml", "--target", "renewed", "--ladder", "renyi:0.02:2:3")

    planned = run("plan", "synth", *usual, "--accuracy", "0.8")
    done = run(
        "synth", "customers.csv", *usual, "--accuracy", "0.8", "--out", "out", "--estimator", "model", "--seed", "1"
    )
    again = run("check", "out/synthetic.csv", "--schema", "out/schema.toml")

    assert "Every synthetic row keeps the 3 rules of the schema." in planned.output
    assert done.exit_code in {0, 3}, done.output
    assert Schema.load(tmp_path / "out/schema.toml") == RULED
    assert again.output.count("none of the records break it") == 3
    assert run("audit", "out/receipt.json").exit_code == 0


def test_the_command_line_refuses_rules_that_contradict_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("customers.csv", "public.csv"):
        (tmp_path / name).write_text("never read", encoding="utf-8")
    (tmp_path / "schema.toml").write_text(IMPOSSIBLE.dumps(), encoding="utf-8")
    usual = ("--schema", "schema.toml", "--target", "renewed", "--accuracy", "0.8")

    for words in (("plan", "synth", *usual), ("synth", "customers.csv", *usual, "--out", "out")):
        assert "leaves no possible value" in refused(run(*words), tmp_path)
    assert "leaves no possible value" in refused(run("check", "customers.csv", "--schema", "schema.toml"), tmp_path)
