"""Accuracy-first differential privacy: say how accurate the answer must be, pay the least privacy that reaches it.

The names stand by who reads them, as in docs/api.md: the jobs, the parts of a search, and what authors need.
"""

from expost import errors
from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.curve import Linear
from expost.accounting.jumps import PlannedJumps
from expost.accounting.plan import tightest_pledge
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture
from expost.accounting.stops import PlannedStops
from expost.accounting.worst_case import worst_case_delta
from expost.checks import BalancedCheck, CentredSum, Confidence, GaussianCheck, PublicCheck, SparseVectorCheck
from expost.filters import Filter
from expost.folders.journal import Journal
from expost.intervals import ErrorBars
from expost.jobs import Answer, Query, Result, StatedLadder, ask, finetune, synthesize
from expost.judge import Balanced, Budgeted, OnPublic, SparseVector
from expost.ladder import Ladder
from expost.ledgers.book import open_ledger
from expost.ledgers.run import LedgerRun
from expost.mechanisms import Brownian, Exponential, Gaussian, Laplace
from expost.noise import Noise, SeededNoise, SystemNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private, Split, split
from expost.protocols import Check, Mechanism
from expost.release import Past, Release
from expost.search import Ended, Outcome, Search, planned_stops, search
from expost.statistic import Statistic, bounded_sum, histogram
from expost.tabular.aims import Aim
from expost.tabular.inspection import check_table
from expost.tabular.schema.schema import Schema
from expost.training.head.score import accuracy
from expost.training.schedule import Epsilon
from expost.verify import FiniteMechanism

__all__ = [  # noqa: RUF022  by reader
    # jobs
    "ask",
    "Answer",
    "Query",
    "synthesize",
    "finetune",
    "Result",
    "Schema",
    "check_table",
    "Aim",
    "StatedLadder",
    "Balanced",
    "Budgeted",
    "SparseVector",
    "OnPublic",
    "accuracy",
    "Epsilon",
    # parts
    "Private",
    "Neighbours",
    "Split",
    "split",
    "Statistic",
    "histogram",
    "bounded_sum",
    "Brownian",
    "ErrorBars",
    "Gaussian",
    "Laplace",
    "Exponential",
    "SystemNoise",
    "SeededNoise",
    "Release",
    "Past",
    "Budget",
    "Promise",
    "Spent",
    "Odometer",
    "Filter",
    "Journal",
    "open_ledger",
    "LedgerRun",
    "search",
    "Search",
    "Outcome",
    "Ended",
    "Ladder",
    "PublicCheck",
    "Confidence",
    "CentredSum",
    "GaussianCheck",
    "BalancedCheck",
    "SparseVectorCheck",
    "tightest_pledge",
    "planned_stops",
    "FixedOrder",
    "Mixture",
    "HalfNormal",
    "PlannedStops",
    "PlannedJumps",
    # for authors
    "Mechanism",
    "Check",
    "Noise",
    "Linear",
    "FiniteMechanism",
    "worst_case_delta",
    "errors",
]
