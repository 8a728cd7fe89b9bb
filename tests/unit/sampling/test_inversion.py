"""Floating-point draws: each is the quantile of the uniform that its bytes make."""

from collections.abc import Callable
from typing import TypeAlias

import mpmath
import numpy as np
import pytest

from expost.sampling import Bytes, inversion

Script: TypeAlias = Callable[[bytes], Bytes]

CELLS = [0, 1, 2**40, 2**50, 2**51 - 1, 2**51, 3 * 2**50, 2**52 - 2**40, 2**52 - 1]
"""Some of the 2**52 that uniforms are the midpoints of: the first, the last, and both beside the middle."""


def gaussian_quantile(uniform: mpmath.mpf) -> mpmath.mpf:
    return mpmath.sqrt(2) * mpmath.erfinv(2 * uniform - 1)


def laplace_quantile(uniform: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log(2 * uniform) if 2 * uniform < 1 else -mpmath.log(2 - 2 * uniform)


@pytest.mark.parametrize(
    ("draw", "quantile"), [(inversion.gaussian, gaussian_quantile), (inversion.laplace, laplace_quantile)]
)
def test_a_draw_is_the_quantile_of_its_uniform(
    script: Script, draw: Callable[[Bytes, int], inversion.Floats], quantile: Callable[[mpmath.mpf], mpmath.mpf]
) -> None:
    """Whatever the twelve bits are that make no difference."""
    words = np.array([cell << 12 | 0xABC for cell in CELLS], "<u8")

    values = draw(script(words.tobytes()), len(CELLS))

    with mpmath.workdps(50):
        expected = [float(quantile((cell + mpmath.mpf(0.5)) / 2**52)) for cell in CELLS]
    assert values.tolist() == pytest.approx(expected, rel=1e-13, abs=0.0)
