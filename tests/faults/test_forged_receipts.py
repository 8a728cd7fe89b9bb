"""A receipt follows from the settings of a run and the answers of its check; whoever changes anything else is found.

A run is its settings (what was asked, of whom, the rungs, δ, the cap, the schema, the noise of training) and the
answers of its check, rung by rung. Everything else in a receipt, ε above all, follows from these. Whoever changes them
throughout has not forged a receipt but written down another run, which no receipt can tell; the digest that was shown
before the run tells its settings, though not its answers.
"""

import copy
import json
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings

from expost.accounting.gaussian import lattice_rho
from expost.jobs import audit as check
from expost.private import Neighbours
from expost.receipts.replay import Replay
from tests.faults.forger import (
    first_that_fools,
    fools,
    forgeries,
    less_sensitive,
    lowered,
    noisier,
    one_stop,
    priced,
    shorter,
)
from tests.faults.forgeries import CENTRED, HEADS, TABLES, Receipt, changed, looking, measuring, receipt_of, restate


@pytest.mark.parametrize("name", TABLES + HEADS + CENTRED)
def test_what_a_run_wrote_is_believed(name: str) -> None:
    audit = check(receipt_of(name), pledged=receipt_of(name)["pledged"])

    assert audit.matches, str(audit)
    assert audit.epsilon == pytest.approx(receipt_of(name)["statement"]["epsilon"])


def cheap_looks(found: Receipt) -> None:
    """Looks at next to no price, and so with noise that hides every answer."""
    rho = Fraction(1, 10**9)
    for line in looking(found):
        reach = Fraction(line["facts"]["sensitivity"]) ** 2
        line["curve"]["lines"] = [priced(rho, lattice_rho(reach / (2 * rho), reach))]


def without_looks(found: Receipt) -> None:
    """No look on the bill, and no answer in the history but the verdicts."""
    found["bill"] = [line for line in found["bill"] if not line["what"].endswith("check")]
    for rung in found["history"]:
        rung.update(margin=None, std=None, guard=None, accuracy=None, error=None)


def renamed(found: Receipt) -> None:
    """A step that nobody knows, at no cost."""
    measuring(found)[-1].update(what="Housekeeping", facts={}, curve={"lines": [priced(Fraction(0), Fraction(0))]})


def below(found: Receipt) -> None:
    """A pass far below the target."""
    found["history"][-1].update(passed=True, margin=-500.0)
    found["ended"].update(reached=True, how="halted", because="a candidate passed the check")


def capped(found: Receipt) -> None:
    """The last rung forgotten, as if a cap had refused it; there was none."""
    shorter(found)
    found["ended"]["how"] = "capped"


def flat(found: Receipt) -> None:
    """The last rung forgotten, as if the answers before it had not risen."""
    shorter(found)
    found["ended"].update(how="flat", because="the noisy answers no longer rose")


def patient(found: Receipt) -> None:
    """A patience where no run has one."""
    found["asked"]["patience"] = {"looks": 2, "min gain": "1/200"}


def fewer(known: Receipt) -> None:
    """Kinds of steps with one step instead of many."""
    for side in (known.get("train", known), known.get("held", known)):
        for each in side["sampled"]:
            each["steps"] = 1


def fewer_planned(found: Receipt) -> None:
    """Stops whose tables are as they were, and whose kinds are of fewer steps."""
    for stop in (*found["pledge"]["stops"], *(each["curve"] for each in found["plan"]["stops"])):
        fewer(stop["kinds"])


def fewer_taken(found: Receipt) -> None:
    """The same for the lines and all that they add up to."""
    for line in measuring(found):
        fewer(line["curve"]["kinds"])


def fewer_throughout(found: Receipt) -> None:
    """Both."""
    fewer_planned(found)
    fewer_taken(found)


def old(found: Receipt) -> None:
    """No kinds of steps anywhere, as receipts had it before."""
    rungs = (each["curve"] for each in (*found["plan"]["stops"], *found["history"], *found["bill"]))
    for curve in (*found["pledge"]["stops"], *rungs, found["statement"]["curve"]):
        curve.pop("kinds", None)


FORGERIES: dict[str, tuple[str, Callable[[Receipt], object]]] = {
    "the last line left out": ("the paper's check", lambda found: found["bill"].pop()),
    "a line renamed to an unknown step": ("the paper's check", renamed),
    "a sensitivity of 1/1000 on counts": ("the paper's check", lambda found: less_sensitive(measuring(found)[-1])),
    "all sensitivities of 1/1000": ("balanced check", lambda found: [*map(less_sensitive, measuring(found))]),
    "more noise than was drawn": ("balanced check", lambda found: noisier(measuring(found)[-1], 100)),
    "looks at next to no price": ("Gaussian check", cheap_looks),
    "looks left out": ("Gaussian check", without_looks),
    "secret looks left out": ("sparse vector check", without_looks),
    "a pledge of one stop": ("balanced check", one_stop),
    "a pledge of one stop for a head": ("head", one_stop),
    "the last rung forgotten": ("balanced check", shorter),
    "the last release forgotten": ("head, calibrated", shorter),
    "a release counted once": ("head, public", lambda found: measuring(found)[-1].update(count=1)),
    "training on the held-out part": ("head", lambda found: measuring(found)[-1].update(part="data/held")),
    "a pass at a margin of −500": ("balanced check", below),
    "another threshold": ("balanced check", lambda found: found["asked"].update(threshold="1/2")),
    "a lower confidence": ("balanced check", lambda found: found["asked"].update(confidence="1/2")),
    "more looks": ("balanced check", lambda found: found["asked"].update(looks=9)),
    "a cap made up": ("balanced check", capped),
    "a flat ladder made up": ("balanced check", flat),
    "a flat ladder made up without answers": ("sparse vector check", flat),
    "a flat ladder that is cut short": ("ended flat", shorter),
    "the patience of a head": ("head", patient),
    "the patience of a module": ("module, public", patient),
    "fewer steps among the kinds of the plan": ("head", fewer_planned),
    "fewer steps among the kinds of the lines": ("head, calibrated", fewer_taken),
    "fewer steps among all kinds": ("head", fewer_throughout),
}


