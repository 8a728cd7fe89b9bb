"""Lines of a bill: what the cost of one step must be, worked out again from its own facts by the rule of its mechanism.

A rule needs nothing but the line. What the facts themselves must be follows from the settings of the run, and is the
matter of a procedure.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from expost.accounting.claim import NOTHING, Budget, Spent
from expost.accounting.curve import Curve, Linear, Tabulated, largest_rho
from expost.accounting.descent import Descent
from expost.accounting.gaussian import lattice_rho
from expost.bill import Item, by_part
from expost.errors import Unreadable
from expost.ledger import Entry
from expost.mechanisms.exponential import pure_parameter
from expost.mechanisms.laplace import pure_promise
from expost.numerics import up
from expost.receipts.notation import fraction, whole
from expost.receipts.untrusted import quoted

SAME = 1e-9
"""Relative difference up to which two computations agree: other machines round logarithms in another way."""
MOST_DESCENTS = 4
"""Kinds of gradient steps on one bill: working one out takes a tenth of a second, and a run of ours has one."""
MOST_PURE = 100
"""Kinds of Laplace noise on one bill: working one out takes ten milliseconds, and a rung of ours has one."""
SIDES = {"train", "held"}

Rule = Callable[[Entry, Curve], bool]


def faults(bill: Sequence[Item]) -> Iterator[str]:
    """What is wrong with single lines, and with what a balanced check spends."""
    _require_few(bill, ("rate", "noise multiplier"), MOST_DESCENTS)
    _require_few(bill, ("l1", "scale"), MOST_PURE)
    for place, item in enumerate(bill, start=1):
        if not set(item.entry.part.split("/")[1:]) <= SIDES:
            yield f"line {place} reads {quoted(item.entry.part)}, which is not a part that a split makes."
        rule = RULES.get(item.entry.what)
        if rule is not None and not rule(item.entry, item.spent.curve):
            yield f"the cost of line {place}, {item.entry.what}, does not follow from its facts."
    yield from _unbalanced(bill)
    yield from _unreduced(bill)


def _require_few(bill: Sequence[Item], names: tuple[str, str], most: int) -> None:
    if len({tuple(map(item.entry.facts.get, names)) for item in bill}) > most:
        raise Unreadable(f"the receipt has more than {most} kinds of steps that take long to work out.")


def at_their_word(bill: Sequence[Item]) -> Iterator[str]:
    """The lines that no rule of ours works out again."""
    for place, item in enumerate(bill, start=1):
        if item.entry.what not in RULES:
            yield f"line {place}, {quoted(item.entry.what)}, is taken at its word: it is not a step that expost knows."


def _unbalanced(bill: Sequence[Item]) -> Iterator[str]:
    """Each balanced check spends on the held-out part what the training part had spent beyond it, so a gap shows.

    Uses: balanced checks.
    """
    before: dict[str, Spent] = {}
    for place, item in enumerate(bill, start=1):
        part = item.entry.part
        if item.entry.what == "balanced check":
            trained, asked = (before.get(side, NOTHING.as_spent()) for side in (_sibling(part), part))
            if not same_number(
                up(largest_rho(trained.curve) - largest_rho(asked.curve)), up(largest_rho(item.spent.curve))
            ):
                yield f"line {place}, {item.entry.what}, does not balance what the lines before it spent."
        before[part] = before.get(part, NOTHING.as_spent()) + by_part([item])[part]


def _unreduced(bill: Sequence[Item]) -> Iterator[str]:
    """Each step of a noise reduction pays for what its level rises by, from nothing or from the level of another.

    Uses: Laplace noise reduction, pure ex post.
    """
    levels = {Fraction(0)}
    for place, item in enumerate(bill, start=1):
        if item.entry.what == "NoiseReduction":
            level = fraction(item.entry.facts["level"])
            if level - largest_xi(item.spent.curve) not in levels:
                yield f"line {place}, {item.entry.what}, does not pay for the level that it reached."
            levels.add(level)


def largest_xi(curve: Curve) -> Fraction:
    """What a line costs at every order alike; infinite, and so refused, for a table."""
    if isinstance(curve, Tabulated):
        raise Unreadable("the receipt has a table where a line belongs; it was changed.")
    return max(line.xi for line in curve.lines)


def _sibling(held: str) -> str:
    return f"{held.rpartition('/')[0]}/train"


def same_number(one: float, other: float) -> bool:
    """Whether two numbers agree."""
    return math.isclose(one, other, rel_tol=SAME)


def alike(one: Curve, other: Curve) -> bool:
    """Whether two curves agree, line by line or order by order, and in what is known beyond them."""
    if isinstance(one, Tabulated) or isinstance(other, Tabulated):
        return (
            isinstance(one, Tabulated)
            and isinstance(other, Tabulated)
            and one.orders == other.orders
            and all(map(same_number, one.values.tolist(), other.values.tolist()))
        )
    pairs = zip(one.lines, other.lines, strict=False)
    return len(one.lines) == len(other.lines) and all(_alike_lines(ours, theirs) for ours, theirs in pairs)


def _alike_lines(one: Linear, other: Linear) -> bool:
    if (one.gaussian is None) is not (other.gaussian is None):
        return False
    numbers = ((line.xi, line.rho, line.gaussian or Fraction(0)) for line in (one, other))
    return all(same_number(up(ours), up(theirs)) for ours, theirs in zip(*numbers, strict=True))


def _measured(entry: Entry, curve: Curve) -> bool:
    """Gaussian noise on integers, or on real numbers for those who accept floating point.

    Uses: discrete Gaussian mechanism.
    """
    reach, variance = _reach(entry), fraction(entry.facts["variance"])
    rho = reach / (2 * variance)
    profile = rho if entry.floating else lattice_rho(variance, reach)
    return curve == Linear(Fraction(0), rho, profile) and entry.floating is ("l2_squared" not in entry.facts)


def _reach(entry: Entry) -> Fraction:
    """The squared distance that one record moves the values by."""
    facts = entry.facts
    return fraction(facts["l2_squared"]) if "l2_squared" in facts else fraction(facts["l2"]) ** 2


def _spread(entry: Entry, curve: Curve) -> bool:
    """Laplace noise, by its pure ε.

    Uses: discrete Laplace mechanism; pure to Rényi.
    """
    return alike(curve, pure_promise(_pure(entry)).curve) and entry.floating is (entry.what == "FloatLaplace")


def _pure(entry: Entry) -> Fraction:
    return fraction(entry.facts["l1"]) / fraction(entry.facts["scale"])


def _reduced(entry: Entry, curve: Curve) -> bool:
    """A pure ε at every order."""
    return isinstance(curve, Linear) and curve == Linear(curve.xi, Fraction(0))


def _chosen(entry: Entry, curve: Curve) -> bool:
    """One or several exponential mechanisms.

    Uses: exponential mechanism curve.
    """
    draws, epsilon = whole(entry.facts.get("draws", 1)), fraction(entry.facts["epsilon"])
    return curve == Linear(Fraction(0), draws * epsilon**2 / 8)


def _asked(entry: Entry, curve: Curve) -> bool:
    """Gaussian noise on a question; its variance follows from the price.

    Uses: Gaussian checks.
    """
    if not isinstance(curve, Linear):
        return False
    reach = Fraction(whole(entry.facts["sensitivity"])) ** 2
    return curve.rho > 0 and curve == Linear(Fraction(0), curve.rho, lattice_rho(reach / (2 * curve.rho), reach))


def _asked_sparsely(entry: Entry, curve: Curve) -> bool:
    """The threshold once, and a pass.

    Uses: sparse vector cost.
    """
    if not isinstance(curve, Linear):
        return False
    facts = entry.facts
    once = 1 / (2 * fraction(facts["variance"]))
    passing = (1 if facts["monotone"] is True else 2) / fraction(facts["scale"])
    return curve.rho in (0, once) and curve.xi in (0, passing)


def _trained(entry: Entry, curve: Curve) -> bool:
    """Steps, rate and noise multiplier give the curve anew, at every order.

    Uses: Poisson-subsampled Gaussian.
    """
    facts = entry.facts
    descent = Descent(fraction(facts["rate"]), fraction(facts["noise multiplier"]))
    known = descent.promise(whole(facts["steps"])).curve
    return alike(curve, known) and str(facts["noise"]).startswith("floating") is entry.floating


RULES: Mapping[str, Rule] = {
    "Gaussian": _measured,
    "FloatGaussian": _measured,
    "Brownian": _measured,
    "Laplace": _spread,
    "FloatLaplace": _spread,
    "NoiseReduction": _reduced,
    "SpanningTree": _chosen,
    "Exponential": _chosen,
    "Head": _trained,
    "ModuleDescent": _trained,
    "sparse vector check": _asked_sparsely,
    "balanced check": _asked,
    "Gaussian check": _asked,
}
"""By the name that a step goes on record with."""


def within(item: Item, budget: Budget) -> bool:
    """Whether a step that measures has the noise that its budget calls for; true where no rule of ours says it."""
    entry = item.entry
    match entry.what:
        case "Gaussian" | "FloatGaussian" | "Brownian":
            return _reach(entry) / (2 * fraction(entry.facts["variance"])) == budget.rho
        case "Laplace" | "FloatLaplace":
            return _pure(entry) == budget.epsilon
        case "NoiseReduction":
            return largest_xi(item.spent.curve) == budget.epsilon
        case "Exponential":
            return fraction(entry.facts["epsilon"]) == pure_parameter(budget.rho)
        case "Head" | "ModuleDescent":
            descent = Descent(fraction(entry.facts["rate"]), fraction(entry.facts["noise multiplier"]))
            return descent.steps(budget) == entry.facts["steps"]
    return True
