"""The receipt of an answer: worked out again from its questions, and found out wherever it was changed."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from expost.accounting.gaussian import lattice_rho
from expost.accounting.jumps import PlannedJumps
from expost.jobs import audit
from expost.jobs.asking import recomputed
from expost.jobs.asking.facts import JUMP, LOOKS, ONE
from expost.jobs.asking.receipt import FIXED, FORMAT
from expost.jobs.asking.recomputed import UNSEEN
from expost.receipts.receipt import digest
from tests.unit.asking_examples import KINDS, answer_of, asked, forged, leaves
from tests.unit.commands import run

HARMLESS = {("title",), *(("versions", name) for name in ("python", "expost", "numpy", "scipy"))}
"""Words that nothing follows from."""
OWN_ANSWERS = {("cuts", 0, name) for name in ("share", "std", "lost")}
"""Noisy numbers that the receipt is the only one to tell."""
Saved = Callable[[str], tuple[Any, Path]]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """The receipt of an answer, and the folder that it lies in."""
    folders: dict[str, Path] = {}

    def of(kind: str) -> tuple[Any, Path]:
        if kind not in folders:
            folders[kind] = tmp_path_factory.mktemp("saved") / "out"
            answer_of(kind).save(folders[kind])
        return json.loads((folders[kind] / "receipt.json").read_text(encoding="utf-8")), folders[kind]

    return of


@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_receipt_is_worked_out_with_the_schema_beside_it(kind: str, saved: Saved) -> None:
    receipt, folder = saved(kind)

    found = audit(receipt, beside=folder)

    assert found.matches, str(found)
    assert found.epsilon == pytest.approx(receipt["statement"]["epsilon"], rel=1e-12)


def test_without_the_schema_the_number_of_groups_is_believed(saved: Saved) -> None:
    found = audit(saved("a jump")[0])

    assert (found.differences, found.believed) == ((), (UNSEEN,))


def test_the_schema_of_another_table_bears_no_witness(saved: Saved, tmp_path: Path) -> None:
    """A schema without the digest of the receipt leaves it as it was."""
    receipt, folder = saved("a jump")
    other = (folder / "schema.toml").read_text(encoding="utf-8").replace("west", "east")
    (tmp_path / "schema.toml").write_text(other, encoding="utf-8")

    found = audit(receipt, beside=tmp_path)

    assert any("schema.toml beside the receipt" in each for each in found.differences)


@pytest.mark.parametrize(("kind", "plan"), [("one release", ONE), ("a jump", JUMP), ("the top", LOOKS)])
def test_a_receipt_names_its_kind_of_plan(kind: str, plan: str, saved: Saved) -> None:
    receipt, _ = saved(kind)

    assert (receipt["format"], receipt["plan"]["kind"]) == (FORMAT, plan)


@pytest.mark.parametrize(
    "given", [{"fewer_than": 10**12, "within": "10%"}, {"within": "0.0001%"}], ids=["as declared", "as it follows"]
)
def test_a_receipt_may_tell_of_groups_of_any_size(given: dict[str, Any]) -> None:
    """Ten million rows, beyond which it was refused, are no bound on what a share that is small is out of reach for."""
    answer = asked("count by region", max_epsilon=0.01, **given)

    assert answer.told[0].size > 10**7
    assert audit(json.loads(answer.receipt)).differences == ()


def test_a_receipt_of_one_release_states_the_price_that_was_announced(saved: Saved) -> None:
    receipt, _ = saved("one release")

    assert receipt["plan"]["price"] == receipt["statement"]["epsilon"]


def test_a_seeded_receipt_begins_with_the_warning(saved: Saved) -> None:
    receipt, _ = saved("one release")

    assert next(iter(receipt)) == "warning"


@pytest.mark.parametrize("kind", ["one release", "shared in one release", "persons, shared", "the top"])
def test_every_leaf_that_is_changed_is_noticed(kind: str, saved: Saved) -> None:
    receipt, folder = saved(kind)

    unseen = {leaf for leaf in leaves(receipt) if audit(forged(receipt, leaf), beside=folder).matches}

    assert unseen == HARMLESS


@pytest.mark.parametrize("kind", ["a jump", "shared by a jump", "persons, found"])
def test_every_leaf_after_the_fact_that_is_changed_is_noticed(kind: str, saved: Saved) -> None:
    """Those that are fixed beforehand are in the digest; see below."""
    receipt, folder = saved(kind)
    after = [leaf for leaf in leaves(receipt) if leaf[0] not in {*FIXED, "versions", "title"}]

    unseen = {leaf for leaf in after if audit(forged(receipt, leaf), beside=folder).matches}

    assert unseen <= OWN_ANSWERS


@pytest.mark.parametrize(
    ("kind", "asked"),
    [("a jump", {("target", "of total")}), ("the top", {("target", "top"), ("fewer than",)})],
)
def test_what_was_fixed_is_noticed_under_a_new_seal_too(kind: str, asked: set[Any], saved: Saved) -> None:
    """But for what was asked in words that no price and no error bar follows from: only the digest tells those."""
    receipt, folder = saved(kind)
    unseen = set()
    for leaf in leaves(receipt):
        if leaf[0] in FIXED:
            changed = forged(receipt, leaf)
            changed["pledged"] = digest(changed, FIXED)
            if audit(changed, beside=folder).matches:
                unseen.add(leaf)

    assert {leaf[-2:] if "target" in leaf else leaf[-1:] for leaf in unseen} == asked


def measured_instead(receipt: Any, old: str, new: str) -> Any:
    """The same, with one tally of the first line replaced by another."""
    changed = copy.deepcopy(receipt)
    facts = changed["bill"][0]["facts"]
    assert old in facts["statistic"].split("; ")
    facts["statistic"] = "; ".join(new if each == old else each for each in facts["statistic"].split("; "))
    return changed


def test_a_line_may_be_about_what_tells_of_several_questions(saved: Saved) -> None:
    """Nobody asked for counts by all three columns, which are measured for each two of them."""
    receipt, folder = saved("shared in one release")

    assert "count by plan, region, renewed" in receipt["bill"][0]["facts"]["statistic"]
    assert audit(receipt, beside=folder).matches


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ("count by age", "not about what was asked"),
        ("mean of age", "not about what was asked"),
        ("count by plan, region, renewed where age < 20", "not about what was asked"),
        ("count by age, plan, region", "another number of cells"),
    ],
)
def test_a_line_about_what_tells_of_no_question_is_noticed(other: str, why: str, saved: Saved) -> None:
    receipt, folder = saved("shared in one release")

    found = audit(measured_instead(receipt, "count by plan, region, renewed", other), beside=folder)

    assert any(why in each for each in found.differences)


def priced(line: Any, rho: Fraction) -> Any:
    """A line whose noise costs that much, with the facts that say so."""
    reach = Fraction(line["facts"]["l2_squared"])
    variance = reach / (2 * rho) + 3
    profile = lattice_rho(variance, reach)
    curve = {"lines": [{"xi": "0", "rho": str(reach / (2 * variance)), "gaussian": str(profile)}]}
    return {**line, "facts": {**line["facts"], "variance": str(variance)}, "curve": curve}


def profile_of(line: Any) -> Fraction:
    """The ρ of its profile."""
    return Fraction(line["curve"]["lines"][0]["gaussian"])


def in_two_steps(receipt: Any) -> Any:
    """The jump taken in two halves, which end on the same level."""
    last = receipt["bill"][-1]
    half = priced(last, profile_of(last) / 2)
    return {**receipt, "bill": [*receipt["bill"][:-1], half, half]}


def test_a_level_that_was_reached_in_two_steps_is_not_stated_as_a_jump(saved: Saved) -> None:
    receipt, folder = saved("a jump")

    found = audit(in_two_steps(receipt), beside=folder)

    assert any("is one that the pledge refuses" in each for each in found.differences)


def test_an_audit_that_does_not_watch_the_steps_lets_two_of_them_pass(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: the lines add up to the level all the same."""
    receipt, folder = saved("a jump")
    monkeypatch.setattr(PlannedJumps, "require_step", lambda pledge, totals, after: None)

    found = audit(in_two_steps(receipt), beside=folder)

    assert not any("pledge refuses" in each for each in found.differences)
    assert profile_of(in_two_steps(receipt)["bill"][-1]) * 2 == profile_of(receipt["bill"][-1])


