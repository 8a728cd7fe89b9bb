"""A search of the caller's own: the audit names what it believes, and works out all else again.

Believed are the sensitivities, the budgets of the rungs, the stops that were pledged and when to stop. Whoever lowers ε
in another way is found out, as far as the answers of the check are those that were given.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings

from expost.jobs import audit as check
from expost.receipts import retrace
from expost.receipts.audit import CALLERS
from expost.receipts.costs import MU
from tests.faults.forger import (
    believes,
    cheaper_throughout,
    first_that_fools,
    fools,
    forgeries,
    lowered,
    wider,
)
from tests.faults.forgeries import Receipt, changed, looking, measuring, receipt_of, restate
from tests.faults.searches import KINDS, SEARCHES

NAMES = tuple(SEARCHES)
SOLVED = tuple(name for name in NAMES if KINDS[name][2] == "mixture")
"""Those whose totals take a while to state."""
QUICK = tuple(name for name in NAMES if name not in SOLVED)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_search_wrote_is_worked_out_but_for_what_it_claims(name: str) -> None:
    found = receipt_of(name)

    audit = check(found, pledged=found["pledged"])

    assert audit.differences == ()
    assert CALLERS in audit.believed
    assert audit.epsilon == pytest.approx(found["statement"]["epsilon"] or float("inf"))


def wider_throughout(found: Receipt) -> None:
    """More noise than was drawn in every step."""
    for line in measuring(found):
        wider(line, 4)


def margin_turned(found: Receipt) -> None:
    """A pass far below the target."""
    found["history"][-1].update(passed=True, margin=-500.0)
    found["ended"].update(reached=True, how="halted")


def threshold_forgotten(found: Receipt) -> None:
    """The first question of a sparse vector at the price of a later one."""
    looking(found)[0]["curve"] = {"lines": [{"xi": "0", "rho": "0", "gaussian": "0"}]}


def level_raised(found: Receipt) -> None:
    """A level of a noise reduction reached for half of what it rose by."""
    for line in measuring(found)[-1:]:
        line["curve"]["lines"][0]["xi"] = str(Fraction(line["curve"]["lines"][0]["xi"]) / 2)


def looks_left_out(found: Receipt) -> None:
    """Verdicts that nobody paid for."""
    found["bill"] = measuring(found)
    for rung in found["history"]:
        rung.update(margin=None, std=None, guard=None, accuracy=None, error=None)


FORGERIES: dict[str, tuple[str, Callable[[Receipt], object]]] = {
    "more noise throughout, looks in balance": ("search", lambda found: cheaper_throughout(found, 4)),
    "more noise on a rung": ("search, Gaussian check", lambda found: cheaper_throughout(found, 4)),
    "wider Laplace noise": ("search, Laplace", lambda found: cheaper_throughout(found, 4)),
    "wider floating Laplace noise": ("search, floating Laplace", wider_throughout),
    "a step of several left out": (
        "search, several steps to a rung",
        lambda found: measuring(found)[0].update(count=1),
    ),
    "a pass at a margin of −500": ("search", margin_turned),
    "a look without the noise of its price": ("search, sure", lambda found: found["history"][0].update(std=0.5)),
    "a look on the training part": ("search", lambda found: looking(found)[0].update(part="data/train")),
    "training on the held-out part": ("search", lambda found: measuring(found)[-1].update(part="data/held")),
    "a threshold at no price": ("search, sparse vector", threshold_forgotten),
    "a level at half its price": ("search, noise reduction", level_raised),
    "looks left out": ("search, a check dearer than training", looks_left_out),
    "another sensitivity than the threshold leads to": (
        "search",
        lambda found: [each["facts"].update(sensitivity=1) for each in (*looking(found), found["asked"]["check"])],
    ),
    "another guard": ("search, sure", lambda found: found["history"][0].update(guard=0.0)),
    "an accuracy that is not its margin's": (
        "search, a public number",
        lambda found: found["history"][0].update(accuracy=0.99),
    ),
    "a patience that it did not have": (
        "search",
        lambda found: found["asked"].update(patience={"looks": 2, "min gain": "1/200"}),
    ),
    "a verdict in the middle that passed": ("search", lambda found: found["history"][0].update(passed=True)),
}


@pytest.mark.parametrize("how", FORGERIES)
@pytest.mark.parametrize("restated", [False, True])
def test_a_forgery_is_noticed(how: str, restated: bool) -> None:
    name, forge = FORGERIES[how]

    found = changed(name, forge)

    assert not believes(name, check(restate(found) if restated else found))


GAUSSIAN = ("search, Gaussian throughout", "search, Gaussian throughout, no pledge")
"""Whose receipts state a μ, with a pledge and without."""


@pytest.mark.parametrize("name", GAUSSIAN)
def test_a_bill_of_gaussian_steps_states_its_mu(name: str) -> None:
    found = receipt_of(name)

    profile = Fraction(found["statement"]["curve"]["lines"][0]["gaussian"])

    assert found["statement"][MU] == pytest.approx(math.sqrt(2 * profile), rel=1e-15)
    assert found["statement"][MU] ** 2 >= 2 * profile


@pytest.mark.parametrize("name", GAUSSIAN)
@pytest.mark.parametrize("factor", [0.5, 0.999, 1.001])
def test_another_mu_is_noticed(name: str, factor: float) -> None:
    found = changed(name, lambda found: found["statement"].update({MU: factor * found["statement"][MU]}))

    assert any("its lines lead to μ" in said for said in check(found).differences)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_a_mu_that_is_left_out_or_is_no_number_is_noticed(name: str) -> None:
    assert check(changed(name, lambda found: found["statement"].pop(MU))).differences
    assert check(changed(name, lambda found: found["statement"].update({MU: None}))).differences
    assert check(changed(name, lambda found: found["statement"].update({MU: "0.1"}))).differences


@pytest.mark.parametrize("name", ["search", "search, Laplace", "search, sparse vector", "search, no pledge"])
def test_a_mu_where_not_all_noise_was_gaussian_is_noticed(name: str) -> None:
    """The noise of the last rung of the first is too narrow for a Gaussian profile, and so is that of the last."""
    assert MU not in receipt_of(name)["statement"]
    found = changed(name, lambda found: found["statement"].update({MU: 100.0}))

    assert any("not all noise was Gaussian" in said for said in check(found).differences)


def test_a_step_before_the_first_rung_is_named() -> None:
    audit = check(receipt_of("search, after other steps"))

    assert any("line 1, 'Gaussian', came before the first rung" in said for said in audit.believed)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(forgeries(QUICK))
def test_no_forgery_of_a_search_lowers_epsilon(forgery: tuple[str, Receipt]) -> None:
    assert not fools(*forgery)


@settings(derandomize=True, deadline=None, max_examples=15)
@given(forgeries(SOLVED))
def test_no_forgery_of_a_search_under_a_mixture_of_orders_lowers_epsilon(forgery: tuple[str, Receipt]) -> None:
    assert not fools(*forgery)


def test_the_generator_finds_what_an_audit_without_budgets_lets_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: were lines compared with their own facts only, more noise than was drawn would be believed."""
    monkeypatch.setattr(retrace, "within", lambda item, budget: True)

    name, forged = first_that_fools(("search, Laplace", "search, public"))

    assert lowered(name, forged)
