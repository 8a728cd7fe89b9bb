"""Tuning on public or invented data: a search with Optuna, which costs nothing."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, final

from expost.errors import InvalidValue, NotInstalled
from expost.noise import Noise

if TYPE_CHECKING:
    from optuna import Study, Trial

S = TypeVar("S")
T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Found(Generic[S, T]):
    """The best setting of a public search, what it made, and its score; no private data was read, so ε is 0."""

    epsilon: ClassVar[float] = 0.0
    setting: S
    value: T
    score: float


def search_public(
    train: Callable[[S], T],
    score: Callable[[T], float],
    space: Callable[["Trial"], S],
    *,
    noise: Noise,
    trials: int = 20,
) -> Found[S, T]:
    """Search settings with Optuna for the highest score, on public or invented data only: it costs nothing.

    ``space`` makes a setting of Optuna's suggestions, ``lambda trial: trial.suggest_float("rate", 0.01, 1, log=True)``
    for one. Sealed data cannot be read by any of the three; data that is private and not sealed must not be.
    """
    if trials < 1:
        raise InvalidValue(f"trials is {trials}; try at least one setting.")
    study = _study(noise)

    def attempt() -> Found[S, T]:
        trial = study.ask()
        setting = space(trial)
        value = train(setting)
        found = Found(setting, value, float(score(value)))
        if math.isnan(found.score):
            raise InvalidValue("the score of a setting is NaN; return a number, the higher the better.")
        study.tell(trial, found.score)
        return found

    return max((attempt() for _ in range(trials)), key=lambda found: found.score)


def _study(noise: Noise) -> "Study":
    try:
        import optuna  # noqa: PLC0415  optional, and slow to load
    except ImportError:
        raise NotInstalled("a public search needs optuna; install expost[training].", name="optuna") from None
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # or it would print that a study was created
    try:
        sampler = optuna.samplers.TPESampler(seed=noise.below(2**32))
        return optuna.create_study(direction="maximize", sampler=sampler)
    finally:
        optuna.logging.set_verbosity(verbosity)
