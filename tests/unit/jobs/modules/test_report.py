"""The report of a trained torch module: how it was trained, what it cost, and a receipt that the audit recomputes."""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from expost.errors import LedgerConflict
from expost.jobs import audit as audited
from expost.jobs.modules.report import ModuleJob, of_training
from expost.judge import OnPublic
from expost.noise import SeededNoise
from expost.receipts.receipt import receipt, receipt_text
from expost.report.facts import Facts
from expost.report.page import render
from expost.training.head.score import accuracy
from expost.training.torch.trainer import Trainer
from tests.unit.report.pages import FETCHES, said, tree
from tests.unit.training.modules import against, held, network, sgd, train, trainer

Receipt = dict[str, Any]


@cache
def until(share: float = 0.3, *, public: bool = False, sure: bool = True, every: str = "2 epochs") -> Facts:
    made = trainer()
    on = OnPublic(held(100)) if public else held()
    outcome = made.until(accuracy(share), **against(on), releases=3, every=every, confidence=0.95 if sure else None)
    return of_training(made, outcome, title="Digits")


@cache
def staged() -> Facts:
    made = trainer()
    *_, last = islice(made.releases(every="10 steps", releases=3), 2)
    return of_training(made, last)


PAGES: dict[str, Callable[[], Facts]] = {
    "reached": until,
    "missed": lambda: until(0.99),
    "public": lambda: until(public=True),
    "the paper's check": lambda: until(sure=False),
    "by steps": lambda: until(every="5 steps"),
    "a stage": staged,
}


def test_training_on_persons_is_told_so() -> None:
    page = said(render(replace(until(), neighbours="add or remove one person")))

    assert "In every step each person took part with probability" in page
    assert "The gradients of a person's rows were added up, and their sum was clipped to norm" in page
    assert "record" not in page.replace("the caller held these records out before training", "")


def read_back(told: Facts) -> Receipt:
    loaded: Receipt = json.loads(receipt_text(receipt(told)))
    return loaded


@pytest.mark.parametrize("kind", PAGES)
def test_every_run_has_a_page_and_a_receipt_that_leads_to_its_statement(kind: str) -> None:
    told = PAGES[kind]()

    page, audit = render(told), audited(read_back(told))

    assert audit.matches, str(audit)
    assert audit.epsilon == pytest.approx(told.epsilon)
    assert tree(page).tag == "html"
    assert FETCHES.findall(page) == []


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_speaks_of_no_table_and_no_head(kind: str) -> None:
    page = said(re.sub("<style>.*?</style>", "", render(PAGES[kind]()), flags=re.DOTALL))

    assert [word for word in ("rung", "synthetic", "schema", "column", " the head ") if word in page] == []


def test_the_page_says_how_the_module_was_trained() -> None:
    page = said(render(until()))

    assert "with probability 1/10, independently of the others (Poisson sampling)" in page
    assert "the public number of 600 records" in page
    assert "clipped to norm 1, noise of 1 times that norm was added to the sum, and SGD moved the weights" in page
    assert "1, after 20 steps" in page


def test_the_page_says_what_the_bound_does_not_cover() -> None:
    page = said(render(until()))

    assert "Floating-point noise" in page
    assert "what rounding may reveal is NOT covered" in page
    assert "Not covered: layers that mix records or keep something of them" in page
    assert "Not covered: the weights that training started from" in page
    assert "Taken to be public: the number of 600 records" in page


def test_a_release_of_several_epochs_shows_what_all_of_them_added() -> None:
    first = until(0.99).rungs[0]

    assert first.times == 2
    assert first.line.spent.at(first.line.budget.alpha) == pytest.approx(2 * float(first.line.budget.epsilon))


def test_a_stage_is_not_said_to_have_been_checked() -> None:
    page = said(render(staged()))

    assert "Nothing was checked: whoever ran the procedure chose to keep release 2." in page
    assert "Whoever ran the training chose when to stop." in page
    assert "TARGET NOT CONFIRMED" not in page
    assert "records of the check" not in page


def test_a_stage_that_training_has_left_behind_is_refused() -> None:
    """Its weights are known together with all that came later."""
    made = trainer()
    first, _ = islice(made.releases(every="10 steps", releases=3), 2)

    with pytest.raises(LedgerConflict, match="more was spent since"):
        of_training(made, first)


def test_a_trainer_that_has_not_begun_has_nothing_to_report() -> None:
    made = trainer()
    with pytest.raises(LedgerConflict, match="has not begun a run"):
        _ = made.run


def resumed(folder: Path) -> Facts:
    """A run of three releases whose first process ended with the first of them."""
    path = folder / "run.pt"
    next(trainer(checkpoint=path).releases(every="10 steps", releases=3))
    module = network()
    made = Trainer.resume(path, module, sgd(module), train(), noise=SeededNoise(4))
    *_, last = made.releases(every="10 steps", releases=3)
    return of_training(made, last)


def test_a_resumed_run_is_told_as_one(tmp_path: Path) -> None:
    """What earlier processes spent is on the bill step by step, and its releases are not numbered as planned."""
    told = resumed(tmp_path)

    assert isinstance(told.job, ModuleJob)
    assert told.job.steps == ()
    assert (len(told.rungs), told.job.earlier, told.ahead) == (2, 1, ())
    assert [(item.entry.what, item.count) for item in told.bill] == [("ModuleDescent", 3)]


def test_what_earlier_processes_spent_is_worked_out_again(tmp_path: Path) -> None:
    found = read_back(resumed(tmp_path))
    assert audited(found).matches

    found["bill"][0]["count"] = 2

    assert not audited(found).matches


def line(found: Receipt) -> Receipt:
    """The first training line of the bill."""
    first: Receipt = next(each for each in found["bill"] if each["what"] == "ModuleDescent")
    return first


FORGED: dict[str, Callable[[Receipt], object]] = {
    "a smaller ε": lambda found: found["statement"].update(epsilon=found["statement"]["epsilon"] * 0.99),
    "fewer steps": lambda found: line(found)["facts"].update(steps=5),
    "a smaller rate": lambda found: line(found)["facts"].update(rate="1/20"),
    "more noise than was drawn": lambda found: line(found)["facts"].update({"noise multiplier": "9"}),
    "exact noise": lambda found: line(found)["facts"].update(noise="discrete Gaussian"),
    "a training line left out": lambda found: found["bill"].remove(line(found)),
    "the warning left out": lambda found: found.pop("warning"),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_receipt_is_noticed(how: str) -> None:
    found = copy.deepcopy(read_back(until(0.99)))
    assert audited(found).matches

    FORGED[how](found)

    assert not audited(found).matches


def test_a_seeded_receipt_begins_with_not_private() -> None:
    assert next(iter(read_back(until()))) == "warning"
