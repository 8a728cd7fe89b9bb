"""Accuracy-first differential privacy: say how accurate the answer must be, pay the least privacy that reaches it."""

from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.plan import plan
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, PlannedStops
from expost.accounting.worst_case import worst_case_delta
from expost.checks import BalancedCheck, CentredSum, Confidence, GaussianCheck, PublicCheck, SparseVectorCheck
from expost.ladder import Ladder
from expost.mechanisms import Brownian, Exponential, Gaussian, Laplace
from expost.noise import SeededNoise, SystemNoise
from expost.odometer import Filter, Odometer
from expost.private import Neighbours, Private, Split, split
from expost.release import Past, Release
from expost.runs import Journal, finetune, synthesize
from expost.search import Ended, Outcome, planned_stops, search
from expost.statistic import Statistic, bounded_sum, histogram
from expost.training.schedule import Epsilon
from expost.training.score import accuracy
from expost.verify import FiniteMechanism

__all__ = [
    "BalancedCheck",
    "Brownian",
    "Budget",
    "CentredSum",
    "Confidence",
    "Ended",
    "Epsilon",
    "Exponential",
    "Filter",
    "FiniteMechanism",
    "FixedOrder",
    "Gaussian",
    "GaussianCheck",
    "HalfNormal",
    "Journal",
    "Ladder",
    "Laplace",
    "Mixture",
    "Neighbours",
    "Odometer",
    "Outcome",
    "Past",
    "PlannedStops",
    "Private",
    "Promise",
    "PublicCheck",
    "Release",
    "SeededNoise",
    "SparseVectorCheck",
    "Spent",
    "Split",
    "Statistic",
    "SystemNoise",
    "accuracy",
    "bounded_sum",
    "finetune",
    "histogram",
    "plan",
    "planned_stops",
    "search",
    "split",
    "synthesize",
    "worst_case_delta",
]
