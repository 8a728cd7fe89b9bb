"""Tables for more than one purpose: aims in Python and in the shell, what is told of them, and their receipts."""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expost import Aim, Ladder, OnPublic
from expost.errors import ExpostError, InvalidValue, SchemaMismatch
from expost.jobs import audit
from expost.jobs.job import Result
from expost.jobs.synthesis.typed import MEASURES, aims_typed, share_typed
from expost.noise import Integers, Noise
from expost.receipts.receipt import digest, receipt, receipt_text
from expost.report.page import render
from expost.report.words import conclusion, headline
from expost.tabular.model.graphical import Model
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional, Predictor, Sklearn
from expost.tabular.table import Table
from tests.unit.commands import run
from tests.unit.examples import one_sentence
from tests.unit.jobs.synthesis.customers import SCHEMA, csv, made, public_records
from tests.unit.jobs.synthesis.recipes import RECIPE, done
from tests.unit.report.examples import customers
from tests.unit.report.pages import said

AIMS: dict[str, tuple[Aim, ...]] = {
    "balanced accuracy": (Aim.balanced_accuracy("renewed", 0.7),),
    "AUC": (Aim.auc("renewed", 0.75),),
    "gain": (Aim.above_guessing("renewed", 0.1),),
    "overlap": (Aim.within(0.2),),
    "crosstabs": (Aim.within(0.2, crosstabs=[("age", "renewed"), ("region", "plan")]),),
    "two targets": (Aim.accuracy("renewed", 0.8), Aim.auc("plan", 0.3, positive="full")),
    "a target and all pairs": (Aim.accuracy("renewed", 0.8), Aim.within(0.25)),
}


@cache
def reached(name: str) -> Result[Any]:
    """A rehearsal on 4,000 customers."""
    return made(customers(SCHEMA, 4000), target=None, accuracy=None, aims=AIMS[name])


@pytest.mark.parametrize("name", AIMS)
def test_a_table_that_is_good_enough_passes_and_its_receipt_is_audited(name: str) -> None:
    finished = reached(name)

    assert finished.passed
    assert audit(receipt(finished.facts)).matches


@pytest.mark.parametrize("name", AIMS)
def test_one_that_is_not_does_not_pass(name: str) -> None:
    harder = tuple(Aim(aim.measure, aim.target, (99 + aim.at_least) / 100) for aim in AIMS[name])

    finished = made(customers(SCHEMA, 1000), target=None, accuracy=None, aims=harder)

    assert not finished.passed
    assert audit(receipt(finished.facts)).matches


def test_several_aims_cost_what_one_costs() -> None:
    plain = made(customers(SCHEMA, 1000), accuracy=0.99)
    several = made(customers(SCHEMA, 1000), accuracy=0.99, aims=[Aim.above_guessing("renewed", 0.5)])

    assert several.epsilon == pytest.approx(plain.epsilon, rel=1e-3)


@pytest.mark.parametrize("name", ["two targets", "a target and all pairs"])
def test_of_several_aims_the_least_margin_is_told_in_records(name: str) -> None:
    facts = reached(name).facts

    assert headline(facts).startswith("Everything that was asked for holds on the held-out records, with 95 % conf")
    assert all(goal.words in conclusion(facts) for goal in facts.goals)
    assert "Which aim that is was not revealed" in said(render(facts))
    assert "asked for: 0" not in said(render(facts))


@pytest.mark.parametrize("name", ["balanced accuracy", "AUC", "gain", "overlap"])
def test_a_single_aim_is_told_in_its_own_measure(name: str) -> None:
    facts = reached(name).facts
    answer = facts.answer(facts.rungs[-1])

    assert headline(facts).startswith(f"The {facts.measure} is at least ")
    assert answer is not None
    assert answer[0] + answer[1] > float(facts.asked or 0)


def true_area(ranks: Integers, right: Integers) -> float:
    """The area under the ROC curve, pair by pair."""
    upper, lower = ranks[right == 1][:, None], ranks[right != 1][None, :]
    return float((upper > lower).mean() + (upper == lower).mean() / 2)