@pytest.mark.parametrize("how", FORGERIES)
@pytest.mark.parametrize("restated", [False, True])
def test_a_forgery_is_noticed(how: str, restated: bool) -> None:
    name, forge = FORGERIES[how]

    found = changed(name, forge)

    assert not check(restate(found) if restated else found).matches


@pytest.mark.parametrize("name", HEADS)
def test_a_receipt_without_kinds_is_stated_by_orders_and_higher(name: str) -> None:
    """As older receipts are; each of these is stated by the distribution of its loss."""
    now, before = receipt_of(name), restate(changed(name, old))

    audit = check(before)

    assert audit.matches, str(audit)
    assert audit.epsilon == pytest.approx(before["statement"]["epsilon"], rel=1e-9)
    assert now["statement"]["epsilon"] < 0.95 * audit.epsilon


@pytest.mark.parametrize("said", ["yes", 1, None])
def test_a_receipt_says_plainly_whether_the_table_was_checked(said: object) -> None:
    found = receipt_of("balanced check")
    found["schema"]["checked"] = said

    assert check(found).differences


def test_a_receipt_that_does_not_say_whether_the_table_was_checked_is_not_ours() -> None:
    found = receipt_of("balanced check")
    del found["schema"]["checked"]

    assert check(found).differences


def test_a_step_that_nobody_knows_is_named() -> None:
    audit = check(restate(changed("balanced check", renamed)))

    assert any("'Housekeeping', is taken at its word" in said for said in audit.believed)
    assert "is taken at its word" in str(audit)


def test_a_check_that_nobody_knows_is_taken_at_its_word() -> None:
    found = changed("balanced check", lambda found: found["asked"]["check"].update(name="oracle"))
    assert "is not a look of the check that was named" in str(check(restate(found)))
    for line in looking(found):
        line["what"] = "oracle"

    audit = check(restate(found))

    assert not audit.differences
    assert not audit.matches
    assert "taken at their word" in str(audit)


def of_another_kind(found: Receipt) -> None:
    """A kind of run that the audit does not know how to run over again."""
    found["made"] = "A poem"


def test_a_run_of_another_kind_is_taken_at_its_word_and_still_added_up() -> None:
    whole = restate(changed("the paper's check", of_another_kind))
    lacking = copy.deepcopy(whole)
    lacking["bill"].pop()

    assert not check(whole).matches
    assert check(whole).differences == ()
    assert any("do not add up" in said for said in check(restate(lacking, history=False)).differences)


def test_another_run_is_told_by_the_digest_of_its_pledge() -> None:
    shown, other = receipt_of("balanced check")["pledged"], receipt_of("reached")

    assert check(other).matches
    assert "not that of the run whose pledge was shown" in str(check(other, pledged=shown))


def test_a_digest_that_is_not_that_of_the_pledge_is_noticed() -> None:
    found = changed("balanced check", lambda found: found.update(pledged="0" * 64))

    assert "the digest of the pledge" in str(check(found))


@settings(derandomize=True, deadline=None, max_examples=300)
@given(forgeries(TABLES))
def test_no_forgery_of_a_table_lowers_epsilon(forgery: tuple[str, Receipt]) -> None:
    assert not fools(*forgery)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(forgeries(HEADS + CENTRED))
def test_no_forgery_of_a_head_lowers_epsilon(forgery: tuple[str, Receipt]) -> None:
    assert not fools(*forgery)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(forgeries(("balanced check", "Gaussian check")))
def test_with_the_digest_that_was_shown_no_other_settings_pass(forgery: tuple[str, Receipt]) -> None:
    name, forged = forgery
    shown = receipt_of(name)["pledged"]

    believed = check(forged, pledged=shown).matches

    assert not believed or not lowered(name, forged) or forged["history"] != receipt_of(name)["history"]


def test_the_generator_finds_what_an_audit_without_a_replay_lets_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: were lines compared with their own facts only, as before, the same forgeries would be believed."""
    monkeypatch.setattr(Replay, "faults", lambda replay: iter(()))

    name, forged = first_that_fools(("balanced check", "Gaussian check"))

    assert lowered(name, forged)


@pytest.mark.parametrize("name", ["head, public", "module, public"])
def test_a_bound_for_one_record_more_or_less_is_none_for_another_record(name: str) -> None:
    """Replacing a record is removing one and adding one, so that the same ε would promise about twice as much."""
    told = json.dumps(receipt_of(name))
    found = restate(json.loads(told.replace(Neighbours.ADD_REMOVE.value, Neighbours.REPLACE_ONE.value)))

    assert not check(found).matches
