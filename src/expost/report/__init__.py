"""Reports: what a run reached, what it cost and what that means, for the people who decide on its release."""

from expost.report.audit import Audit, check
from expost.report.facts import Facts
from expost.report.html import fragment, render
from expost.report.meaning import explain
from expost.report.modules import of_training
from expost.report.pledging import module_commitment, search_commitment
from expost.report.receipt import receipt, written
from expost.report.searching import of_search
from expost.report.tuning import TuningFacts, of_tuning, tuning_digest
from expost.report.words import conclusion

__all__ = [
    "Audit",
    "Facts",
    "TuningFacts",
    "check",
    "conclusion",
    "explain",
    "fragment",
    "module_commitment",
    "of_search",
    "of_training",
    "of_tuning",
    "receipt",
    "render",
    "search_commitment",
    "tuning_digest",
    "written",
]
