"""The folder of a release: its receipt, report and product, all or nothing, and the receipts of those it replaces."""

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from expost.folders.claim import Claim
from expost.folders.disk import sync, sync_names, write_through
from expost.folders.place import EARLIER, PRODUCTS, RECEIPT, REPORT, receipts
from expost.folders.scratch import FRESH, scratch, swap


def deliver(
    folder: Path | Claim, put: Callable[[Path], None], *, receipt: str, report: str, overwrite: bool = False
) -> None:
    """Make a new folder of the receipt, the report and what ``put`` writes into it, on the disk when this returns.

    A folder that was claimed before is filled as it was claimed; a path is claimed for the purpose.
    """
    with nullcontext(folder) if isinstance(folder, Claim) else Claim(folder, overwrite=overwrite) as claim:
        target = claim.place.folder
        target.parent.mkdir(parents=True, exist_ok=True)  # should it have vanished since it was claimed
        with scratch(target) as made:
            fresh = made / FRESH
            write_through(fresh / RECEIPT, receipt)
            write_through(fresh / REPORT, report)
            put(fresh)
            _require_known(fresh)
            claim.place.require_free(overwrite=claim.overwrite, apart=claim.apart)
            _keep_receipts(target, fresh)
            swap(made, target)
            sync_names(target.parent)
            claim.delivered = target


def _require_known(fresh: Path) -> None:
    """Everything that was put is on the disk, and would be recognised by whoever replaces it."""
    for each in fresh.iterdir():
        assert each.name in PRODUCTS | {RECEIPT, REPORT}, f"{each.name} is to be one of PRODUCTS"
        sync(each)
    sync_names(fresh)


def _keep_receipts(old: Path, fresh: Path) -> None:
    """Carry the receipts of a release, and of those that it replaced, into the one that replaces it."""
    if not old.exists():
        return
    (fresh / EARLIER).mkdir()
    for number, each in enumerate((*receipts(old), old / RECEIPT), start=1):
        kept = fresh / EARLIER / f"receipt-{number}.json"
        shutil.copyfile(each, kept)
        sync(kept)
    sync_names(fresh / EARLIER)
