"""What the comparison with other methods found, as it is stored."""

from typing import TypedDict


class Interval(TypedDict):
    """A geometric mean and its interval of 95 %."""

    mean: float
    low: float
    high: float


class Row(TypedDict):
    """One method: the guard it needs, what it states, our price over its own seed by seed, and what it reaches."""

    method: str
    guard: float
    price: Interval
    quartiles: list[float]
    ours_over: Interval
    reached: float
    reached_interval: list[float]
    accuracy: float
    rungs: float


class Panel(TypedDict):
    """One predictor: how much it measures, the prices of the ladder, and every method."""

    predictor: str
    target: float
    pairs: int
    cells: int
    levels: list[float]
    rows: list[Row]


class Result(TypedDict):
    """All predictors, and what they share."""

    delta: float
    held: float
    surely: float
    reported: int
    doublings: int
    panels: list[Panel]
