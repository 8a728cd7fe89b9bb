"""Shares and means with their intervals, and differences from the paper, in words."""

from paper.show.markdown import percent, scientific
from paper.summaries.compare import Compared
from paper.summaries.summary import Mean, Share


def plus_minus(found: Mean, digits: int = 4, *, scale: float = 1) -> str:
    """The mean and how far its interval reaches."""
    if found["mean"] is None:
        return "none"
    reach = "" if found["reach"] is None else f" ± {scale * found['reach']:.{digits}f}"
    return f"{scale * found['mean']:.{digits}f}{reach}".replace("-", "−")


def in_percent(found: Mean) -> str:
    """A mean share."""
    return plus_minus(found, 1, scale=100) + (" %" if found["mean"] is not None else "")


def of(found: Share) -> str:
    """So many of so many, and the interval of the share."""
    if found["interval"] is None:
        return "none"
    low, high = found["interval"]
    return f"{found['count']} of {found['of']} ({percent(low, 0)} to {percent(high, 0)})"


def verdict(found: Mean) -> str:
    """Whether a claim that the mean is above zero holds."""
    if found["mean"] is None or found["reach"] is None:
        return "cannot be told"
    if found["mean"] > found["reach"]:
        return "holds"
    return "does not hold" if found["mean"] < -found["reach"] else "is not decided"


def difference(compared: Compared) -> tuple[str, str]:
    """Ours minus the paper's, and why they differ, for a table."""
    return scientific(compared["difference"], 1), "rounding only" if compared["agrees"] else "**not explained**"
