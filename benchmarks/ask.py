"""Asking: the stated ε of answers within a share of each truth, beside an oracle and beside doubling.

The oracle knows the answers, releases once and states the Gaussian profile of the least that meets the target. Doubling
releases, and while error bars are too long releases anew at twice the ε, in three ways. ``doubling`` is like ours:
its bars hold at whichever round it ends, and planned stops state all rounds so far. ``plain_doubling`` takes ±1.96
standard errors at each round, which miss more often than they say, and states planned stops. ``naive_doubling`` also
states the profile at the whole δ, as if the last round had been fixed beforehand, which is not a valid statement.
``over_doubling`` is beside the first, at equal confidence.

All of these have Gaussian noise, as ours has. For a single question whose groups share no row Laplace noise is the
better one: ``laplace_oracle`` and ``laplace_doubling`` are the same at equal confidence with that, for counts, and
state the sum of their ε, at a δ of 0.

Groups too small for the target end as fewer than the same size for all, and what not even the oracle answers below the
largest ε is left out. A run that leaves a group open counts as dearer than all others in a median; means are of the
others. Tables are Adult, and one like TPC-H's lineitem.

Beside OpenDP's Gaussian counts: the standard deviation at the (ε, δ) that we state, one release each. Beside Tumult
Analytics, in an environment of its own and with a JVM, whose counts have geometric noise by default: the same, and the
distance that errors stay within at our confidence. Without a JVM these two are missing. And the time of a question to
the command line, from process start, with the bytecode that an installation has.
"""

import json
import math
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from statistics import fmean, median

import numpy as np
import opendp.prelude as dp
from scipy.special import ndtri

from benchmarks.harness import Progress
from benchmarks.quality.limited import Limits, limited
from benchmarks.quality.tools import PEERS, Peer
from expost.accounting.claim import Promise
from expost.accounting.curve import Linear
from expost.accounting.gaussian import gaussian_epsilon
from expost.accounting.stops import PlannedStops
from expost.datasets.adult import load
from expost.jobs.asking.answer import Answer
from expost.jobs.asking.planning import FIRST
from expost.jobs.asking.run import ask
from expost.noise import Floats, SeededNoise
from expost.private import Neighbours
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source.frames import Format, write_table
from expost.tabular.table import Table

DELTA, CONFIDENCE, WIDTH = 1e-5, 0.95, 1.959963984540054
SHARES = (5, 2)
"""Targets, in per cent of each truth."""
ADULT = ("education", "marital-status", "workclass", "occupation", "relationship", "race")
LINES, MILLION = 100_000, 10**6
FLAGS = {("A", "F"): 0.2467, ("N", "F"): 0.0064, ("N", "O"): 0.5000, ("R", "F"): 0.2469}
"""The shares of return flag and line status in TPC-H."""
MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
MOST_QUANTITY = 50
SUPPLIERS = 25
REPEATS, DOUBLINGS = 9, 300
START, ROUNDS = 1 / 256, 10
"""The ε that doubling begins with, and how often it doubles at most."""
TURNS = 3
ANSWERED = (
    "env", "-u", "PYTHONDONTWRITEBYTECODE", "sh", "-c", '"$@"; ended=$?; [ $ended -eq 0 ] || [ $ended -eq 3 ]', "sh",
)  # fmt: skip
"""A question ends with 3 where a group stays open. Bytecode is kept, as it is where a package is installed."""
EQUAL = (10, 100)
"""Distances of counts that are released once, beside OpenDP's and Tumult's."""
TUMULT: tuple[Peer, ...] = (
    Peer("tumult", "tumult_counts.py", ("tmlt.analytics==0.21.0",), "tumult.txt", lambda table, epsilon: ()),
)
"""Tumult Analytics; empty, it is left out."""
NOISY = 4_000
"""Groups whose noise tells how far Tumult's counts are off."""


@dataclass(frozen=True, eq=False)
class Task:
    """A question, the table it is put to, and of each group its rows, its answer, and the noise in that per row's."""

    name: str
    question: str
    table: Table
    rows: Floats
    truth: Floats
    length: float = 1.0


