"""The text of every module of the package, and which of them are the trusted base."""

from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src/expost"
MODULES = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
INSTRUMENTS = (
    "__init__.py",
    "checks/__init__.py",
    "mechanisms/__init__.py",
    "accounting/boundaries.py",
    "accounting/textbook.py",
    "accounting/worst_case.py",
    "accounting/odds.py",
    "baselines.py",
    "privacy_loss.py",
    "recorded.py",
    "rules.py",
    "verify.py",
)
"""What no release rests on: exports, comparisons, what reports read, and the means to check the rest."""
ABOVE = (
    "cli.py",
    "jobs/",
    "terminal/",
    "folders/",
    "receipts/",
    "report/",
    "bill.py",
    "judge.py",
    "patience.py",
    "persons/",
    "datasets/",
    "tabular/",
    "training/",
    "text.py",
)
OF_TRAINING = (
    "accounting/subsampled.py",
    "accounting/descent.py",
    "accounting/loss_distribution.py",
    "accounting/composed_loss.py",
    "accounting/private_selection.py",
)
"""What releases of trained models rest on besides, and no others."""
OF_CONFIDENCE = ("accounting/tails.py", "checks/confidence.py", "looks.py")
"""What a pass promises rests on, and no bound does."""
OF_LEDGERS = ("ledgers/",)
"""What a cap on many runs rests on, and the bound of no single run does."""
APART = (*INSTRUMENTS, *ABOVE, *OF_TRAINING, *OF_CONFIDENCE, *OF_LEDGERS)
TRUSTED = {name: text for name, text in MODULES.items() if not name.startswith(APART)}