def test_a_line_with_a_smaller_sensitivity_than_its_question_is_noticed(saved: Saved) -> None:
    receipt, folder = saved("one release")
    (line,) = receipt["bill"]
    facts = {**line["facts"], "l2_squared": str(Fraction(line["facts"]["l2_squared"]) / 4)}
    cheaper = priced({**line, "facts": facts}, profile_of(line))

    found = audit({**receipt, "bill": [cheaper]}, beside=folder)

    assert any("has another sensitivity" in each for each in found.differences)


def test_persons_that_were_not_counted_first_are_noticed(saved: Saved) -> None:
    receipt, folder = saved("persons, found")
    bill = [*receipt["bill"][1:2], receipt["bill"][0], *receipt["bill"][2:]]

    found = audit({**receipt, "bill": bill}, beside=folder)

    assert any("does not count persons by their rows" in each for each in found.differences)


def test_an_answer_without_lines_must_have_recalled_earlier_ones(saved: Saved) -> None:
    receipt, folder = saved("one release")

    found = audit({**receipt, "bill": [], "seeded": False}, beside=folder)

    assert any("no earlier answer was used" in each for each in found.differences)


@pytest.mark.parametrize("part", [*FIXED, "bill", "answers", "files", "statement", "width"])
@pytest.mark.parametrize("instead", [None, [], {}, "x", 10**30, [[]]], ids=str)
def test_a_malformed_part_is_refused_in_a_sentence(part: str, instead: Any, saved: Saved) -> None:
    receipt, folder = saved("the top")

    assert not audit({**receipt, part: instead}, beside=folder).matches


