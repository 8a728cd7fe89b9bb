"""Which definitions survive post-processing, by exact search, and which admit a Brownian mechanism."""

import math
from dataclasses import dataclass
from typing import final

from expost import FiniteMechanism
from expost.accounting.convert import cks_offset, lemma_7_offset
from paper.engine.job import Job
from paper.exact.ladders import two_steps
from paper.exact.merging import GROWN, Measure, Mechanism, search
from paper.show.definitions import FIGURES, TITLE, Brownian, Result, Search, Verdict, draw, text

__all__ = ["FIGURES", "FULL", "QUICK", "TITLE", "VERSION", "draw", "run", "text"]

VERSION = 2
PAPER = {
    "pure": ("yes", "no"),
    "probabilistic": ("no", "yes"),
    "approximate": ("?", "—"),
    "Rényi": ("yes", "yes"),
    "zero-concentrated": ("yes", "yes"),
}
"""What the paper says of immunity and of a Brownian mechanism; a dash where its entry is not known to us."""


@final
@dataclass(frozen=True)
class Settings:
    """The tables that are searched, and the two-step Brownian run that every definition is put to.

    All tables of so many outputs whose probabilities are multiples of 1/parts, or 1/coarse where a check takes long.
    """

    outputs: int = 4
    parts: int = 10
    coarse: int = 6
    claim: float = math.log(2)
    rho: float = 0.05
    alpha: float = 5.0
    delta: float = 1e-3
    rhos: tuple[float, float] = (0.02, 0.1)
    cells: int = 60
    reaches: tuple[float, ...] = (2, 3, 4, 5, 6, 7, 8)


FULL, QUICK = Settings(), Settings(parts=5, coarse=3, cells=20, reaches=(3, 6))


def run(job: Job[Settings]) -> Result:
    """Both columns of the paper's table."""
    chosen = job.settings
    measures: dict[str, Measure] = {
        "pure": _excess,
        "probabilistic": FiniteMechanism.probabilistic_delta,
        "approximate": FiniteMechanism.approximate_delta,
        "Rényi": lambda each: _log(each.moment(chosen.alpha)),
    }
    searches = [search(name, each, chosen.parts, chosen.claim, chosen.outputs) for name, each in measures.items()]
    zcdp = search("zero-concentrated", _zcdp, chosen.coarse, chosen.rho, chosen.outputs)
    pure = [_excess(two_steps(chosen.rhos, chosen.cells, reach, 0)) for reach in chosen.reaches]
    runs = _brownian(chosen)
    kept = {"pure": pure[-1] <= pure[-2] + GROWN} | {row["notion"]: row["kept"] for row in runs}
    return Result(
        alpha=chosen.alpha,
        claim=chosen.claim,
        outputs=chosen.outputs,
        searches=[*searches, zcdp],
        brownian=runs,
        reaches=list(chosen.reaches),
        pure=pure,
        table=[_verdict(search, kept[search["notion"]]) for search in (*searches, zcdp)],
    )


def _verdict(search: Search, brownian: bool) -> Verdict:
    paper, ours = list(PAPER[search["notion"]]), ["no" if search["growth"] > 0 else "yes", "yes" if brownian else "no"]
    same = [theirs == each for theirs, each in zip(paper, ours, strict=True)]
    return Verdict(notion=search["notion"], paper=paper, ours=ours, same=same)


def _brownian(chosen: Settings) -> list[Brownian]:
    """The two-step run under each definition: its claim, what that was put to, and the limit it must keep."""
    alpha, delta, reach = chosen.alpha, chosen.delta, chosen.reaches[-1]
    renyi = two_steps(chosen.rhos, chosen.cells, reach, alpha)
    tail = renyi.raised(lambda y, epsilon: epsilon + lemma_7_offset(alpha, delta)).probabilistic_delta()
    stick = renyi.raised(lambda y, epsilon: epsilon + max(0.0, cks_offset(alpha, delta))).approximate_delta()
    zcdp = two_steps(chosen.rhos, chosen.cells, reach, 1)
    return [
        _kept("probabilistic", "αρ + Lemma 7", "δ", tail, delta),
        _kept("approximate", "αρ + CKS offset", "δ", stick, delta),
        _kept("Rényi", "αρ", "moment", renyi.moment(alpha), 1),
        _kept("zero-concentrated", "ρ", "moment", zcdp.zcdp_moment(0), 1),
    ]


def _kept(notion: str, claim: str, measure: str, found: float, limit: float) -> Brownian:
    return Brownian(notion=notion, claim=claim, measure=measure, found=found, limit=limit, kept=found <= limit + GROWN)


def _excess(mechanism: Mechanism) -> float:
    """The least that would have to be added to every claim to make it pure."""
    return max(atom.loss - atom.epsilon for loss in mechanism.losses() for atom in loss.atoms)


def _zcdp(mechanism: Mechanism) -> float:
    return _log(mechanism.zcdp_moment(0))


def _log(moment: float) -> float:
    return math.log(moment) if moment < math.inf else math.inf
