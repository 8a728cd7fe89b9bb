"""The jobs from end to end: what a whole run asked of the sampler, worked out again, is what it was billed."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from expost.accounting.claim import Spent
from expost.accounting.curve import Linear
from expost.jobs.finetuning.run import finetune
from expost.jobs.synthesis.run import synthesize
from expost.judge import Balanced, Budgeted, Judge
from expost.ladder import Ladder
from expost.ledger import MemoryLedger
from expost.mechanisms.urn import HALVING
from expost.noise import SeededNoise
from expost.private import Neighbours, split
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional
from expost.tabular.table import Table
from expost.training.head.gradient import IntegerSums
from expost.training.tune import tune
from tests.bills.recording import ROUNDING, Draw, Kind, RecordingNoise, sampled_cost
from tests.unit.examples import ALPHA, budget, people, rehearsal
from tests.unit.report.examples import blobs, customers, schema
from tests.unit.training.tunings import Commonest

COUNT = 600
HELD = Fraction(2, 5)


def recorder() -> RecordingNoise:
    return RecordingNoise(SeededNoise(3))


def of_kind(noise: RecordingNoise, *kinds: Kind) -> list[Draw]:
    """The requests of these kinds, in order."""
    return [draw for draw in noise.asked if draw.kind in kinds]


def gaussian_rho(draws: list[Draw], l2_squared: int) -> Fraction:
    """Σ Δ²/(2σ²) over the requests."""
    return sum((l2_squared / (2 * Fraction(draw.parameter)) for draw in draws), Fraction(0))


def test_a_split_holds_records_out_by_coins_of_the_share_asked_for() -> None:
    noise = recorder()

    split(people(*range(50)), HELD, noise)

    assert noise.asked == [Draw("coins", HELD, 50)]


def test_a_finetuned_head_is_billed_for_the_steps_and_the_noise_it_asked_for() -> None:
    """Accuracy 0.99 is out of reach, so every release is looked at; the bill is the larger part's."""
    noise, ledger = recorder(), MemoryLedger()

    done = finetune(
        *blobs(COUNT), accuracy=0.99, start=Fraction(5, 2), releases=3, epochs=2, epochs_between=1, validation=0.4,
        noise=noise, ledger=ledger,
    )  # fmt: skip

    held, *coins = of_kind(noise, "coins")
    drawn = of_kind(noise, "discrete_gaussian")
    questions = [draw for draw in drawn if draw.shape == ()]
    (variance,) = {Fraction(draw.parameter) for draw in drawn if draw.shape != ()}
    steps = sum(draw.shape[0] for draw in drawn if isinstance(draw.shape, tuple) and draw.shape)
    (rate,) = {Fraction(draw.parameter) for draw in coins}
    multiplier = mp.sqrt(int(variance - 3)) / IntegerSums.reach
    assert held == Draw("coins", HELD, COUNT)
    assert (steps, len(questions), rate) == (40, 3, Fraction(1, 10))
    for alpha in (2, 16):
        trained, asked = steps * sampled_cost(rate, multiplier, alpha), alpha * gaussian_rho(questions, 99**2)
        cost = max(trained, float(asked))
        assert cost <= done.release.spent.at(alpha) <= cost * (1 + ROUNDING)
        assert trained + float(asked) <= ledger.spent.at(alpha) * (1 + ROUNDING)


@pytest.mark.parametrize("check", [Balanced(), Budgeted(budget(1).epsilon)])
def test_a_synthetic_table_is_billed_for_the_noise_it_asked_for(check: Judge) -> None:
    """Four columns alone, a tree over the three that are no target, its pairs and the target's, and the questions.

    On the last rung the one pair that is left is scored, which one record moves by 1, and not worth measuring.
    """
    noise, ledger, form = recorder(), MemoryLedger(), schema()

    done = synthesize(
        customers(form, COUNT), schema=form, target="renewed", accuracy=0.99, check=check, validation=HELD,
        ladder=Ladder.of([1, 2, 5], alpha=ALPHA), query=budget(1), learner=Conditional(), noise=noise, ledger=ledger,
    )  # fmt: skip

    alone, *later = of_kind(noise, "discrete_gaussian")
    rungs, questions = [draw for draw in later if draw.shape != ()], [draw for draw in later if draw.shape == ()]
    scores, counts = ([draw for draw in rungs if (draw.shape == (1,)) is scored] for scored in (True, False))
    steps = gaussian_rho(scores, 1) + gaussian_rho(counts, 5)
    trained = gaussian_rho([alone], 4) + tree_rho(noise, ledger, draws=2) + steps
    asked = gaussian_rho(questions, 99**2)
    assert of_kind(noise, "coins") == [Draw("coins", HELD, COUNT)]
    assert (len(scores), len(counts), len(questions)) == (1, 3, 3)
    assert done.release.spent.at(ALPHA) == Spent(Linear(Fraction(0), max(trained, asked))).at(ALPHA)
    assert ledger.spent.at(ALPHA) == Spent(Linear(Fraction(0), trained + asked)).at(ALPHA)