def test_the_command_audits_an_answer_and_the_digest_that_was_shown(saved: Saved) -> None:
    receipt, folder = saved("the top")
    path = str(folder / "receipt.json")

    right, wrong = run("audit", path, "--pledge", receipt["pledged"]), run("audit", path, "--pledge", "0" * 64)

    assert (right.exit_code, wrong.exit_code) == (0, 3)
    assert "whose pledge was shown" in wrong.output


def test_answers_that_were_changed_beside_the_receipt_are_noticed(saved: Saved, tmp_path: Path) -> None:
    answer_of("the top").save(tmp_path / "out")
    answers = tmp_path / "out/answers.csv"
    answers.write_text(answers.read_text(encoding="utf-8").replace("1", "2"), encoding="utf-8")

    found = run("audit", str(tmp_path / "out/receipt.json"))

    assert (found.exit_code, "answers.csv beside the receipt" in found.output) == (3, True)


def test_an_audit_without_the_plan_would_let_other_levels_pass(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin of what was fixed: a larger cap under a new seal is noticed by the levels that it leads to."""
    receipt, _ = saved("the top")
    changed = forged(receipt, ("asked", "max epsilon"))
    changed["asked"]["max epsilon"] = 2 * receipt["asked"]["max epsilon"]
    changed["pledged"] = digest(changed, FIXED)
    noticed = audit(changed)

    monkeypatch.setattr(recomputed, "_planned", lambda told: iter(()))

    assert any("the levels of the pledge" in each for each in noticed.differences)
    assert not audit(changed).differences
