"""Mechanisms: what turns private data into values of known cost."""

from expost.mechanisms.brownian import Brownian, Estimate
from expost.mechanisms.exponential import Exponential
from expost.mechanisms.gaussian import FloatGaussian, Gaussian, Measurement
from expost.mechanisms.laplace import FloatLaplace, Laplace
from expost.mechanisms.laplace_path import IntegerPath, RealPath
from expost.mechanisms.noise_reduction import NoiseReduction

__all__ = [
    "Brownian",
    "Estimate",
    "Exponential",
    "FloatGaussian",
    "FloatLaplace",
    "Gaussian",
    "IntegerPath",
    "Laplace",
    "Measurement",
    "NoiseReduction",
    "RealPath",
]
