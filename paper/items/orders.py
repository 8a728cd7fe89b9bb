"""The formulas for other orders: ex-post zCDP of the search with a sparse vector check, and its noise."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost import Ladder, Spent
from expost.accounting.curve import Linear
from expost.accounting.sparse_vector import Calibration, calibrate_sparse_vector
from paper.engine.job import Job
from paper.show.orders import FIGURES, TITLE, Formula, Noise, Result, draw, text
from paper.summaries.compare import compare

__all__ = ["FIGURES", "FULL", "QUICK", "TITLE", "VERSION", "draw", "run", "text"]

VERSION = 1
PRINTED = {"ξ": "9.292e-3", "ρ": "3.541e-5"}
"""The paper's constants of the sparse vector check, for the full settings."""


@final
@dataclass(frozen=True)
class Settings:
    """The paper's ladder, the cost of its check and of its choice of queries at one order, and its held-out records."""

    alpha: int = 20
    low: float = 0.01
    high: float = 1.0
    rungs: int = 7
    check: str = "0.01"
    query: str = "0.01"
    held: int = 18089
    orders: tuple[float, ...] = (1.5, 2, 5, 10, 20, 50, 100)
    questions: tuple[int, ...] = (1, 2, 3, 6, 10, 20, 35, 50, 107, 200)


FULL, QUICK = Settings(), Settings(orders=(2, 20), questions=(1, 107))


def run(job: Job[Settings]) -> Result:
    """The constants, the formulas at every order for the first and last rung, and the noise of each check."""
    chosen = job.settings
    ladder = Ladder.geometric(chosen.low, chosen.high, chosen.rungs, alpha=chosen.alpha)
    check = Fraction(chosen.check)
    plain, monotone = (calibrate_sparse_vector(chosen.alpha, check, monotone=each) for each in (False, True))
    each_question = chosen.alpha / (2 * float(check))
    return Result(
        alpha=chosen.alpha,
        check=float(check),
        query=float(chosen.query),
        held=chosen.held,
        compared={"ξ": compare(PRINTED["ξ"], plain.xi), "ρ": compare(PRINTED["ρ"], plain.rho)},
        formulas=[
            _formula(level, alpha, chosen, plain)
            for level in (ladder.levels[0], ladder.levels[-1])
            for alpha in chosen.orders
        ],
        noise=[
            _noise("sparse vector", plain, chosen.held, each_question),
            _noise("sparse vector, monotone questions", monotone, chosen.held, each_question),
        ],
        questions=list(chosen.questions),
        gaussian=[math.sqrt(each_question * count) for count in chosen.questions],
        planned=math.sqrt(each_question * (chosen.rungs - 1)),
        balanced=[math.sqrt(chosen.alpha / (2 * budget.epsilon)) for budget in ladder.budgets[:-1]],
    )


def _formula(level: Fraction, alpha: float, chosen: Settings, check: Calibration) -> Formula:
    """The bill at one order of a run that stopped at a rung: the paper's formula, completed, and with the maximum."""
    query, train, plain = (
        Spent(Linear(Fraction(0), epsilon / chosen.alpha))
        for epsilon in (Fraction(chosen.query), level, Fraction(chosen.check))
    )
    sparse = Spent(Linear(Fraction(check.xi), Fraction(check.rho)))
    return Formula(
        rung=float(level),
        order=alpha,
        paper=(sparse + train).at(alpha),
        completed=(sparse + train + query).at(alpha),
        ours=(sparse.beside(train) + query).at(alpha),
        gaussian=(plain.beside(train) + query).at(alpha),
    )


def _noise(name: str, found: Calibration, held: int, each_question: float) -> Noise:
    total = math.hypot(found.sigma_1, found.sigma_2)
    return Noise(
        name=name,
        share=found.share,
        threshold=found.sigma_1,
        question=found.sigma_2,
        total=total,
        accuracy=total / held,
        xi=found.xi,
        rho=found.rho,
        wins_from=math.floor(total**2 / each_question) + 1,
    )