def lines(rows: int) -> Table:
    """A table like TPC-H's lineitem, with suppliers that differ in size."""
    draws = np.random.default_rng(7)
    flags = draws.choice(len(FLAGS), rows, p=np.array([*FLAGS.values()]))
    shares = 1 / np.arange(1, SUPPLIERS + 1)
    columns = {
        "returnflag": np.array(["ANR".index(flag) for flag, _ in FLAGS])[flags],
        "linestatus": np.array(["FO".index(status) for _, status in FLAGS])[flags],
        "shipmode": draws.integers(0, len(MODES), rows),
        "priority": draws.integers(0, len(PRIORITIES), rows),
        "supplier": draws.choice(SUPPLIERS, rows, p=shares / shares.sum()),
        "quantity": draws.integers(0, MOST_QUANTITY, rows),
    }
    return Table(line_schema(), {name: codes.astype(np.uint8) for name, codes in columns.items()})


def line_schema() -> Schema:
    """The columns that are asked about."""
    lists = {"returnflag": tuple("ANR"), "linestatus": tuple("FO"), "shipmode": MODES, "priority": PRIORITIES}
    listed = tuple(Categorical(name, values, missing=Missing.DROP) for name, values in lists.items())
    numbers = (
        Integer("supplier", tuple(range(SUPPLIERS)), Missing.DROP),
        Integer("quantity", tuple(range(1, MOST_QUANTITY + 1)), Missing.DROP),
    )
    return Schema((*listed, *numbers), True, Neighbours.ADD_REMOVE)


def tasks() -> Iterator[Task]:
    """Counts by the columns of Adult; counts and sums of the lines."""
    people = load()
    for name in ADULT:
        rows = np.bincount(people.codes(name), minlength=people.domain[name]).astype(np.float64)
        yield Task(f"adult.{name}", f"count by {name}", people, rows, rows)
    made = lines(LINES)
    for by in ("returnflag, linestatus", "shipmode", "priority", "supplier"):
        columns = tuple(by.split(", "))
        size, cells = math.prod(made.domain[name] for name in columns), made.cells(columns)
        rows = np.bincount(cells, minlength=size).astype(np.float64)
        sums = np.bincount(cells, made.codes("quantity") + 1.0, size).astype(np.float64)
        yield Task(f"lines.{'-'.join(columns)}", f"count by {by}", made, rows, rows)
        length = math.hypot(1, MOST_QUANTITY)
        yield Task(f"lines.quantity-{'-'.join(columns)}", f"sum of quantity by {by}", made, rows, sums, length)


def oracle(task: Task, share: float, size: int) -> float:
    """The ε of the least single release that meets the target, by who knows the answers."""
    spare = np.where(task.rows >= size, share * np.abs(task.truth) / task.length, np.maximum(size - task.rows, 1e-9))
    return float(gaussian_epsilon((WIDTH / spare.min()) ** 2 / 2, DELTA))


@dataclass(frozen=True)
class Rounds:
    """Doubling: the ρ of each release, the width of its bars, and what all releases up to it are stated as."""

    rhos: tuple[float, ...]
    width: float
    stated: tuple[float, ...]


def ways() -> dict[str, Rounds]:
    """Doubling with bars and a statement that hold, with the usual bars, and with a statement to match those."""
    rhos = tuple(_rho(START * 2**place) for place in range(ROUNDS))
    totals = [Promise(Linear(Fraction(0), rho, rho)) for rho in map(Fraction, accumulate(rhos))]
    pledge = PlannedStops(tuple(totals), DELTA)
    planned = tuple(float(pledge.epsilon(each)) for each in totals)
    whole = tuple(float(gaussian_epsilon(rho, DELTA)) for rho in accumulate(rhos))
    width = float(-ndtri((1 - CONFIDENCE ** (1 / ROUNDS)) / 2))
    return {
        "doubling": Rounds(rhos, width, planned),
        "plain_doubling": Rounds(rhos, WIDTH, planned),
        "naive_doubling": Rounds(rhos, WIDTH, whole),
    }


