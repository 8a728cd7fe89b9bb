"""What the program loads from elsewhere, set apart: a forked process then has no need to look at it, or copy it.

DuckDB is left out, since it complains when it is not taken down at the end of a process.
"""

import gc

import click
import narwhals
import numpy as np
import rich.console
import rich.live
import rich.table
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats
import threadpoolctl

__all__ = ["click", "narwhals", "np", "rich", "scipy", "threadpoolctl"]

gc.freeze()