def test_the_count_and_the_edges_are_billed_for_the_noise_they_asked_for() -> None:
    """One record moves the number of all by 1, and one cell on the grid of each of two columns.

    The rest is as above: three columns alone, one pair to choose, and three pairs. What read all records is added to
    what the dearer part costs.
    """
    money, age = (PrivateBins(name, 0, 60, 5, True, Closed.LEFT, Missing.FALLBACK) for name in ("money", "age"))
    form = Schema((money, age, Boolean("late", Missing.FALLBACK)), True, Neighbours.ADD_REMOVE)
    codes = {"money": [3, 30] * (COUNT // 2), "age": [9, 50] * (COUNT // 2), "late": [0, 1] * (COUNT // 2)}
    coded = Table(form.fine, {name: np.array(values, dtype=np.uint8) for name, values in codes.items()})
    noise, ledger = recorder(), MemoryLedger()

    done = synthesize(
        coded, schema=form, target="late", accuracy=0.99, ladder=Ladder.of([1, 2], alpha=ALPHA), query=budget(1),
        learner=Conditional(), noise=noise, ledger=ledger,
    )  # fmt: skip

    count, edges, alone, *later = of_kind(noise, "discrete_gaussian")
    rungs, questions = [draw for draw in later if draw.shape != ()], [draw for draw in later if draw.shape == ()]
    trained = gaussian_rho([edges], 2) + gaussian_rho([alone], 3) + tree_rho(noise, ledger, draws=1)
    dearer = max(trained + gaussian_rho(rungs, 3), gaussian_rho(questions, 99**2))
    assert [draw.shape for draw in (count, edges, alone)] == [(1,), (60 + 60,), (5 + 5 + 2,)]
    assert of_kind(noise, "coins") == [Draw("coins", Fraction(1, 5), COUNT)]
    assert (gaussian_rho([count], 1), gaussian_rho([edges], 2)) == (budget(1).rho / 50, budget(1).rho / 4)
    assert done.release.spent.at(ALPHA) == Spent(Linear(Fraction(0), gaussian_rho([count], 1) + dearer)).at(ALPHA)


def tree_rho(noise: RecordingNoise, ledger: MemoryLedger, draws: int) -> Fraction:
    """So many choices at ε²/8 each, for the ε on record: each chance asked for is that of a whole number of records."""
    (epsilon,) = (Fraction(entry.facts["epsilon"]) for entry, _, _ in ledger.lines if entry.what == "SpanningTree")
    falls = [(epsilon / 2 * short, int(epsilon / 2 * short / HALVING)) for short in range(COUNT)]
    possible = np.array([
        2.0 ** (level - top) * math.exp(HALVING * top - fall) for fall, level in falls for top in range(level + 1)
    ])  # fmt: skip
    chances = [float(draw.parameter) for draw in of_kind(noise, "bernoulli_real")]
    assert len(chances) >= draws
    assert all(np.abs(possible - chance).min() < 1e-12 for chance in chances)
    return draws * epsilon**2 / 8


def test_a_tuning_divides_by_the_coins_and_draws_evenly_from_the_configurations_it_was_given() -> None:
    """The number of runs is drawn by coins of its own, one at a time."""
    noise, configurations = recorder(), [Commonest("dear", 2.0), Commonest("cheap", 0.5)]

    tune(
        people(*[0] * COUNT), configurations, at_least=0.5, delta=1e-6, mean_runs=5, held=HELD, noise=noise,
        odometer=rehearsal(),
    )  # fmt: skip

    assert noise.asked[0] == Draw("coins", HELD, COUNT)
    assert {draw.shape for draw in of_kind(noise, "coins")[1:]} == {1}
    assert {draw.parameter for draw in of_kind(noise, "below")} == {2}
