"""Receipts: JSON from which the statement follows again, and not if anybody changed it."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from expost.accounting.claim import Promise
from expost.accounting.curve import AdpEpsilon, Highest, Tabulated
from expost.accounting.jumps import PlannedJumps
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, Pledge
from expost.accounting.stops import PlannedStops
from expost.jobs import audit as check
from expost.receipts.costs import curve_in, curve_out, pledge_in, pledge_out
from expost.receipts.receipt import receipt
from expost.search import Ended
from tests.unit.examples import line
from tests.unit.report.examples import facts, table

Receipt = dict[str, Any]


def written() -> Receipt:
    """A receipt as read back from its file."""
    loaded: Receipt = json.loads(json.dumps(receipt(facts()), allow_nan=False))
    return loaded


def test_a_receipt_leads_to_its_own_statement() -> None:
    audit = check(written())

    assert audit.matches, str(audit)
    assert audit.epsilon == pytest.approx(facts().epsilon)


def test_a_receipt_of_a_run_that_was_not_reached_matches_too() -> None:
    assert check(receipt(facts(Fraction(999, 1000)))).matches


def test_a_receipt_says_what_is_stated_and_how() -> None:
    found = written()

    assert found["statement"]["notion"] == "approximate ex-post"
    assert found["statement"]["neighbours"] == "add or remove one record"
    assert (found["seeded"], found["floating"]) == (True, False)
    assert found["asked"]["threshold"] == "4/5"
    assert found["split"] == "an independent coin per record"
    assert found["schema"]["sha256"] == table(facts()).schema_digest
    assert "expost" in found["versions"]


def test_the_receipt_of_a_seeded_run_begins_with_not_private() -> None:
    name, warning = next(iter(written().items()))

    assert name == "warning"
    assert warning.startswith("NOT PRIVATE")


def test_the_receipt_of_a_private_run_has_no_warning() -> None:
    assert "NOT PRIVATE" not in json.dumps(receipt(replace(facts(), seeded=False)))


def test_a_receipt_says_which_cap_ended_the_run() -> None:
    whole = facts(Fraction(999, 1000))
    capped = replace(whole, ended=Ended.CAPPED, cap=AdpEpsilon(0.3), rungs=whole.rungs[:1])

    found = receipt(capped)

    assert found["cap"] == 0.3
    assert "the cap of ε = 0.3" in json.dumps(found["ended"], ensure_ascii=False)


def first(found: Receipt, what: str) -> Receipt:
    """The first line of the bill with this name."""
    return next(each for each in found["bill"] if each["what"] == what)


def cheaper(found: Receipt, what: str) -> None:
    first(found, what)["curve"]["lines"][0].update(rho="1/100000", gaussian=None)


def left_over(found: Receipt) -> list[str]:
    """The one pair that was not measured from the first rung on."""
    (pair,) = {*combinations(found["schema"]["columns"], 2)} - {*map(tuple, found["measured"])}
    return list(pair)


THREE = ["region", "age", "plan"]
"""Columns of which one pair, the one that is left over, is not measured from the first rung on."""

TAMPERED: dict[str, Callable[[Receipt], object]] = {
    "a smaller ε": lambda found: found["statement"].update(epsilon=found["statement"]["epsilon"] * 0.99),
    "a smaller loss": lambda found: found["statement"].update({"probabilistic epsilon": found["statement"]["epsilon"]}),
    "no bound on the loss": lambda found: found["statement"].pop("probabilistic epsilon"),
    "a μ for noise that is not Gaussian": lambda found: found["statement"].update({"gaussian mu": 9.0}),
    "no ε": lambda found: found["statement"].update(epsilon=None),
    "a smaller δ": lambda found: found["statement"].update(delta=1e-9),
    "another notion": lambda found: found["statement"].update(notion="pure"),
    "other neighbours": lambda found: found["statement"].update(neighbours="replace one record"),
    "a lower curve": lambda found: found["statement"]["curve"]["lines"][0].update(rho="1/1000"),
    "a cheaper measurement": lambda found: cheaper(found, "Growing"),
    "a rung that added nothing left out": lambda found: found["grown"].pop(),
    "a rung too many that added": lambda found: found["grown"].append([]),
    "a pair added that was measured anyway": lambda found: found["grown"][-1].append(found["measured"][0]),
    "a pair added twice": lambda found: found["grown"][-1].extend([left_over(found)] * 2),
    "a pair added of a column that there is not": lambda found: found["grown"][-1].append(["age", "income"]),
    "a triple added of a pair that is not measured": lambda found: found["grown"][-1].append(["region", "age", "plan"]),
    "a triple added before its pair": lambda found: found["grown"][-1].extend([THREE, left_over(found)]),
    "a triple added backwards": lambda found: found["grown"][-1].extend([left_over(found), THREE[::-1]]),
    "a triple added twice": lambda found: found["grown"][-1].extend([left_over(found), THREE, THREE]),
    "four columns added": lambda found: found["grown"][-1].append([*THREE, "renewed"]),
    "fewer candidates": lambda found: first(found, "Growing")["facts"].update(candidates=1),
    "a pair added backwards": lambda found: found["grown"][-1].append(left_over(found)[::-1]),
    "nothing said of what was added": lambda found: found.pop("grown"),
    "a cheaper selection": lambda found: cheaper(found, "SpanningTree"),
    "more noise than was drawn": lambda found: first(found, "Gaussian")["facts"].update(variance="99999"),
    "less sensitivity": lambda found: first(found, "Growing")["facts"].update(l2_squared="1"),
    "less sensitive questions": lambda found: first(found, "balanced check")["facts"].update(sensitivity=1),
    "a rung left out": lambda found: found["bill"].remove(first(found, "Growing")),
    "a cheaper look": lambda found: cheaper(found, "balanced check"),
    "a look left out": lambda found: found["bill"].remove(first(found, "balanced check")),
    "nothing billed": lambda found: found["bill"].clear(),
    "training on the held-out part": lambda found: first(found, "Growing").update(part="data/held"),
    "a third part": lambda found: first(found, "Gaussian").update(part="data/other"),
    "a count of none": lambda found: first(found, "Gaussian").update(count=0),
    "seeded kept quiet": lambda found: found.update(seeded=False),
    "a seeded line kept quiet": lambda found: [each.update(seeded=False) for each in found["bill"]],
    "the warning left out": lambda found: found.pop("warning"),
    "the warning made harmless": lambda found: found.update(warning="private"),
    "floating made up": lambda found: found.update(floating=True),
    "a cheaper history": lambda found: found["history"][0].update(epsilon=0.001),
    "a cheaper plan": lambda found: found["plan"]["stops"][-1].update(epsilon=0.001),
    "a target not reached": lambda found: found["ended"].update(reached=False),
    "no pledge": lambda found: found.update(pledge=None),
    "another pledge": lambda found: found.update(pledge={"kind": "fixed order", "alpha": "50", "delta": 1e-5}),
    "an unknown pledge": lambda found: found["pledge"].update(kind="best afterwards"),
    "no bill": lambda found: found.pop("bill"),
    "a bill that is none": lambda found: found.update(bill="paid"),
    "a fraction that is none": lambda found: first(found, "Gaussian")["curve"]["lines"][0].update(rho="1/0"),
    "no line": lambda found: first(found, "Gaussian")["curve"]["lines"].clear(),
}


@pytest.mark.parametrize("larger", [[], [THREE]])
def test_what_a_rung_may_have_added_is_the_receipts_word_and_costs_the_same(larger: list[list[str]]) -> None:
    found = copy.deepcopy(written())
    assert found["grown"] == [[] for _ in found["history"]]

    found["grown"][-1].extend([left_over(found), *larger])

    audit = check(found)
    assert audit.matches, str(audit)
    assert audit.epsilon == pytest.approx(facts().epsilon)


@pytest.mark.parametrize("how", TAMPERED)
def test_a_changed_receipt_is_noticed(how: str) -> None:
    found = copy.deepcopy(written())

    TAMPERED[how](found)

    assert not check(found).matches


def test_the_difference_is_said_in_a_sentence() -> None:
    found = written()
    found["statement"]["epsilon"] = 0.01

    assert "the receipt states ε = 0.01; its lines lead to ε = " in str(check(found))


def test_a_reached_target_needs_a_rung_that_passed() -> None:
    assert not check(receipt(replace(facts(Fraction(999, 1000)), ended=Ended.HALTED))).matches


STOPS = (Promise(line(0, Fraction(1, 20), Fraction(1, 19))), Promise(line(Fraction(1, 7), Fraction(1, 10))))


@pytest.mark.parametrize(
    "pledge",
    [
        FixedOrder.at(Fraction(41, 2), 1e-5),
        Mixture.even([2, 4, 8], 1e-6),
        HalfNormal(0.3, 1e-5),
        PlannedStops(STOPS, 1e-5),
        PlannedJumps((STOPS[0], STOPS[0].times(2)), 1e-5, Fraction(1, 10)),
    ],
)
def test_a_pledge_comes_back_as_it_went(pledge: Pledge) -> None:
    assert pledge_in(json.loads(json.dumps(pledge_out(pledge)))) == pledge


def test_a_curve_comes_back_as_it_went() -> None:
    crossing = Highest((line(0, Fraction(1, 3), Fraction(1, 2)), line(Fraction(1, 7), Fraction(1, 9))))

    assert curve_in(json.loads(json.dumps(curve_out(crossing)))) == crossing


def test_a_table_of_orders_comes_back_as_it_went() -> None:
    table = Tabulated.of([2, 20], [0.5, float("inf")])

    back = curve_in(json.loads(json.dumps(curve_out(table), allow_nan=False)))

    assert [back.at(alpha) for alpha in (2, 20)] == [0.5, float("inf")]
