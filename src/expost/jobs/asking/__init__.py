"""Asking: plain questions to a private table, answered as precisely as they must be at the least privacy."""

from expost.jobs.asking.receipt import FORMAT, MADE
from expost.jobs.asking.recomputed import recompute_answer
from expost.jobs.asking.retold import files_named
from expost.jobs.asking.witnessed import witness_answer
from expost.jobs.job import JobKind

ASKING = JobKind(
    formats={FORMAT: recompute_answer},
    files={MADE: files_named},
    witnesses={MADE: witness_answer},
    command="expost.jobs.asking.command",
)
