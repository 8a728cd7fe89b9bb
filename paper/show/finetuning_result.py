"""What fine-tuning found, as it is stored."""

from typing import TypedDict

from paper.summaries.summary import Mean, Share


class Plan(TypedDict):
    """One kind of validation: the ε of each release by each rule, the best order there, and the noise of its checks.

    ``paper`` takes the best order at the stop, ``fixed`` one order for all stops, ``stops`` divides δ over them.
    ``guard`` is the least margin that passes, in records.
    """

    kind: str
    steps: list[int]
    order: float
    paper: list[float]
    orders: list[float]
    fixed: list[float]
    stops: list[float]
    check: list[float]
    guard: list[float]


class Case(TypedDict):
    """Searches with one kind of validation and one threshold; the means are over all of them, accepted or not.

    ``price`` is the ε by planned stops over that of the same kind without a confidence, where it has one.
    """

    kind: str
    threshold: float
    accepted: Share
    truly: Share
    truly_validation: Share
    paper: Mean
    fixed: Mean
    stops: Mean
    validation: Mean
    test: Mean
    releases: Mean
    price: Mean | None


class Result(TypedDict):
    """The data and settings, what releases cost and reach on average, and how searches end."""

    data: str
    digits: bool
    digest: str
    records: int
    width: int
    pool: int
    test: int
    delta: float
    start: float
    probe: float
    shares: list[float]
    learning_rate: float
    clip: float
    multiplier: float
    confidence: float
    plans: list[Plan]
    validation: list[float]
    reached: list[float]
    cases: list[Case]
