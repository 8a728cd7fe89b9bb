"""Numbers as a reader sees them: a bound is rounded to the safe side."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal


def price(epsilon: float) -> str:
    """Three significant digits, rounded up: a bound is never shown smaller than it is.

    >>> price(0.39101), price(12), price(0.0000004207), price(float("inf"))
    ('0.392', '12.0', '4.21e-7', '∞')
    """
    return _rounded(epsilon, ROUND_CEILING)


def price_within(cap: float, epsilon: float) -> str:
    """The same of a total under a cap: what has reached its cap is shown as the cap is, and never as more.

    >>> price_within(0.15000000000000002, 0.15000000000000002), price_within(3.0, 0.39101)
    ('0.15', '0.392')
    """
    return f"{cap:g}" if epsilon == cap else price(epsilon)


def at_most(epsilon: float) -> str:
    """The same, rounded down: what there is room for is never shown larger than it is.

    >>> at_most(0.39199), at_most(0.0)
    ('0.391', '0')
    """
    return _rounded(epsilon, ROUND_FLOOR)


def measured(accuracy: float, half: float, asked: float | None = None) -> str:
    """A noisy share with half the range of its noise, told apart from what was asked for.

    >>> measured(0.8291, 0.0038), measured(0.6296, 0.00002, 0.63)
    ('82.9 % ± 0.4', '62.96 % ± 0.002')
    """
    return f"{apart(100 * accuracy, None if asked is None else 100 * asked, 1)} % ± {half_width(100 * half, 1)}"


def apart(number: float, other: float | None, places: int) -> str:
    """A number with at least these decimal places, and with as many more as it takes to differ from the other.

    >>> apart(0.6296, 0.63, 3), apart(0.612, 0.63, 3), apart(0.63, 0.63, 3)
    ('0.6296', '0.612', '0.630')
    """
    for more in range(places, places + 6):
        if other is None or f"{number:.{more}f}" != f"{other:.{more}f}":
            return f"{number:.{more}f}"
    return f"{number:.{places}f}"


def half_width(half: float, places: int) -> str:
    """Half a range, rounded to these decimal places, or to one digit where that would leave nothing of it.

    >>> half_width(0.38, 1), half_width(0.002, 1), half_width(0.0, 1)
    ('0.4', '0.002', '0.0')
    """
    shown = f"{half:.{places}f}"
    return shown if float(shown) or not half else f"{Decimal(f'{half:.0e}'):f}"


def margin(records: float, half: float) -> str:
    """A noisy number of records above or below the target, with half the range of its noise.

    >>> margin(6.2, 3.8), margin(-81.2, 5.4)
    ('+6.2 ± 3.8', '−81.2 ± 5.4')
    """
    return f"{with_minus(f'{records:+.1f}')} ± {half:.1f}"


def signed(number: float) -> str:
    """A number with its sign, on an axis.

    >>> signed(5), signed(-2.5), signed(0)
    ('+5', '−2.5', '0')
    """
    return with_minus(f"{number:+g}") if number else "0"


def points(error: float) -> str:
    """An error in percentage points.

    >>> points(0.0123), points(0.00004)
    ('1.2 points', '0.004 points')
    """
    return f"{half_width(100 * error, 1)} points"


def gained(gain: float, half: float, asked: float) -> str:
    """A noisy gain in percentage points, which may be a loss, with half its range, told apart from what was asked for.

    >>> gained(-0.0066, 0.009, 0.03)
    '−0.7 ± 0.9 points'
    """
    return f"{with_minus(apart(100 * gain, 100 * asked, 1))} ± {half_width(100 * half, 1)} points"


def gain(share: float) -> str:
    """A gain in percentage points as it was typed.

    >>> gain(0.03), gain(0.01)
    ('3 points', '1 point')
    """
    typed = f"{float(Decimal(repr(share)) * 100):.6g}"
    return f"{typed} point{'s' * (typed != '1')}"


def plain(share: float) -> str:
    """A share as the percentage that was typed.

    >>> plain(0.825), plain(0.001), plain(0.5)
    ('82.5 %', '0.1 %', '50 %')
    """
    return f"{float(Decimal(repr(share)) * 100):.6g} %"


def most(share: float) -> str:
    """A share that is a bound, rounded up."""
    return f"{_rounded(min(1.0, share) * 100, ROUND_CEILING)} %" if share < 1 else "100 %"


def least(share: float) -> str:
    """A share that is a lower bound, rounded down."""
    return f"{_rounded(share * 100, ROUND_FLOOR)} %"


def small(delta: float) -> str:
    """δ without padding: 1e-5."""
    return f"{delta:g}".replace("e-0", "e-")


def one_in(delta: float) -> str:
    """δ as odds, rounded to the larger."""
    return f"1 in {math.floor(Decimal(1) / Decimal(repr(delta))):,}"


def tied(text: str) -> str:
    """The text with no-break spaces where a line must not end: a number stays beside its sign."""
    tie = "\N{NO-BREAK SPACE}"
    return text.replace(" = ", f"{tie}={tie}").replace(" ± ", f"{tie}±{tie}").replace(" %", f"{tie}%")


def with_minus(number: str) -> str:
    """The number with a minus sign that is as wide as its plus."""
    return number.replace("-", "\N{MINUS SIGN}")


def _rounded(value: float, rounding: str) -> str:
    if not math.isfinite(value):
        return "∞"
    number = Decimal(repr(value))
    if not number:
        return "0"
    digits = number.quantize(Decimal(1).scaleb(number.adjusted() - 2), rounding)
    return f"{digits:f}" if -5 < number.adjusted() <= 5 else f"{digits:.2e}"