def doubling(task: Task, share: float, size: int, plan: Rounds, draws: np.random.Generator) -> float:
    """The ε of all releases up to the first whose bars are short enough, each at twice the ε of the one before."""
    plain = task.length == 1.0
    for rho, stated in zip(plan.rhos, plan.stated, strict=True):
        std = 1 / math.sqrt(2 * rho)
        answers = task.truth + draws.normal(0, task.length * std, task.truth.shape)
        rows = answers if plain else task.rows + draws.normal(0, std * math.sqrt(2), answers.shape)
        half, above = plan.width * std * task.length, plan.width * std * (1.0 if plain else math.sqrt(2))
        if ((half <= share * (np.abs(answers) - half)) | (rows + above < size)).all():
            return stated
    return plan.stated[-1]


def laplace_oracle(task: Task, share: float, size: int) -> float:
    """The ε of the least single release of counts with Laplace noise that meets the target."""
    spare = np.where(task.rows >= size, share * task.truth, np.maximum(size - task.rows, 1e-9))
    return float(-math.log(1 - CONFIDENCE) / spare.min())


def laplace_doubling(task: Task, share: float, size: int, draws: np.random.Generator) -> float:
    """The sum of ε over doubling with Laplace noise, with bars that hold at whichever round it ends."""
    total, width = 0.0, -math.log(1 - CONFIDENCE ** (1 / ROUNDS))
    for place in range(ROUNDS):
        epsilon = START * 2**place
        total, half = total + epsilon, width / epsilon
        answers = task.truth + draws.laplace(0, 1 / epsilon, task.truth.shape)
        if ((half <= share * (np.abs(answers) - half)) | (answers + half < size)).all():
            break
    return total


def _rho(epsilon: float) -> float:
    """The ρ that a single release is stated as ε for."""
    low, high = 0.0, epsilon
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_epsilon(middle, DELTA) <= epsilon else (low, middle)
    return low


def answer(task: Task, share: int, seed: int) -> Answer:
    """Ours, with all defaults."""
    return ask(task.table, task.question, schema=task.table.schema, within=f"{share}%", noise=SeededNoise(seed))


def ratios(progress: Progress) -> dict[str, float]:
    """The stated ε of each task, and medians over tasks of ours over the oracle's and over doubling's."""
    figures, plans = dict[str, float](), ways()
    names = ("oracle", "mean_oracle", *plans, "laplace_oracle", "laplace_doubling")
    over: dict[str, list[float]] = {name: [] for name in names}
    for task in tasks():
        for share in SHARES:
            progress(f"{task.question} within {share} %")
            found, name = [answer(task, share, seed) for seed in range(REPEATS)], f"{task.name}.{share}"
            ours = [float(each.epsilon) if each.passed else math.inf for each in found]
            size, met = found[0].told[0].size, [epsilon for epsilon in ours if math.isfinite(epsilon)]
            least = oracle(task, share / 100, size)
            if least > found[0].outcome.recipe.max_epsilon:
                continue
            over["oracle"].append(median(ours) / least)
            over["mean_oracle"].append((fmean(met) if met else math.inf) / least)
            for way, plan in plans.items():
                draws = np.random.default_rng(share)
                doubled = median(doubling(task, share / 100, size, plan, draws) for _ in range(DOUBLINGS))
                over[way].append(median(ours) / doubled)
                figures[f"ask.{way}_epsilon.{name}"] = doubled
            if task.length == 1.0:
                draws = np.random.default_rng(share)
                doubled = median(laplace_doubling(task, share / 100, size, draws) for _ in range(DOUBLINGS))
                over["laplace_oracle"].append(median(ours) / laplace_oracle(task, share / 100, size))
                over["laplace_doubling"].append(median(ours) / doubled)
                figures[f"ask.laplace_doubling_epsilon.{name}"] = doubled
            figures |= {f"ask.epsilon.{name}": median(ours), f"ask.oracle_epsilon.{name}": least}
            figures[f"ask.reached.{name}"] = fmean(each.passed for each in found)
    summary = {f"ask.over_{name}": median(each) for name, each in over.items()}
    return summary | {"ask.over_oracle.worst": max(over["oracle"])} | figures


