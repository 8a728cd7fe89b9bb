"""What a command shows of a rung: its number of how many, and an accuracy that is told from what was asked for."""

from dataclasses import replace
from fractions import Fraction

import pytest

from expost.jobs.synthesis.screen import run_heads, rung_cells
from expost.protocols import Verdict
from expost.report.answers import Reading
from expost.tabular.aims import Aim
from expost.terminal.screen import accuracy_cell
from tests.unit.commands import run, said
from tests.unit.report.examples import facts

HELD = 10_000


def reading(accuracy: float, *, guess: float | None = 0.5) -> Reading:
    """A rung whose noisy accuracy this was, of 10,000 records, where 63 % were asked for."""
    first = facts().rungs[0].line
    verdict = Verdict(False, margin=(accuracy - 0.63) * HELD, std=12.0)
    line = replace(first, verdict=verdict)
    return Reading.of(line, facts().pledge, asked=Fraction(63, 100), held=HELD, guess=guess)


@pytest.mark.parametrize(
    ("accuracy", "shown"),
    [(0.6296, "0.6296"), (0.63004, "0.63004"), (0.612, "0.612"), (0.6416, "0.642"), (1.05, "1.000")],
)
def test_an_accuracy_is_never_shown_as_what_was_asked_for(accuracy: float, shown: str) -> None:
    assert accuracy_cell(reading(accuracy), 1.0, Fraction(63, 100)) == f"{shown} ± 0.001"


def test_a_gain_over_guessing_may_be_a_loss_and_is_shown_as_one() -> None:
    """Brought to 0, a table that is worse than guessing looked as good as that, with a range that missed the truth."""
    lost = Verdict(False, margin=-0.05 * HELD, std=12.0)
    line = replace(facts().rungs[0].line, verdict=lost)

    told = Reading.of(line, None, asked=Fraction(3, 100), held=HELD, measure="gain over guessing")

    assert accuracy_cell(told, 1.0, Fraction(3, 100)) == "−0.020 ± 0.001"
    assert accuracy_cell(replace(told, accuracy=-1.2), 1.0, None) == "−1.000 ± 0.001"


def test_without_a_target_three_digits_do() -> None:
    assert accuracy_cell(reading(0.6296), 1.0, None) == "0.630 ± 0.001"


def test_a_rung_shows_the_rate_of_guessing_before_its_accuracy() -> None:
    assert rung_cells(reading(0.612), 1.0, Fraction(63, 100))[1:3] == ("0.500", "0.612 ± 0.001")


@pytest.mark.parametrize(
    ("aims", "heads"),
    [
        ((Aim.accuracy("income", 0.8),), ("rung", "ε so far", "by guessing", "noisy accuracy", "verdict")),
        ((Aim.within(0.1),), ("rung", "ε so far", "noisy overlap", "verdict")),
    ],
)
def test_guessing_is_shown_only_of_what_it_can_reach(aims: tuple[Aim, ...], heads: tuple[str, ...]) -> None:
    guess = 0.5 if "by guessing" in heads else None

    assert run_heads(aims) == heads
    assert len(rung_cells(reading(0.612, guess=guess), 1.0, None)) == len(heads) - 1


def test_a_rung_says_of_how_many_it_is(tmp_path_factory: pytest.TempPathFactory) -> None:
    out = tmp_path_factory.mktemp("demo") / "out"

    told = said(run("demo", "--estimator", "model", "--seed", "7", "--accuracy", "0.7", "--out", str(out)))

    assert "rung: 1 of 7 ε so far:" in told
    assert "by guessing: 0.75" in told
