"""The sum that a head makes of a batch, by the summation it is given."""

import numpy as np

from expost.noise import Floats
from expost.training.head.arrays import InNumpy
from expost.training.head.gradient import FloatSums, IntegerSums


def summed(summation: IntegerSums | FloatSums, prepared: Floats, errors: Floats, shares: Floats) -> Floats:
    """Errors and shares a row a record, in double precision."""
    factors = summation.factors(errors.T, shares.T, np)
    return np.asarray(summation.total(factors, prepared, InNumpy()))
