"""Fine-tuning on centred features: the price of the first release, rungs that grow, what is called for, audits."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expost.accounting.gaussian import gaussian_epsilon
from expost.errors import InvalidValue
from expost.jobs import audit
from expost.jobs.finetuning.centred import ALPHA, SHARE, CentredRecipe
from expost.jobs.finetuning.methods import CENTRED, CentredMethod
from expost.jobs.finetuning.prices import HeadSettings, head_recipe, method_of
from expost.jobs.finetuning.recipe import HeadRecipe, plan_training
from expost.jobs.finetuning.run import finetune
from expost.jobs.job import Result
from expost.judge import Budgeted, SparseVector
from expost.ledger import MemoryLedger
from expost.noise import SeededNoise
from expost.report.page import render
from expost.training.head.gradient import FloatSums
from expost.training.head.score import Classifier, accuracy
from expost.training.schedule import Epsilon, Schedule
from tests.unit.examples import one_sentence
from tests.unit.report.examples import blobs
from tests.unit.report.pages import said

RECIPE = CentredRecipe(target=accuracy(0.8), start=Epsilon(1.0), records=1000)


METHODS = pytest.mark.parametrize("method", CENTRED.values(), ids=CENTRED.keys())


@METHODS
@pytest.mark.parametrize("check", [RECIPE.check, Budgeted(), SparseVector()])
@pytest.mark.parametrize("start", [0.5, 1.0, 8.0])
def test_the_first_release_is_stated_as_asked_and_a_little_more_would_not_be(
    start: float, check: Budgeted, method: CentredMethod
) -> None:
    recipe = replace(RECIPE, start=Epsilon(start), check=check, method=method)

    stated = plan_training(recipe).epsilons[0]
    more = plan_training(replace(recipe, start=recipe.rho * (1 + Fraction(1, 10**5)))).epsilons[0]

    assert start * 0.999 < stated <= start
    assert stated < more <= start * 1.001


@METHODS
def test_a_head_of_persons_says_what_of_a_person_was_clipped(method: CentredMethod) -> None:
    whose, start = np.arange(600) // 3, Epsilon(4.0)
    told = finetune(*blobs(), unit=whose, accuracy=0.5, method=method.name, start=start, noise=SeededNoise(3)).facts

    page = said(render(told))

    assert "of which a person may have several" in page
    assert "clipped as one vector: a person moves it no farther than a single row might" in page
    assert "record" not in page.replace("mean and number of records", "")  # the name of a step on the bill


@METHODS
def test_each_release_is_stated_by_the_gaussian_profile_of_all_that_was_spent_by_then(method: CentredMethod) -> None:
    stated = plan_training(replace(RECIPE, method=method)).epsilons

    exact = [gaussian_epsilon(rho, RECIPE.delta / RECIPE.count) for rho in RECIPE.levels]

    assert stated == pytest.approx(exact, rel=1e-4)
    assert all(cost >= least * (1 - 1e-9) for cost, least in zip(stated, exact, strict=True))


def test_centre_and_rungs_add_up_to_levels_that_grow() -> None:
    paid = [RECIPE.centre.rho + level / ALPHA for level in RECIPE.releases.levels]

    assert paid == list(RECIPE.levels)
    assert RECIPE.centre.rho == SHARE * RECIPE.levels[0]
    assert {after / before for before, after in pairwise(paid)} == {RECIPE.growth}


REFUSED: dict[str, Callable[[], object]] = {
    "no release": lambda: replace(RECIPE, count=0),
    "no growth": lambda: replace(RECIPE, growth=Fraction(1)),
    "start out of reach": lambda: plan_training(replace(RECIPE, start=Epsilon(1e-9), delta=1e-300)),
    "nothing to spend": lambda: plan_training(replace(RECIPE, start=Fraction(0))),
    "no such method": lambda: head_recipe(accuracy=0.8, method="newton"),
    "a setting of another method": lambda: head_recipe(accuracy=0.8, method="full-batch", epochs=3),
    "a setting of Adam for means": lambda: head_recipe(accuracy=0.8, method="means", rate=0.1),
    "floating-point moments": lambda: head_recipe(accuracy=0.8, method="ridge", summation=FloatSums()),
    "moments on a device": lambda: head_recipe(accuracy=0.8, method="means", device="cpu"),
    "a bare price": lambda: head_recipe(accuracy=0.8, start=1.5),  # type: ignore[arg-type] # what users try
}


@pytest.mark.parametrize("name", REFUSED)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        REFUSED[name]()

    assert one_sentence(refused.value)


CALLED_FOR: list[tuple[HeadSettings, str, str]] = [
    ({}, "full-batch", "nothing to be tuned"),
    ({"records": 19_999}, "full-batch", "nothing to be tuned"),
    ({"records": 20_000}, "ridge", "20,000 records or more"),
    ({"records": 20_000, "summation": FloatSums()}, "full-batch", "nothing to be tuned"),
    ({"records": 20_000, "epochs": 3}, "adam", "because epochs was set"),
    ({"method": "auto", "rate": 0.2}, "adam", "because rate was set"),
    ({"method": "adam"}, "adam", "as was asked"),
    ({"method": "full-batch", "releases": 3}, "full-batch", "as was asked"),
    ({"method": "means", "releases": 3}, "means", "as was asked"),
    ({"method": "ridge"}, "ridge", "as was asked"),
]


@pytest.mark.parametrize(("settings", "method", "why"), CALLED_FOR)
def test_settings_call_for_a_method_and_say_why(settings: HeadSettings, method: str, why: str) -> None:
    recipe = head_recipe(accuracy=0.8, **settings)

    found, said = method_of(settings)

    assert found == method
    assert why in said
    if isinstance(recipe, CentredRecipe):
        assert recipe.method.name == method
    else:
        assert isinstance(recipe, HeadRecipe) and method == "adam"


def made(**settings: Any) -> Result[Classifier]:
    return finetune(*blobs(), accuracy=0.8, noise=SeededNoise(1), records=600, **settings)


SAID = {
    "full-batch": "gradient steps per release, in which every record took part",
    "means": "the class whose mean is nearest",
    "ridge": "the ridge regression that they give",
}
BUILT: list[dict[str, Any]] = [
    {},
    {"summation": FloatSums()},
    {"check": Budgeted()},
    {"confidence": None},
    {"method": "means"},
    {"method": "means", "check": SparseVector()},
    {"method": "ridge"},
    {"method": "ridge", "confidence": None},
]


@pytest.mark.parametrize("settings", BUILT)
def test_a_release_passes_its_audit_and_says_how_it_was_made(tmp_path: Path, settings: dict[str, Any]) -> None:
    done = made(**settings)

    done.save(tmp_path / "out")

    assert SAID[settings.get("method", "full-batch")] in (tmp_path / "out/report.html").read_text()
    assert audit(json.loads((tmp_path / "out/receipt.json").read_text())).matches


def test_the_report_of_moments_counts_measurements(tmp_path: Path) -> None:
    made(method="means").save(tmp_path / "out")

    page = (tmp_path / "out/report.html").read_text()
    assert "1, after 1 measurement<" in page
    assert "training measurements" in page
    assert "noisy class sums" in page


def test_a_run_that_takes_every_release_passes_its_audit(tmp_path: Path) -> None:
    features, labels = blobs()
    done = finetune(features, labels, accuracy=0.999, noise=SeededNoise(1), records=600)

    done.save(tmp_path / "out")

    assert not done.passed
    assert audit(json.loads((tmp_path / "out/receipt.json").read_text())).matches


FORGED: dict[str, tuple[str, Callable[[Any], object]]] = {
    "a cheaper centre": ("full-batch", lambda training: training["centre"].update(epsilon="1/1000000")),
    "fewer steps": ("full-batch", lambda training: training.update({"steps per release": 3})),
    "another method": ("full-batch", lambda training: training.update(method="adam")),
    "moments for steps": ("full-batch", lambda training: training.update(method="means")),
    "other features": ("full-batch", lambda training: training.update(features=5)),
    "a cheaper centre of means": ("means", lambda training: training["centre"].update(epsilon="1/1000000")),
    "ridge for means": ("means", lambda training: training.update(method="ridge")),
    "steps for means": ("means", lambda training: training.update({"method": "full-batch", "steps per release": 1})),
    "other classes of means": ("means", lambda training: training.update(classes=4)),
    "means for ridge": ("ridge", lambda training: training.update(method="means")),
    "other features of ridge": ("ridge", lambda training: training.update(features=5)),
    "no such method": ("ridge", lambda training: training.update(method=["ridge"])),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_changed_setting_fails_the_audit(tmp_path: Path, name: str) -> None:
    method, forge = FORGED[name]
    made(method=method).save(tmp_path / "out")
    receipt = json.loads((tmp_path / "out/receipt.json").read_text())

    forge(receipt["training"])

    assert not audit(receipt).matches


def test_what_is_too_large_for_second_moments_is_refused_before_anything_is_spent() -> None:
    ledger, rows = MemoryLedger(), np.ones((4, 5000), np.float32)

    with pytest.raises(InvalidValue) as refused:
        finetune(rows, np.array([0, 1, 0, 1]), accuracy=0.8, method="ridge", noise=SeededNoise(1), ledger=ledger)

    assert one_sentence(refused.value)
    assert list(ledger.lines) == []


LEFT_OUT: list[tuple[HeadSettings, int, int]] = [
    ({"method": "adam"}, 50, 100),
    ({"epochs": 3}, 3, 6),
    ({"epochs": 3, "epochs_between": 4}, 3, 4),
]


@pytest.mark.parametrize(("settings", "first", "between"), LEFT_OUT)
def test_later_releases_train_for_twice_as_many_epochs_as_the_first_unless_told_otherwise(
    settings: HeadSettings, first: int, between: int
) -> None:
    recipe = head_recipe(accuracy=0.8, **settings)

    assert isinstance(recipe, HeadRecipe)
    assert recipe.schedule == Schedule.of_epochs(first, between, 5, rate=Fraction(1, 10))
