"""The command of the third job."""

from pathlib import Path
from typing import Any

import click

from expost.jobs.job import Result
from expost.noise import Noise
from expost.recorded import ReadableLedger
from expost.report.digits import price
from expost.terminal.ending import plainly, release
from expost.terminal.options import RELEASING, checking, claimed, judge_typed, options
from expost.terminal.screen import VERDICTS, Screen
from tests.unit.jobs.commonest.run import LADDER, commonest


@click.command(name="commonest")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--codes", type=int, required=True)
@click.option("--accuracy", type=float, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@options(checking(validation=0.4), RELEASING)
@plainly
def count(source: Path, codes: int, accuracy: float, out: Path, **settings: Any) -> None:
    """The commonest code of SOURCE."""
    claim = claimed(out, settings, source)
    screen = Screen(("rung", "ε so far", "verdict"), doing="counting", quiet=settings["as_json"])

    def run(noise: Noise, ledger: ReadableLedger) -> Result[int]:
        return commonest(
            source, codes=codes, accuracy=accuracy, noise=noise, ledger=ledger, on_pledge=screen.pledge,
            check=judge_typed(settings["check_name"], settings["check_epsilon"]),
            on_step=lambda rung: screen.add(price(rung.epsilon), VERDICTS[rung.passed], keep=claim.journal.show),
        )  # fmt: skip

    release(run, claim, screen, settings)


@click.command(name="commonest")
def plan() -> None:
    """What the commonest code would cost."""
    click.echo(f"{len(LADDER.levels)} rungs")


COMMANDS = (count,)
PLANS = (plan,)
