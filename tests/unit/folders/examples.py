"""A release that was there before, lines of a journal, and what the file system can do."""

import json
import sys
from pathlib import Path

import pytest

from expost.accounting.claim import Promise, Spent
from expost.ledger import Entry
from tests.unit.examples import line

RECEIPT = json.dumps({"format": "expost receipt 2"})


def older_release(folder: Path) -> Path:
    """A folder that looks like a release."""
    folder.mkdir()
    (folder / "receipt.json").write_text(RECEIPT, encoding="utf-8")
    (folder / "synthetic.csv").write_text("old", encoding="utf-8")
    return folder


can_exchange = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="only these systems can")

ENTRY = Entry("Gaussian", "data", "add or remove one record", False, False, {"variance": "10"})
PRICE, BILL = Promise(line(2, 1)), Spent(line(1, 1))
