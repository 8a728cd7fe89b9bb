"""A tuning as a folder."""

from pathlib import Path

from expost.folders.claim import deliver
from expost.jobs.tunings.receipt import tuning_receipt
from expost.jobs.tunings.report import of_tuning, tuning_page
from expost.receipts.receipt import receipt_text
from expost.training.head.score import Classifier
from expost.training.tuned import Tuned


def save_tuned(tuned: Tuned[object], folder: Path, *, title: str = "Tuning", overwrite: bool = False) -> None:
    """Write the report and the receipt of a tuning into a new folder, and the head if it made one.

    Any other value is the caller's to keep.
    """
    facts, value = of_tuning(tuned, title=title), tuned.value

    def put(fresh: Path) -> None:
        if isinstance(value, Classifier):
            value.save(fresh / "model.npz")

    receipt, report = receipt_text(tuning_receipt(facts)), tuning_page(facts)
    deliver(folder, put, receipt=receipt, report=report, overwrite=overwrite)