def beside_opendp(progress: Progress) -> dict[str, float]:
    """``ask.std_over_opendp``: our standard deviation over OpenDP's, of counts released once at equal (ε, δ)."""
    people, figures = load(), dict[str, float]()
    for distance in EQUAL:
        progress(f"counts within {distance} beside OpenDP's")
        found = ask(people, "count by education", schema=people.schema, within=distance, noise=SeededNoise(1))
        ours = distance / found.outcome.recipe.width(FIRST)
        figures[f"ask.std_over_opendp.{distance}"] = ours / opendp_std(float(found.epsilon))
    return figures


def beside_tumult(progress: Progress) -> dict[str, float]:
    """``ask.std_over_tumult`` and ``ask.half_over_tumult``: ours over Tumult's, of counts released once, likewise."""
    people, figures = load(), dict[str, float]()
    for tool in TUMULT:
        python = tool.environment(progress)
        for distance in EQUAL if python is not None else ():
            progress(f"counts within {distance} beside Tumult's")
            found = ask(people, "count by education", schema=people.schema, within=distance, noise=SeededNoise(1))
            with tempfile.TemporaryDirectory(prefix="expost-tumult-") as folder:
                out = Path(folder) / "noise.json"
                given = [str(out), repr(float(found.epsilon)), repr(DELTA), str(NOISY), str(CONFIDENCE)]
                if limited([str(python), str(PEERS / tool.program), *given], Limits()).failure:
                    continue
                theirs = json.loads(out.read_text())
            ours = distance / found.outcome.recipe.width(FIRST)
            figures[f"ask.std_over_tumult.{distance}"] = ours / theirs["std"]
            figures[f"ask.half_over_tumult.{distance}"] = ours * WIDTH / theirs["half"]
    return figures


def opendp_std(epsilon: float) -> float:
    """The scale of OpenDP's Gaussian counts at this ε and our δ."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)

    def stated(scale: float) -> float:
        approximate = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=scale))
        return float(dp.c.make_fix_delta(approximate, DELTA).map(1.0)[0])  # type: ignore[no-untyped-call]  # OpenDP's

    low, high = 1e-2, 1e6
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if stated(middle) <= epsilon else (middle, high)
    return high


def times(progress: Progress) -> dict[str, float]:
    """Seconds from process start of a question on Adult, and on a Parquet file of a million lines."""
    figures = dict[str, float]()
    with tempfile.TemporaryDirectory(prefix="expost-ask-") as folder:
        for name, table, by in (("adult", load(), "education"), ("million", lines(MILLION), "shipmode")):
            file, schema = Path(folder) / f"{name}.parquet", Path(folder) / f"{name}.toml"
            write_table(file, table.decode(SeededNoise(1)), Format.PARQUET)
            schema.write_text(table.schema.dumps(), encoding="utf-8")
            command = [
                *ANSWERED, str(Path(sys.executable).with_name("expost")), "ask", str(file), "--schema", str(schema),
                f"count by {by}", "--within", "5%",
            ]  # fmt: skip
            ran = []
            for turn in range(TURNS):
                progress(f"a question about {name}, {turn + 1} of {TURNS}")
                ran.append(limited([*command, "--out", str(Path(folder) / f"{name}-{turn}")], Limits()))
                if ran[-1].failure:
                    raise RuntimeError(f"a question about {name} did not end: {ran[-1].failure}")
            figures[f"ask.{name}_seconds"] = median(each.wall_seconds for each in ran)
            figures[f"ask.{name}_cpu_seconds"] = median(each.cpu_seconds for each in ran)
    return figures


def run(progress: Progress) -> dict[str, float]:
    """``ask.over_oracle``, ``ask.over_doubling``, the error beside OpenDP's and Tumult's, and the times."""
    return ratios(progress) | beside_opendp(progress) | beside_tumult(progress) | times(progress)
