"""The report of a tuning: the statement of private selection, recomputed by the audit from prices and law alone."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from expost.accounting.curve import ZERO
from expost.accounting.private_selection import SelectionBill, Statement, TruncatedNegativeBinomial
from expost.errors import InvalidValue
from expost.jobs import audit as audited
from expost.jobs.tunings.receipt import PRICES, tuning_digest, tuning_receipt
from expost.jobs.tunings.report import TuningFacts, article, of_tuning, tuning_page
from expost.noise import SystemNoise
from expost.odometer import Odometer
from expost.receipts.receipt import receipt_text
from expost.training.tuned import Tuned
from tests.unit.examples import rehearsal
from tests.unit.report.examples import HOSTILE
from tests.unit.report.pages import FETCHES, said, tree
from tests.unit.training.tunings import Commonest, Scored, tuned

Receipt = dict[str, Any]
TWO = (Commonest("dear", 2.0), Commonest("cheap", 0.5, 1e-9))


def passed() -> TuningFacts:
    return of_tuning(tuned(TWO), title="Codes")


def missed() -> TuningFacts:
    return of_tuning(tuned(TWO, accuracy=1.5))


def private() -> TuningFacts:
    return of_tuning(tuned(TWO, noise=SystemNoise(), odometer=Odometer(), mean_runs=3))


def hostile() -> TuningFacts:
    return of_tuning(tuned([Commonest(HOSTILE, 0.5)]), title=HOSTILE)


PAGES = (passed, missed, private, hostile)


def read_back(told: TuningFacts) -> Receipt:
    loaded: Receipt = json.loads(receipt_text(tuning_receipt(told)))
    return loaded


def test_a_tuning_on_persons_speaks_of_persons() -> None:
    told = passed()
    on_persons = replace(told, contest=replace(told.contest, neighbours="add or remove one person"))

    page = said(tuning_page(on_persons))

    assert "per person" in page
    assert "each person went to the second" in page
    assert "record" not in page


@pytest.mark.parametrize("made", PAGES)
def test_every_tuning_has_a_page_and_a_receipt_that_leads_to_its_statement(made: Callable[[], TuningFacts]) -> None:
    told = made()

    audit = audited(read_back(told))

    assert (audit.differences, audit.believed) == ((), (PRICES,))
    assert audit.epsilon == told.statement.epsilon
    assert tree(tuning_page(told)).tag == "html"
    assert tree(article(told)).tag == "article"


@pytest.mark.parametrize("made", PAGES[:-1])
def test_a_page_fetches_nothing(made: Callable[[], TuningFacts]) -> None:
    assert FETCHES.findall(tuning_page(made())) == []


def test_a_hostile_name_is_shown_and_not_obeyed() -> None:
    page = tuning_page(hostile())

    assert "<script" not in page
    assert HOSTILE.replace("\u202e", "\N{REPLACEMENT CHARACTER}") in said(page)


def test_the_digest_that_is_announced_is_the_one_that_the_receipt_holds() -> None:
    told: list[str] = []
    made = of_tuning(tuned(TWO, on_announced=lambda contest: told.append(tuning_digest(contest))))
    other = of_tuning(tuned(TWO, mean_runs=7))

    assert told == [read_back(made)["pledged"]]
    assert audited(read_back(made), pledged=told[0]).differences == ()
    assert audited(read_back(other), pledged=told[0]).differences != ()


def test_the_receipt_says_that_no_renyi_bound_is_claimed() -> None:
    found = read_back(passed())

    assert "by private selection; no Rényi bound is claimed" in found["statement"]["notion"]
    assert "curve" not in found["statement"]
    assert "pledge" not in found


def test_a_seeded_tuning_begins_with_not_private_and_another_does_not() -> None:
    assert next(iter(read_back(passed()))) == "warning"
    assert "NOT PRIVATE" in said(tuning_page(passed()))
    assert "warning" not in read_back(private())
    assert "NOT PRIVATE" not in said(tuning_page(private()))


def test_the_page_says_what_the_bound_does_not_cover() -> None:
    page = said(tuning_page(passed()))

    assert "Not covered: the number of runs, and everything about the runs that are not shown." in page
    assert "Not covered: a configuration that claims too little." in page
    assert "2 times the ε of one run of the configuration that is shown" in page


def test_the_page_of_a_tuning_that_nothing_passed_says_so() -> None:
    page = said(tuning_page(missed()))

    assert "No run had a score of at least 1.5; ε = 4.00 was spent." in page
    assert "of the dearest configuration" in page


def prices(found: Receipt) -> list[Receipt]:
    listed: list[Receipt] = found["selection"]["configurations"]
    return listed


FORGED: dict[str, Callable[[Receipt], object]] = {
    "a smaller ε": lambda found: found["statement"].update(epsilon=found["statement"]["epsilon"] * 0.99),
    "a larger ε": lambda found: found["statement"].update(epsilon=found["statement"]["epsilon"] * 1.01),
    "a smaller δ": lambda found: found["statement"].update(delta=found["statement"]["delta"] / 2),
    "a cheaper configuration": lambda found: prices(found)[1].update(epsilon=0.1),
    "another configuration": lambda found: found["ended"].update(configuration="dear"),
    "an unknown configuration": lambda found: found["ended"].update(configuration="free"),
    "none passed": lambda found: found["ended"].update(configuration=None),
    "a negative price": lambda found: prices(found)[1].update(epsilon=-0.5),
    "a smaller η": lambda found: found["selection"].update(eta=-0.5),
    "fewer runs": lambda found: found["selection"].update(gamma=0.9),
    "a score too low": lambda found: found.update(score=0.1),
    "a higher bar": lambda found: found["asked"].update(score=2.0),
    "nothing reached": lambda found: found["ended"].update(reached=False),
    "no configurations": lambda found: found["selection"].update(configurations=[]),
    "one name twice": lambda found: prices(found)[0].update(name="cheap"),
    "a text for a price": lambda found: prices(found)[1].update(epsilon="0.5"),
    "no selection": lambda found: found.pop("selection"),
    "the warning left out": lambda found: found.pop("warning"),
    "another notion": lambda found: found["statement"].update(notion="approximate ex-post"),
    "other neighbours": lambda found: found["statement"].update(neighbours="nobody"),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_receipt_is_noticed(how: str) -> None:
    found = copy.deepcopy(read_back(passed()))
    assert not audited(found).differences

    FORGED[how](found)

    assert audited(found).differences


def test_the_score_of_a_run_that_is_not_shown_is_noticed() -> None:
    found = read_back(missed())

    found["score"] = 0.7

    assert audited(found).differences


def test_the_statement_is_that_of_private_selection() -> None:
    told: Tuned[int] = tuned(TWO, eta=1.0, mean_runs=3)
    law = TruncatedNegativeBinomial.with_mean(3, eta=1.0)
    bill = SelectionBill(law, tuple(Statement(each.epsilon, each.delta) for each in TWO))  # type: ignore[arg-type]  # floats

    assert told.statement == bill.passed(1)
    assert told.contest.held == Fraction(1, 5)


def test_a_price_that_nothing_states_is_refused_before_the_data_is_opened() -> None:
    odometer = rehearsal()
    with pytest.raises(InvalidValue):
        tuned([Commonest("only", float("inf"))], odometer=odometer)
    assert odometer.spent.curve == ZERO


def test_a_result_keeps_names_and_prices_and_no_configuration() -> None:
    """A configuration may hold on to the records it was shown."""
    careless = Scored([1.0], "careless")

    kept = tuned([careless])

    assert careless.seen
    assert kept.contest.names == ("careless",)
    assert "seen" not in repr(kept.contest)