@pytest.mark.parametrize("path", [None, "sklearn.tree.DecisionTreeClassifier"], ids=["model", "tree"])
def test_the_noisy_area_is_near_the_true_one(path: str | None) -> None:
    """Of others of the same kind, with hardly any noise on the last rung, and within what sampling explains."""
    learner = Conditional() if path is None else Sklearn(path)
    recipe = replace(RECIPE, aims=(Aim.auc("renewed", 0.99),), learner=learner, ladder=Ladder.of([1, 400], alpha=20))
    finished, others = done(recipe), customers(SCHEMA, 5000)
    counted, answer = finished.counted.scale(recipe.aims[0], SCHEMA), finished.outcome.history[-1].verdict

    area = true_area(finished.outcome.release.value.predict(others), others.codes("renewed").astype(np.int64))

    assert answer is not None
    assert answer.margin is not None
    assert 0.99 + answer.margin / counted[0] == pytest.approx(area, abs=0.04)


def test_a_learner_without_ranks_is_refused_for_an_area() -> None:
    def learner(table: Table, model: Model, target: str, noise: Noise) -> Predictor:
        return lambda records: np.zeros(len(records), dtype=np.int64)

    with pytest.raises(InvalidValue, match="the learner has no ranks"):
        replace(RECIPE, aims=(Aim.auc("renewed", 0.7),), learner=learner)


def test_an_estimator_without_probabilities_is_refused_for_an_area_before_data_is_read() -> None:
    svc = Sklearn("sklearn.svm.LinearSVC")

    with pytest.raises(InvalidValue, match="has no probabilities to rank by"):
        made(Path("nowhere.csv"), target=None, accuracy=None, aims=[Aim.auc("renewed", 0.7)], learner=svc)


BAD: dict[str, Callable[[], object]] = {
    "a share of one": lambda: Aim.auc("renewed", 1),
    "a distance of nothing": lambda: Aim.within(0),
    "a target that is no column": lambda: Aim.auc("income", 0.7).question(SCHEMA),
    "a value that the target does not have": lambda: Aim.auc("plan", 0.7, positive="none").question(SCHEMA),
    "no positive value of three": lambda: Aim.auc("region", 0.7).question(SCHEMA),
    "a table of one column": lambda: Aim.within(0.1, crosstabs=[("age",)]).question(SCHEMA),
    "a table with a column twice": lambda: Aim.within(0.1, crosstabs=[("age", "age")]).question(SCHEMA),
    "a table with a column that is not there": lambda: Aim.within(0.1, crosstabs=[("age", "sex")]).question(SCHEMA),
    "a target and no accuracy": lambda: made(Path("nowhere.csv"), accuracy=None),
    "nothing": lambda: made(Path("nowhere.csv"), target=None, accuracy=None),
}


@pytest.mark.parametrize("ask", BAD.values(), ids=BAD)
def test_what_cannot_be_asked_for_is_refused_in_one_sentence(ask: Callable[[], object]) -> None:
    with pytest.raises(ExpostError) as refusal:
        ask()

    assert one_sentence(refusal.value)


def test_an_aim_on_public_records_is_judged_by_their_number(tmp_path: Path) -> None:
    """What chance takes from an overlap depends on how many records there are."""
    public = OnPublic(public_records(tmp_path))
    finished = made(csv(tmp_path), target=None, accuracy=None, aims=[Aim.within(0.2)], check=public)

    assert finished.passed
    assert audit(receipt(finished.facts)).matches


def other_aim(found: dict[str, Any]) -> None:
    found["asked"]["aims"][1]["threshold"] = "1/2"


def fewer_aims(found: dict[str, Any]) -> None:
    del found["asked"]["aims"][1]


def unknown_aim(found: dict[str, Any]) -> None:
    found["asked"]["aims"][0]["measure"] = "beauty"


def more_said(found: dict[str, Any]) -> None:
    found["asked"]["aims"][0]["positive"] = "full"


def less_moved(found: dict[str, Any]) -> None:
    found["asked"]["check"]["facts"]["sensitivity"] -= 1


