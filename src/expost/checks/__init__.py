"""Threshold checks: the stopping rules of a search."""

from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import CentredSum, PublicCheck, PublicCount
from expost.checks.sparse_vector import SparseVectorCheck

__all__ = [
    "BalancedCheck",
    "CentredSum",
    "Confidence",
    "GaussianCheck",
    "PublicCheck",
    "PublicCount",
    "SparseVectorCheck",
]
