"""From a list of codes to the commonest of them, once it is common enough among held-out records."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from expost.accounting.stops import PlannedStops
from expost.checks.confidence import Confidence
from expost.checks.question import CentredSum, accuracy_threshold
from expost.jobs.job import Result, capped
from expost.judge import BALANCED, Judge, planned_looks_of
from expost.ladder import Ladder
from expost.ledger import MemoryLedger
from expost.looks import planned_looks
from expost.mechanisms import Brownian, Gaussian
from expost.noise import Integers, Noise
from expost.numerics import Real
from expost.private import Neighbours, Private, split
from expost.receipts.notation import whole
from expost.receipts.procedures import Procedure, score_question
from expost.receipts.receipt import Commitment
from expost.receipts.testimony import Testimony
from expost.recorded import CheckOnRecord, ReadableLedger
from expost.report.answers import Reading
from expost.report.facts import PlannedStop
from expost.report.outcomes import outcome_facts
from expost.search import Line, planned_stops, search
from tests.unit.examples import ADD, counts, right
from tests.unit.jobs.commonest.report import CommonestJob

LADDER = replace(Ladder.of([1, 2, 4], alpha=20), asked=(0, 1, 2))


def mechanism(codes: int) -> Brownian[Integers]:
    return Brownian(Gaussian(counts(codes)))


def rebuild_commonest(told: Testimony) -> Procedure:
    """The run again, without its records."""
    return Procedure((), mechanism(whole(told.found["codes"])), score_question(told, 1), ("codes",))


def commonest(
    path: Path,
    *,
    codes: int,
    accuracy: Real,
    noise: Noise,
    check: Judge = BALANCED,
    ledger: ReadableLedger | None = None,
    on_pledge: Callable[[Commitment], None] = lambda fixed: None,
    on_step: Callable[[Reading], None] = lambda rung: None,
) -> Result[int]:
    asked, sure = accuracy_threshold(accuracy), Confidence.of(0.95, looks=3)
    question = CentredSum(right, asked, ADD)
    judge = check.check(question, LADDER.budgets[0], planned_looks_of(3, sure), sure)
    counting = mechanism(codes)
    pledge = PlannedStops(planned_stops(counting, LADDER, judge), 1e-5)
    planned = zip(pledge.table, LADDER.rungs, strict=True)
    stops = tuple(PlannedStop(stop.promise, stop.epsilon, rung) for stop, rung in planned)
    looks, job = planned_looks(counting, LADDER, judge), CommonestJob(codes)
    kept = MemoryLedger() if ledger is None else ledger
    odometer, _ = capped(
        pledge, pledge.promises, max_epsilon=None, neighbours=ADD, ledger=kept, noise=noise, rung="rung"
    )
    parts = split(Private(np.loadtxt(path, dtype=np.int64), ADD), 0.4, noise)

    def build(estimates: tuple[Any, ...]) -> int:
        return int(np.argmax(estimates[-1].values))

    def climbed(line: Line) -> None:
        on_step(Reading.of(line, pledge, asked=asked, held=None))

    told = partial(
        outcome_facts, job=job, title="Codes", measure="accuracy", asked=asked, held=None, check=judge,
        confidence=sure, looks=looks, stops=stops, reason="planned stops", neighbours=Neighbours.ADD_REMOVE.value,
        because=parts.because, cap=None,
    )  # fmt: skip
    fixed = Commitment(
        kind=job.kind, target=job.target, measure="accuracy", asked=asked, confidence=sure,
        check=CheckOnRecord.of(judge), neighbours=ADD.value, cap=None, pledge=pledge, reason="planned stops",
        stops=stops, looks=looks,
    )  # fmt: skip
    on_pledge(fixed)
    outcome = search(parts, counting, LADDER, build, judge, noise=noise, odometer=odometer, on_step=climbed)
    writers = {"npz": lambda folder: np.savez(folder / "model.npz", code=outcome.release.value)}
    return Result(outcome.release, outcome.ended, partial(told, outcome, kept), writers)
