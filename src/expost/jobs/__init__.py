"""Jobs: one folder each, with its recipe, its run, its report and its commands.

Beside the two that have commands there is a home for what others run: modules that a Trainer made, searches of the
caller's own, and tunings.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from expost.folders.disk import file_digest
from expost.jobs.asking import ASKING
from expost.jobs.asking.answer import Answer
from expost.jobs.asking.query import Query
from expost.jobs.asking.run import ask
from expost.jobs.finetuning import FINETUNING
from expost.jobs.finetuning.configuration import HeadConfiguration
from expost.jobs.finetuning.prices import head_recipe
from expost.jobs.finetuning.recipe import HeadRecipe
from expost.jobs.finetuning.run import finetune
from expost.jobs.job import Result
from expost.jobs.modules import MODULES
from expost.jobs.modules.report import module_commitment, of_training, save_module
from expost.jobs.searches import of_search, save_search, search_commitment
from expost.jobs.synthesis import SYNTHESIS
from expost.jobs.synthesis.prices import StatedLadder
from expost.jobs.synthesis.run import synthesize
from expost.jobs.tunings import TUNINGS
from expost.jobs.tunings.receipt import save_tuned, tuning_digest
from expost.jobs.tunings.report import of_tuning
from expost.receipts.audit import Audit, check
from expost.receipts.notation import table
from expost.text import Json

JOBS = (ASKING, SYNTHESIS, FINETUNING, MODULES, TUNINGS)
"""A new job is a folder, and a line here."""

__all__ = [
    "JOBS",
    "Answer",
    "Audit",
    "HeadConfiguration",
    "HeadRecipe",
    "Query",
    "Result",
    "StatedLadder",
    "ask",
    "audit",
    "finetune",
    "head_recipe",
    "module_commitment",
    "of_search",
    "of_training",
    "of_tuning",
    "save_module",
    "save_search",
    "save_tuned",
    "search_commitment",
    "synthesize",
    "tuning_digest",
]


def audit(receipt: Json, *, pledged: str | None = None, beside: Path | None = None) -> Audit:
    """Work out a receipt of any job from its own settings and answers, and say where it states otherwise.

    ``pledged`` is the digest that was shown before the run. ``beside`` is the folder that the receipt lies in: of the
    files there, those that the receipt has a digest of are compared with it.
    """
    procedures = {made: rebuild for job in JOBS for made, rebuild in job.procedures.items()}
    formats = {name: recompute for job in JOBS for name, recompute in job.formats.items()}
    found = check(receipt, procedures, formats, pledged=pledged)
    if beside is None or found.differences:
        return found
    found = replace(found, differences=tuple(_file_faults(receipt, beside)))
    witnesses = {made: witness for job in JOBS for made, witness in job.witnesses.items()}
    witness = witnesses.get(str(table(receipt).get("made")))
    return found if witness is None or found.differences else witness(receipt, beside, found)


def _file_faults(receipt: Json, folder: Path) -> Iterator[str]:
    """The files of a release that are not those of its receipt, which was found to be sound."""
    told = {made: digests for job in JOBS for made, digests in job.files.items()}.get(str(table(receipt).get("made")))
    for name, digest in ({} if told is None else told(receipt)).items():
        if (folder / name).is_file() and not _has_digest(folder / name, digest):
            yield f"{name} beside the receipt does not have the digest that the receipt names; it was changed."


def _has_digest(path: Path, digest: str) -> bool:
    try:
        return file_digest(path) == digest
    except OSError:
        return False
