"""Heads in closed form from released moments: post-processing, so they cost nothing more.

Both know how noisy the moments are, and trust them no further.
"""

from math import sqrt

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.linalg.blas import dsyr

from expost.noise import Floats
from expost.training.head.centre import RADIUS
from expost.training.head.moments import Squares, Sums

MARGIN = 1.25
"""The penalty of ridge over the length of its noise: smaller ones meet the noise, larger ones hide the signal."""


def class_means(sums: Sums) -> tuple[Floats, Floats]:
    """Slopes and biases of the nearest class mean, weighed by how frequent a class is.

    Means are those to be expected if all were drawn around the centre (empirical Bayes): one of few records, which is
    mostly noise, is moved towards the centre most. As no record is farther than the radius, its square over the width
    is taken for the variance along one feature.
    """
    classes, width = sums.features.shape
    records, noise = np.maximum(sums.records, 1.0), sums.std**2
    # The length of all sums beyond that of their noise; within its own error of nothing it counts as that error.
    signal = max(float((sums.features**2).sum()) / noise - classes * width, sqrt(2 * classes * width))
    spread = signal / (width * float((records**2).sum()))  # of the means, over the variance of the noise
    means = sums.features * (records * spread / (records**2 * spread + 1))[:, None]
    within = RADIUS**2 / width
    return means, within * np.log(records / records.sum()) - (means**2).sum(axis=1) / 2


def ridge(sums: Sums, squares: Squares) -> tuple[Floats, Floats]:
    """Slopes and biases of ridge regression on who is in a class, the biases free.

    Noise on second moments is a symmetric matrix whose length is nearly std·√(2·width). The penalty is a little more:
    what is left is then positive definite but for bad luck, in which eigenvalues below 0 are cut.
    """
    width = len(squares.values)
    records = np.maximum(sums.records, 1.0)
    number, total = float(records.sum()), sums.features.sum(axis=0)
    noise, length = len(records) * width * sums.std**2, float(total @ total)
    mean = total / number * max(0.0, 1 - noise / max(length, noise))
    penalty = MARGIN * squares.std * sqrt(2 * width)
    towards = (sums.features - np.outer(records, mean)).T
    try:
        slopes = cho_solve(cho_factor(_around(squares, number, mean, penalty), overwrite_a=True), towards)
    except LinAlgError:
        values, vectors = eigh(_around(squares, number, mean, 0.0), lower=False)
        slopes = (vectors / (np.maximum(values, 0.0) + penalty)) @ (vectors.T @ towards)
    return np.asarray(slopes.T), records / number - slopes.T @ mean


def _around(squares: Squares, number: float, mean: Floats, penalty: float) -> Floats:
    """Second moments around the mean and the penalty, in the upper triangle of a matrix that lies as LAPACK has it.

    What is below the diagonal is not changed and must not be read: at a width of 1,280 this is a third of the time.
    """
    moments = squares.values.T.copy(order="F")  # symmetric
    moments.flat[:: len(mean) + 1] += penalty
    return np.asarray(dsyr(-number, mean, a=moments, overwrite_a=True))
