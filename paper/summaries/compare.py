"""Our numbers beside printed ones, and intervals for shares."""

import math
from typing import TypedDict

from scipy.special import ndtri


class Compared(TypedDict):
    """A number as the paper prints it, ours, and ours minus the printed one."""

    paper: str
    ours: float
    difference: float
    agrees: bool


def compare(printed: str, ours: float) -> Compared:
    """Agreement means that ours, rounded to the printed digits, is the printed number."""
    difference = ours - float(printed)
    # The slack is for ours lying just beside a tie, where rounding up of bounds decides.
    return Compared(paper=printed, ours=ours, difference=difference, agrees=abs(difference) <= 0.5001 * unit(printed))


def unit(printed: str) -> float:
    """One in the last printed digit: 0.001 for "9.292", 1e-6 for "9.292e-3"."""
    mantissa, _, exponent = printed.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def share_interval(successes: int, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share: near its confidence also for few repeats and shares near 0 or 1."""
    if not 0 <= successes <= count or count == 0:
        raise ValueError(f"{successes} of {count} is no share; give at least one repeat and no more successes than it.")
    z = float(ndtri((1 + confidence) / 2))
    share, spread = successes / count, z * z / count
    centre = (share + spread / 2) / (1 + spread)
    reach = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return max(0.0, centre - reach), min(1.0, centre + reach)
