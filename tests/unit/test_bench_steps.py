"""The benchmarks of steps, plans and the memory of fine-tuning measure what their names say."""

import numpy as np
import pytest
from benchmarks.scale.finetuning import features, labels, peak
from benchmarks.scale.odometer import Climber, kinds, odometer_growth, plan_seconds


def test_every_step_that_is_timed_has_all_earlier_releases_as_its_past() -> None:
    climber = Climber(25)

    assert len(climber.past) == 25
    assert climber.past.together.spent.at(20) == climber.odometer.spent.at(20)


def test_steps_of_every_kind_read_both_sides_of_every_split() -> None:
    climber = Climber(len(list(kinds())))

    read = {(line[0].what, line[0].part) for line in climber.ledger.lines}

    assert {what for what, _ in read} == {"Gaussian", "Laplace", "Tabled", "Gaussian check"}
    assert len({part for _, part in read}) == 6


def test_figures_are_named_by_what_they_are() -> None:
    figures = odometer_growth(lambda text: None, 2, 4) | plan_seconds(lambda text: None, 3)

    assert set(figures) == {
        "scale.odometer_us.2", "scale.odometer_us.4", "scale.odometer_growth", "scale.plan_seconds.3",
    }  # fmt: skip
    assert all(figure > 0 for figure in figures.values())


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_features_are_as_large_as_is_said_and_the_most_held_is_never_less_than_now(kind: str) -> None:
    made = features(50, 4, kind)

    assert made.dtype == np.dtype(kind)
    assert (made.shape, labels(50).shape) == ((50, 4), (50,))
    assert peak("VmHWM") >= peak("VmRSS") > made.nbytes
