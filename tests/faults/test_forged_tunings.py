"""The receipt of a tuning follows from its prices, the law of its runs and what was shown; the prices are believed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings

from expost.jobs import audit as check
from expost.jobs.tunings import receipt as tuning
from expost.jobs.tunings.receipt import PRICES, tuning_receipt
from expost.receipts.receipt import receipt_text
from expost.terminal.ending import NOT_REACHED
from tests.faults.forger import believes, first_that_fools, fools, forgeries, lowered
from tests.faults.forgeries import Receipt, changed, receipt_of, restate
from tests.faults.tunings import TUNINGS, finished
from tests.unit.commands import run

NAMES = tuple(TUNINGS)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_tuning_wrote_is_worked_out_but_for_its_prices(name: str) -> None:
    found = receipt_of(name)

    audit = check(found, pledged=found["pledged"])

    assert (audit.differences, audit.believed) == ((), (PRICES,))
    assert audit.epsilon == found["statement"]["epsilon"]


def priced_lower(found: Receipt) -> None:
    """Configurations that cost a tenth of what they claimed."""
    for each in found["selection"]["configurations"]:
        each["epsilon"] /= 10


FORGERIES: dict[str, Callable[[Receipt], object]] = {
    "cheaper configurations": priced_lower,
    "another law": lambda found: found["selection"].update(eta=-0.9),
    "a lower bar": lambda found: found["asked"].update(score=0.5),
    "another share held out": lambda found: found["selection"].update(held="1/2"),
    "other neighbours": lambda found: [
        each.update(neighbours="replace one record") for each in (found, found["statement"])
    ],
}


@pytest.mark.parametrize("how", FORGERIES)
def test_the_digest_that_was_shown_tells_another_selection(how: str) -> None:
    """Restated throughout it is another tuning, which its own receipt cannot tell."""
    shown = receipt_of("tuning")["pledged"]

    forged = restate(changed("tuning", FORGERIES[how]))

    assert "not that of the run whose pledge was shown" in str(check(forged, pledged=shown))
    assert "whose pledge was shown" not in str(check(forged, pledged=forged["pledged"]))


@pytest.mark.parametrize("how", FORGERIES)
def test_a_selection_that_does_not_fit_its_digest_is_noticed(how: str) -> None:
    forged = restate(changed("tuning", FORGERIES[how]), seal=False)

    assert any("the digest of the pledge" in said for said in check(forged).differences)


def test_the_command_takes_the_digest_of_a_tuning_and_names_what_it_believes(tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_text(receipt_text(tuning_receipt(finished("tuning"))), encoding="utf-8")
    shown = receipt_of("tuning")["pledged"]

    right, wrong = (run("audit", str(path), "--pledge", digest) for digest in (shown, "0" * 64))

    assert (right.exit_code, right.output) == (NOT_REACHED, f"{PRICES}\n")
    assert (wrong.exit_code, "whose pledge was shown" in wrong.output) == (NOT_REACHED, True)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(forgeries(NAMES))
def test_no_forgery_of_a_tuning_lowers_epsilon(forgery: tuple[str, Receipt]) -> None:
    assert not fools(*forgery)


def test_the_generator_finds_what_an_audit_without_the_selection_lets_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: were the statement not worked out from the prices, any ε would be believed."""
    monkeypatch.setattr(tuning, "_differences", lambda found, spent: iter(()))

    name, forged = first_that_fools(NAMES)

    assert lowered(name, forged)
    assert believes(name, check(forged))
