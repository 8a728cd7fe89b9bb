"""The benchmark of heads by size in miniature, and the table that the guide shows of it."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks import heads_sizes
from benchmarks.harness import RESULTS
from benchmarks.heads_sizes import SETTINGS, as_table, cell, clouds

from expost import SeededNoise
from expost.jobs.finetuning.prices import head_recipe
from expost.jobs.finetuning.recipe import HeadRecipe, plan_training
from expost.judge import OnPublic


def test_a_miniature_has_the_figures_of_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads_sizes, "TEST", 100)

    found = cell(200, 64, 4, repeats=2, tried=SETTINGS[:2])

    ours, adam, tuned = (
        found[f"heads_sizes.accuracy.{method}.200.64.4"] for method in ("full_batch", "adam", "adam_tuned")
    )
    assert 0 <= adam <= tuned <= 1
    assert found["heads_sizes.ahead_of_adam.200.64.4"] == ours - adam
    assert found["heads_sizes.ahead_of_adam_tuned.200.64.4"] == ours - tuned


def test_all_are_stated_as_the_price_and_the_first_adam_is_the_default() -> None:
    check = OnPublic(clouds(10, 64, SeededNoise(1)))

    found = list(heads_sizes.jobs(1, SETTINGS[:1], check))

    assert [plan_training(job).epsilons[-1] for job in found] == pytest.approx([1.0] * 5, rel=1e-6)
    adam = found[-1]
    default = head_recipe(accuracy=0.5, method="adam")
    assert isinstance(default, HeadRecipe)
    assert isinstance(adam, HeadRecipe)
    assert (adam.clip, adam.optimizer) == (default.clip, default.optimizer)


def test_classes_lie_around_a_common_mean_as_features_of_images_do() -> None:
    found = clouds(4000, 256, SeededNoise(1))
    mean = found.features.mean(axis=0)
    apart = [np.linalg.norm(found.features[found.labels == code].mean(axis=0) - mean) for code in range(10)]

    assert np.linalg.norm(mean) == pytest.approx(0.7, abs=0.05)
    assert 0.1 < min(apart) < max(apart) < 0.5


def test_the_guide_shows_what_was_recorded() -> None:
    guide = (Path(__file__).parents[2] / "docs/ml-engineer.md").read_text(encoding="utf-8")

    assert as_table(json.loads((RESULTS / "heads_sizes.json").read_text(encoding="utf-8"))["figures"]) in guide
