"""Use cases: one function each, all that the command line calls."""

from expost.runs.budget import spent_so_far
from expost.runs.claim import Claim
from expost.runs.journal import Journal
from expost.runs.results import save_module, save_search, save_tuned
from expost.runs.tables import Synthesized, synthesize, synthesize_recipe
from expost.runs.training import Finetuned, finetune, finetune_recipe

__all__ = [
    "Claim",
    "Finetuned",
    "Journal",
    "Synthesized",
    "finetune",
    "finetune_recipe",
    "save_module",
    "save_search",
    "save_tuned",
    "spent_so_far",
    "synthesize",
    "synthesize_recipe",
]
