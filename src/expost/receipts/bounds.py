"""Bounds on a bill from outside: what takes long to add up and no run of ours writes is refused beforehand."""

from collections.abc import Sequence

from expost.accounting.curve import Highest, Tabulated
from expost.bill import Item
from expost.errors import Unreadable

MOST_CROSSED = 20
"""Lines whose cost is a maximum of several: sums of those have ever more lines, and ours have one each."""
MOST_GRIDS = 4
"""Different lists of orders: sums are over all of them together, and ours have one."""
MOST_PARTS, DEEPEST = 20, 8
"""Parts that are read, and how often one may be a part of another: ours are two, of one split."""


def require_modest(bill: Sequence[Item]) -> tuple[Item, ...]:
    """The bill, refused if adding it up would take long."""
    curves = [item.spent.curve for item in bill]
    crossed = sum(isinstance(curve, Highest) for curve in curves)
    grids = {curve.orders for curve in curves if isinstance(curve, Tabulated)}
    parts = {item.entry.part for item in bill}
    if crossed > MOST_CROSSED or len(grids) > MOST_GRIDS:
        raise Unreadable("the bill has costs of more kinds than a run of expost; it was changed.")
    if len(parts) > MOST_PARTS or any(part.count("/") > DEEPEST for part in parts):
        raise Unreadable("the bill is about more parts than a run of expost reads; it was changed.")
    return tuple(bill)
