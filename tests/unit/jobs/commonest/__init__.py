"""A third job, the commonest code of a list: everything of it is in this folder."""

from expost.jobs.job import JobKind
from tests.unit.jobs.commonest.report import CommonestJob
from tests.unit.jobs.commonest.run import rebuild_commonest

COMMONEST = JobKind({CommonestJob.kind: rebuild_commonest}, command="tests.unit.jobs.commonest.command")