@pytest.mark.parametrize("forge", [other_aim, fewer_aims, unknown_aim, more_said, less_moved])
def test_a_receipt_whose_aims_were_changed_is_noticed(forge: Callable[[dict[str, Any]], None]) -> None:
    found = copy.deepcopy(json.loads(receipt_text(receipt(reached("a target and all pairs").facts))))
    assert audit(found).matches
    forge(found)
    found["pledged"] = digest(found)

    try:
        matches = audit(found).matches
    except ExpostError:
        matches = False

    assert not matches


def test_the_digest_of_a_run_covers_the_positive_value() -> None:
    found = json.loads(receipt_text(receipt(reached("two targets").facts)))
    before = digest(found)
    found["asked"]["aims"][1]["positive"] = "basic"

    assert digest(found) != before


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and its schema, to work in."""
    csv(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA.dumps(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_table_with_more_cells_than_have_numbers_is_refused() -> None:
    """The first of 70 columns would be lost where cells are numbered in 64 bits, and the overlap not be about them."""
    names = tuple(f"c{place}" for place in range(70))
    form = Schema(tuple(Boolean(name, Missing.FALLBACK) for name in names), True, SCHEMA.neighbours)

    with pytest.raises(SchemaMismatch, match="name fewer columns") as refused:
        Aim.within(0.1, crosstabs=[names]).question(form)
    assert one_sentence(refused.value)
    Aim.within(0.1, crosstabs=[names[:62]]).question(form)


def test_a_column_whose_name_has_a_comma_is_put_in_quotes() -> None:
    form = Schema(tuple(Boolean(name, Missing.FALLBACK) for name in ("a, b", "c")), True, SCHEMA.neighbours)
    settings = dict.fromkeys((*MEASURES, "targets", "positive")) | {"within": "2%", "crosstabs": ('"a, b", c',)}

    assert aims_typed(form, settings) == (Aim.within(Fraction(2, 100), crosstabs=[("a, b", "c")]),)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"targets": ("a", "a"), "accuracy": ("0.8",)}, "--target a is given 2 times; name each target once."),
        (
            {"targets": ("a",), "accuracy": ("0.8", "0.7")},
            "--accuracy is given 2 times and there is one target; give it once, or once for each target.",
        ),
        (
            {"targets": ("a",), "accuracy": ("0.8",), "auc": ("0.8",), "above_guessing": ("3%",)},
            "--accuracy, --auc and --above-guessing are given; ask for one of them here, or for several as aims in "
            "Python.",
        ),
    ],
)
def test_what_is_given_too_often_is_refused_in_plain_words(changes: dict[str, tuple[str, ...]], said: str) -> None:
    settings = dict.fromkeys((*MEASURES, "targets", "positive", "within", "crosstabs")) | changes

    with pytest.raises(InvalidValue) as refused:
        aims_typed(SCHEMA, settings)

    assert str(refused.value) == said


SHORT = ("--estimator", "model", "--ladder", "renyi:0.02:2:3", "--seed", "1", "--out", "out")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (("--target", "renewed", "--above-guessing", "10%"), ["a gain over guessing of 10 points for renewed"]),
        (("--target", "plan", "--auc", "0.3", "--positive", "full"), ["an AUC of 0.3 for plan = full"]),
        (("--within", "40%"), ["all pairs of columns within 40 %"]),
        (
            ("--within", "0.4", "--crosstab", "age, renewed", "--crosstab", "region,plan"),
            ["age × renewed and region × plan within 40 %"],
        ),
        (
            ("--target", "renewed", "--target", "plan", "--accuracy", "0.7", "--accuracy", "0.3"),
            ["an accuracy of 0.7 for renewed", "an accuracy of 0.3 for plan"],
        ),
        (
            ("--target", "renewed", "--target", "plan", "--accuracy", "0.3", "--within", "40%"),
            ["an accuracy of 0.3 for renewed", "an accuracy of 0.3 for plan", "all pairs of columns within 40 %"],
        ),
    ],
)
def test_what_is_typed_is_asked_for(words: tuple[str, ...], asked: list[str]) -> None:
    result = run("synth", "customers.csv", "--schema", "schema.toml", *SHORT, *words)
    options = said((Path("out") / "report.html").read_text(encoding="utf-8"))

    assert result.exit_code in {0, 3}, result.stderr
    assert all(each in options for each in asked)
    assert run("audit", "out/receipt.json").exit_code == 0


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "words",
    [
        ("--target", "renewed"),
        ("--accuracy", "0.8", "--auc", "0.7", "--target", "renewed"),
        ("--accuracy", "0.8"),
        ("--accuracy", "0.8", "--accuracy", "0.7", "--accuracy", "0.6", "--target", "renewed", "--target", "plan"),
        ("--accuracy", "0.8", "--positive", "yes", "--target", "renewed"),
        ("--accuracy", "most", "--target", "renewed"),
        ("--accuracy", "0.8", "--target", "renewed", "--target", "renewed"),
        ("--within", "2%%"),
        ("--crosstab", "age,renewed"),
        ("--crosstab", "age", "--within", "2%"),
        ("--crosstab", "", "--within", "2%"),
        ("--crosstab", "age,,renewed", "--within", "2%"),
        ("--crosstab", '"age,renewed', "--within", "2%"),
        ("--crosstab", "age\nplan,renewed", "--within", "2%"),
        ("--within", "0"),
        ("--within", "120%"),
        (),
    ],
    ids=" ".join,
)
def test_what_is_not_clear_is_refused_in_one_sentence(words: tuple[str, ...]) -> None:
    result = run("synth", "nowhere.csv", "--schema", "schema.toml", *SHORT, *words)

    assert result.exit_code == 2
    assert re.fullmatch(r"expost: [^\n]+\.\n", result.stderr)
    assert not Path("out").exists()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("words", "said"), [(("--crosstab", "age,renewed"), "add --within."), ((), "or --within")])
def test_a_plan_says_which_option_is_lacking(words: tuple[str, ...], said: str) -> None:
    result = run("plan", "synth", "--schema", "schema.toml", *words)

    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", [("plan", "synth"), ("synth", "nowhere.csv", "--out", "out")], ids=" ".join)
@pytest.mark.parametrize("words", [(), ("--positive", "none")], ids=" ".join)
def test_an_auc_of_more_than_two_values_is_refused_with_the_option_that_says_which(
    command: tuple[str, ...], words: tuple[str, ...]
) -> None:
    result = run(*command, "--schema", "schema.toml", "--target", "region", "--auc", "0.7", *words)

    assert result.exit_code == 2
    named = "none is not among its values: name" if words else "name"
    assert f"an AUC is about one value of region; {named} one of north, south, west as the positive value, with" in (
        plainly := " ".join(result.stderr.split())
    )
    assert plainly.endswith("--positive.")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "setting", ['target = "renewed"\nauc = 0.6', 'target = ["renewed", "plan"]\nauc = [0.6, "0.5"]']
)
def test_a_file_of_options_may_name_one_target_or_several(setting: str) -> None:
    Path("job.toml").write_text(setting, encoding="utf-8")

    result = run("plan", "synth", "--schema", "schema.toml", "--config", "job.toml")

    assert result.exit_code == 0, result.stderr
    told = " ".join(result.stdout.split())
    assert "Asked for: an AUC of 0.6 for renewed = true" in told
    assert ("an AUC of 0.5 for plan = full" in told) is ("plan" in setting)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", [("--within", "2%"), ("--auc", "0.7", "--target", "renewed"), ()], ids=" ".join)
def test_a_plan_takes_the_same_options(words: tuple[str, ...]) -> None:
    named = words or ("--target", "renewed")
    result = run("plan", "synth", "--schema", "schema.toml", "--records", "900", *named)

    assert result.exit_code == 0, result.stderr
    assert "Asked for: a" in result.stdout


def test_a_share_may_be_a_percentage() -> None:
    assert share_typed("--within", "2%") == share_typed("--within", "0.02") == Fraction(1, 50)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("words", "accuracies"), [(("--accuracy", "0.8"), True), (("--auc", "0.7"), False)])
def test_only_a_plan_for_an_accuracy_offers_margins_as_accuracies(words: tuple[str, ...], accuracies: bool) -> None:
    result = run("plan", "synth", "--schema", "schema.toml", "--target", "renewed", *words)

    assert ("to see margins as accuracies" in " ".join(result.stdout.split())) is accuracies
