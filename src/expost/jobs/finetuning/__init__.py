"""Fine-tuning: from labelled features to a head that is accurate enough."""

from expost.jobs.finetuning.described import HeadJob
from expost.jobs.finetuning.procedure import rebuild_training
from expost.jobs.job import JobKind

FINETUNING = JobKind({HeadJob.kind: rebuild_training}, command="expost.jobs.finetuning.command")
