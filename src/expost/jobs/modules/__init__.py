"""Torch modules that a Trainer made: their report, their receipt and their folder."""

from expost.jobs.job import JobKind
from expost.jobs.modules.procedure import rebuild_module
from expost.jobs.modules.report import ModuleJob

MODULES = JobKind({ModuleJob.kind: rebuild_module})
