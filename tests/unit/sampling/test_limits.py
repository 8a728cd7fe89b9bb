"""What may be asked of a sampler: the last value allowed and the first refused."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from expost.errors import InvalidValue
from expost.sampling import limits

SLIVER = Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("limit", "allowed", "refused"),
    [
        (limits.bound, 1, 0),
        (limits.variance, Fraction(2**104), 2**104 + SLIVER),
        (limits.variance, SLIVER, Fraction(0)),
        (limits.scale, Fraction(2**51), 2**51 + SLIVER),
        (limits.scale, SLIVER, Fraction(0)),
        (limits.coin_probability, Fraction(0), -SLIVER),
        (limits.coin_probability, Fraction(1), 1 + SLIVER),
        (limits.size, 0, -1),
    ],
)
def test_the_last_value_allowed_is_returned_and_the_next_refused(
    limit: Callable[[Fraction | int], Fraction | int], allowed: Fraction | int, refused: Fraction | int
) -> None:
    assert limit(allowed) == allowed
    with pytest.raises(InvalidValue):
        limit(refused)
