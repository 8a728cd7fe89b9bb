"""The benchmark of asking: a miniature of it has every figure."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import ask

from expost.accounting.gaussian import gaussian_epsilon

FIGURES = (
    "epsilon",
    "oracle_epsilon",
    "doubling_epsilon",
    "plain_doubling_epsilon",
    "naive_doubling_epsilon",
    "laplace_doubling_epsilon",
    "reached",
)


def test_a_miniature_has_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    smaller = {
        "REPEATS": 1, "DOUBLINGS": 3, "ADULT": ("race",), "SHARES": (5,), "LINES": 20_000, "MILLION": 2_000, "TURNS": 1,
        "EQUAL": (50,), "TUMULT": (),
    }  # fmt: skip
    for name, value in smaller.items():
        monkeypatch.setattr(ask, name, value)

    figures = ask.run(lambda text: None)

    assert {f"ask.{each}.adult.race.5" for each in FIGURES} <= figures.keys()
    assert {"ask.over_oracle", "ask.over_doubling", "ask.std_over_opendp.50"} <= figures.keys()
    assert {"ask.over_laplace_oracle", "ask.over_laplace_doubling"} <= figures.keys()
    assert {"ask.adult_seconds", "ask.million_seconds"} <= figures.keys()
    assert all(value > 0 for name, value in figures.items() if "reached" not in name)


def test_a_question_that_no_run_answers_is_not_left_out_if_the_oracle_answers_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It counts as dearer than all others, as a run does that leaves a group open."""
    first, answered = next(ask.tasks()), ask.answer

    def unanswered(task: ask.Task, share: int, seed: int) -> SimpleNamespace:
        found = answered(task, share, seed)
        return SimpleNamespace(passed=False, epsilon=found.epsilon, told=found.told, outcome=found.outcome)

    for name, value in {"REPEATS": 1, "DOUBLINGS": 3, "SHARES": (5,), "tasks": lambda: [first]}.items():
        monkeypatch.setattr(ask, name, value)
    monkeypatch.setattr(ask, "answer", unanswered)

    figures = ask.ratios(lambda text: None)

    assert figures["ask.over_oracle"] == figures["ask.over_doubling"] == math.inf


def test_the_oracle_meets_the_target_of_the_smallest_group_and_no_more() -> None:
    rows = np.array([1000.0, 400.0, 3.0])
    task = ask.Task("counts", "count by g", ask.lines(10), rows, rows)

    stated = ask.oracle(task, 0.05, 200)

    std = 0.05 * 400 / ask.WIDTH
    assert stated == pytest.approx(gaussian_epsilon(1 / (2 * std**2), ask.DELTA), rel=1e-9)


def test_doubling_that_holds_is_stated_higher_and_has_wider_bars_than_the_naive_way() -> None:
    valid, plain, naive = ask.ways().values()

    assert valid.rhos == plain.rhos == naive.rhos
    assert valid.width > 2.7 > plain.width == naive.width
    assert valid.stated == plain.stated
    assert all(one > other for one, other in zip(valid.stated, naive.stated, strict=True))
    assert naive.stated[0] == pytest.approx(ask.START, rel=1e-6)


def test_doubling_ends_at_the_first_round_that_is_precise_enough() -> None:
    rows, plan = np.array([1e6]), ask.ways()["doubling"]
    task = ask.Task("counts", "count", ask.lines(10), rows, rows)

    assert ask.doubling(task, 0.5, 1, plan, np.random.default_rng(1)) == plan.stated[0]


def test_laplace_doubling_ends_at_the_first_round_that_is_precise_enough_and_states_all_rounds() -> None:
    task = ask.Task("counts", "count", ask.lines(10), np.array([1e6]), np.array([1e6]))

    assert ask.laplace_doubling(task, 0.5, 1, np.random.default_rng(1)) == ask.START
    assert ask.laplace_doubling(task, 1e-3, 1, np.random.default_rng(1)) == 3 * ask.START


def test_error_bars_of_laplace_doubling_hold_in_all_rounds_at_once() -> None:
    """Those of one round hold with a tenth root of the confidence, and Laplace noise has e^-t beyond t scales."""
    rows = np.array([4000.0])
    task, narrow = ask.Task("counts", "count", ask.lines(10), rows, rows), -math.log(1 - ask.CONFIDENCE)

    stated = ask.laplace_doubling(task, 0.05, 1, np.random.default_rng(1))

    wide = -math.log(1 - ask.CONFIDENCE ** (1 / ask.ROUNDS))
    assert wide > 1.7 * narrow
    assert (stated + ask.START) / 2 * 0.05 * 4000 > wide  # the last round's own ε


def test_the_laplace_oracle_meets_the_target_of_the_smallest_group_and_no_more() -> None:
    rows = np.array([1000.0, 400.0, 3.0])

    stated = ask.laplace_oracle(ask.Task("counts", "count by g", ask.lines(10), rows, rows), 0.05, 200)

    assert math.exp(-stated * 0.05 * 400) == pytest.approx(1 - ask.CONFIDENCE)


def test_noise_of_opendp_falls_as_epsilon_rises() -> None:
    assert ask.opendp_std(1.0) < ask.opendp_std(0.5) < math.inf
