"""Tunings: the best of many private runs."""

from expost.jobs.job import JobKind
from expost.jobs.tunings.receipt import FORMAT, recompute

TUNINGS = JobKind(formats={FORMAT: recompute})
