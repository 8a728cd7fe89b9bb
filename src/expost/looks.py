"""Looks: how noisy a check will be along a ladder and what passes there, known before any data is touched."""

import math
from typing import TypeVar

from expost.accounting.claim import NOTHING, Promise
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import PublicCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.ladder import Planned, Priced
from expost.protocols import Check, Look

D = TypeVar("D")
U = TypeVar("U")


def planned_looks(
    mechanism: Priced, ladder: Planned, check: Check[D, U] | PublicCheck[U], *, prior: Promise = NOTHING
) -> tuple[Look | None, ...]:
    """How noisy the check will be on each rung and what passes there, known beforehand; None where it is not asked.

    How noisy a check is that is not one of ours, nobody says: not a number.
    """
    trained, asked, looks = prior, NOTHING, 0
    found: list[Look | None] = []
    for rung in ladder.rungs:
        trained = trained + mechanism.promise(rung.budget).times(rung.times)
        if isinstance(check, PublicCheck) or not rung.asked:
            found.append(None)
            continue
        price = check.price(looks, trained.as_spent(), asked.as_spent())
        asked, looks = asked + price.failed, looks + 1
        if isinstance(check, BalancedCheck | GaussianCheck | SparseVectorCheck):
            found.append(check.look(price))
        else:
            found.append(Look(math.nan, math.nan))
    return tuple(found)
