"""Tunings: the best of many private runs."""

from expost.jobs.kind import JobKind
from expost.jobs.tunings.receipt import FORMAT, recompute

TUNINGS = JobKind(formats={FORMAT: recompute})
