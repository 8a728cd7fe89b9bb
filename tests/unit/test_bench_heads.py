"""The benchmark of heads in miniature: its figures, on digits and on features in a file."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks import heads
from paper.heads.images import Source, pool
from paper.heads.recipes import Settings, Tuned
from paper.heads.sides import ADAM, FULL_BATCH, Reached, Sides, by_orders, default, sides

from expost import SeededNoise
from expost.jobs.finetuning.centred import CentredRecipe
from expost.jobs.finetuning.recipe import plan_training

TINY = Settings(each=20, first=2, private=(2, 2), trials=1, repeats=2)


def search(epsilon: float, *, passed: bool = True, by_orders: float = 8.0) -> Reached:
    return Reached(epsilon=epsilon, by_orders=by_orders, validation=0.7, test=0.7, releases=2, passed=passed)


def repeats(ours: list[Reached], adam: list[Reached]) -> list[Sides]:
    return [{FULL_BATCH: {"0.64": one}, ADAM: {"0.64": other}} for one, other in zip(ours, adam, strict=True)]


def test_a_miniature_has_every_figure_of_digits_and_of_features_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = np.repeat(np.arange(3), 50)
    rows = np.eye(3)[codes] + np.linspace(0, 1, len(codes))[:, None]
    np.savez(tmp_path / "some.npz", train_features=rows, train_labels=codes, test_features=rows, test_labels=codes)
    monkeypatch.setenv("FEATURES", str(tmp_path / "some.npz"))
    said: list[str] = []

    found = heads.measure(said.append, TINY, workers=1)

    for name, places in (("heads", ("064", "068", "073")), ("heads.digits", ("080", "085", "090"))):
        for place in places:
            ours, adam = (found[f"{name}.epsilon.{side}.{place}"] for side in ("full_batch", "adam"))
            assert found[f"{name}.closed_over_adam.{place}"] == ours / adam
            assert 0 <= found[f"{name}.passed_by_5.{place}"] <= found[f"{name}.passed.full_batch.{place}"] <= 1
    assert said[-1] == "heads.digits, 2 of 2 repeats"


def test_a_miniature_without_a_file_is_of_digits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FEATURES", raising=False)

    found = heads.measure(lambda text: None, TINY, workers=1)

    assert {name.partition(".")[2].partition(".")[0] for name in found} == {"digits"}


def test_searches_that_never_pass_count_with_what_they_spent() -> None:
    ours = [search(2.0), search(4.0, passed=False), search(6.0)]
    adam = [search(5.0), search(6.0), search(7.0, passed=False)]

    found = heads._figures("heads", "0.64", repeats(ours, adam))

    assert found["heads.epsilon.full_batch.064"] == 4
    assert (found["heads.epsilon.adam.064"], found["heads.epsilon.adam_pledged.064"]) == (8, 6)
    assert found["heads.closed_over_adam.064"] == 0.5
    assert found["heads.passed.full_batch.064"] == found["heads.passed.adam.064"] == pytest.approx(2 / 3)
    assert found["heads.passed_by_5.064"] == pytest.approx(1 / 3)


def test_ours_is_the_default_and_no_pledge_is_above_its_statement_by_orders() -> None:
    job = default(TINY, "0.64")
    pledge = plan_training(job).pledge

    assert isinstance(job, CentredRecipe)
    assert job.delta == TINY.delta
    assert all(stop.epsilon <= other for stop, other in zip(pledge.table, by_orders(pledge), strict=True))


def test_adam_is_stated_by_the_order_of_the_stop_where_its_search_ended() -> None:
    digits, tuned = pool(Source()), Tuned(learning_rate=0.1, clip=0.3)

    found = sides(TINY, digits, tuned, ["0.10", "0.99"], SeededNoise(1))[ADAM]

    assert [(each["passed"], each["releases"]) for each in found.values()] == [(True, 1), (False, 2)]
    assert found["0.10"]["by_orders"] < found["0.99"]["by_orders"]
    assert all(each["epsilon"] <= each["by_orders"] for each in found.values())


def test_fits_in_closed_form_are_timed() -> None:
    found = heads.fits(8, 3)

    assert set(found) == {"heads.fit_ms", "heads.fit_ms.ridge"}
    assert all(value > 0 for value in found.values())
