"""Kinds of jobs: what the command line and the audit must know of each, and no more."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from expost.receipts.audit import Recompute
from expost.receipts.procedures import Rebuild

if TYPE_CHECKING:
    import click


@final
@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of job: how its receipts are worked out again, by what they say was made, and its commands.

    ``formats`` are receipts that are not of the common format. ``command`` names the module whose ``COMMANDS`` the
    command line takes, and whose ``PLANS`` go below ``expost plan``; it is loaded when a command line is made.
    """

    procedures: Mapping[str, Rebuild] = field(default_factory=dict)
    formats: Mapping[str, Recompute] = field(default_factory=dict)
    command: str | None = None

    def add_to(self, main: "click.Group", plan: "click.Group") -> None:
        """Put the commands of the job on the command line."""
        if self.command is None:
            return
        module = importlib.import_module(self.command)
        for each in module.COMMANDS:
            main.add_command(each)
        for each in module.PLANS:
            plan.add_command(each)
