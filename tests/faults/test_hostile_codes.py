"""The README's own mechanism is total: no record can make it fail, which would tell that the record is there."""

import doctest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from expost import Budget, Odometer, Past, Private, SystemNoise
from expost.errors import MechanismFailed

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
USUAL = np.repeat([1, 2], [400, 60])
HOSTILE: dict[str, NDArray[Any]] = {
    "too large": np.array([5, *USUAL]),
    "far too large": np.array([10**15, *USUAL]),
    "negative": np.array([-1, *USUAL]),
    "not a number": np.array([np.nan, *USUAL]),
    "infinite": np.array([np.inf, *USUAL]),
    "nobody": np.array([], dtype=np.int64),
}


def shown(replaced: str = "", by: str = "") -> Any:
    """The class as the README shows it, or with a line of it replaced."""
    assert replaced in README
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(README.replace(replaced, by) if replaced else README):
        if example.source.startswith(("from", "import numpy", "counts =", "class NoisyWinner")):
            exec(example.source, names)
    return names["NoisyWinner"]()


def spend(winner: Any, codes: NDArray[Any]) -> Any:
    return Odometer().spend(winner, Private(codes), Budget.of(1, alpha=20), Past(), SystemNoise()).value


@pytest.mark.parametrize("codes", HOSTILE.values(), ids=HOSTILE)
def test_an_unexpected_code_does_not_make_it_fail(codes: NDArray[Any]) -> None:
    assert spend(shown(), codes) in range(5)


@pytest.mark.parametrize("kind", ["too large", "negative", "not a number"])
def test_counted_as_they_come_such_codes_do(kind: str) -> None:
    """The negative twin: the README as it was, which told by its failure that somebody had the code."""
    winner = shown("counts.evaluate(codes)", "np.bincount(codes, minlength=5)")

    with pytest.raises(MechanismFailed):
        spend(winner, HOSTILE[kind])
