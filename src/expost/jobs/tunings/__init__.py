"""Tunings: the best of many private runs."""

from expost.jobs.kind import JobKind
from expost.jobs.tunings.report import FORMAT, recompute

TUNINGS = JobKind(formats={FORMAT: recompute})
