"""Lines in whole numbers add up to the last bit as curves in fractions do, and a run's tab as its curves."""

from fractions import Fraction
from math import lcm

from hypothesis import given
from hypothesis import strategies as st

from expost.accounting.claim import NOTHING, Spent
from expost.accounting.curve import Curve, Highest, Linear, Tabulated
from expost.bill import joined
from expost.ledgers.lines import line_of, lines_together, whole_line
from expost.ledgers.slots import Tab
from expost.ledgers.terms import epsilon_terms, order_terms, zcdp_terms
from expost.numerics import DENOMINATOR_BITS

TERMS = epsilon_terms(3, 1e-6), order_terms(1, alpha=Fraction(5, 2)), zcdp_terms(1)
WIDE = 2**DENOMINATOR_BITS - 1
"""A divisor whose multiples are too large for an exact sum."""
costs = st.builds(Fraction, st.integers(0, 10**6), st.integers(1, 10**9) | st.just(WIDE))
gaussians = costs.map(lambda rho: Linear(Fraction(0), rho, rho))
lines = gaussians | st.builds(Linear, costs, costs)
crossing = st.builds(
    lambda low, more: Highest((Linear(low + 2, Fraction(1)), Linear(low, 1 + more / 10**16))), costs, costs
)
tables = costs.map(lambda cost: Tabulated.of([1.5, 2.0, 256.0], [float(cost), float(cost) + 1, float(cost) + 2]))
curves: st.SearchStrategy[Curve] = lines | crossing | tables


@given(lines)
def test_a_line_is_read_back_from_its_whole_numbers(line: Linear) -> None:
    assert line_of(whole_line(line)) == line


@given(lines, lines)
def test_lines_add_up_as_curves_do_where_their_divisor_allows_an_exact_sum(one: Linear, other: Linear) -> None:
    divisor = lcm(whole_line(one)[3], whole_line(other)[3])

    found = lines_together(whole_line(one), whole_line(other))

    if divisor.bit_length() > DENOMINATOR_BITS:
        assert found is None
    else:
        assert found is not None
        assert Spent(line_of(found)) == Spent(one) + Spent(other)


@given(st.lists(st.tuples(st.sampled_from(["data", "data/train", "data/held", "other"]), curves), max_size=5))
def test_a_tab_comes_to_what_the_curves_of_its_steps_do(steps: list[tuple[str, Curve]]) -> None:
    """Whatever is kept of a tab on the way, its amounts are those of the exact sums of all curves, rounded up once."""
    tabs, parts = {terms: Tab(terms, {}, named=False) for terms in TERMS}, dict[str, Spent]()
    for part, curve in steps:
        parts[part] = parts.get(part, NOTHING.as_spent()) + Spent(curve)
        tabs = {terms: tab.after(part, curve) for terms, tab in tabs.items()}

    for terms, tab in tabs.items():
        assert tab.slots() == {"own": terms.amount(joined(parts))}
