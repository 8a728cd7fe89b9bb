"""A search of any kind as a folder."""

from pathlib import Path

from expost.accounting.curve import AdpEpsilon
from expost.folders.claim import deliver
from expost.jobs.searches.report import APART, of_search
from expost.receipts.receipt import receipt, receipt_text
from expost.recorded import ReadableLedger
from expost.report.outcomes import AnyCheck
from expost.report.page import render
from expost.search import Outcome


def save_search(
    outcome: Outcome[object],
    folder: Path,
    *,
    ledger: ReadableLedger,
    check: AnyCheck,
    because: str = APART,
    title: str = "Search",
    cap: AdpEpsilon | None = None,
    overwrite: bool = False,
) -> None:
    """Write the report and the receipt of a search into a new folder; its value is the caller's to keep.

    ``ledger`` is the ledger that the search's odometer was made with, a journal or one in memory; ``check`` is that
    of the search.
    """
    facts = of_search(outcome, ledger, check=check, because=because, title=title, cap=cap)
    deliver(folder, _nothing, receipt=receipt_text(receipt(facts)), report=render(facts), overwrite=overwrite)


def _nothing(fresh: Path) -> None:
    """What a search of unknown kind puts beside its report."""
