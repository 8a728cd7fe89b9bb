"""Synthetic tables: from a private table to one that may be published."""

from expost.jobs.job import JobKind
from expost.jobs.synthesis.counted import digests_told
from expost.jobs.synthesis.described import TableJob
from expost.jobs.synthesis.procedure import rebuild_synthesis

SYNTHESIS = JobKind(
    {TableJob.kind: rebuild_synthesis},
    files={TableJob.kind: digests_told},
    command="expost.jobs.synthesis.command",
)
