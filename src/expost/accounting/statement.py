"""Statements: what was spent as (ε, δ), under the pledge that was on record before the first release.

A pledge that was looked for afterwards proves nothing, so pledges take promises only. Those who keep a pledge beside
what was spent under it come here: odometers, releases, and whatever reads a record. Import-linter keeps it so.
"""

import math

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge


def stated(spent: Spent, pledge: Pledge | None) -> AdpEpsilon:
    """The ε of what was spent, read as the promise of a run that always stops here; infinite without a pledge."""
    return AdpEpsilon(math.inf) if pledge is None else pledge.epsilon(Promise(spent.curve))


def stated_loss(spent: Spent, pledge: Pledge | None) -> AdpEpsilon:
    """The larger ε that the privacy loss itself exceeds with probability δ at most; infinite without a pledge."""
    return AdpEpsilon(math.inf) if pledge is None else pledge.probabilistic(Promise(spent.curve))
