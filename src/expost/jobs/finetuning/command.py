"""Commands for training: finetune, and its plan."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from expost.folders.journal import Journal
from expost.jobs.finetuning.prices import head_recipe
from expost.jobs.finetuning.run import finetune
from expost.jobs.finetuning.screen import columns, release_cells, training_plan
from expost.jobs.job import Result
from expost.noise import Noise
from expost.report.facts import Reading
from expost.terminal.ending import plainly, release
from expost.terminal.options import (
    RELEASING,
    Option,
    checking,
    claimed,
    confidence_typed,
    config,
    judge_typed,
    options,
    public_file,
)
from expost.terminal.screen import Screen
from expost.training.head.gradient import FloatSums, IntegerSums
from expost.training.head.score import Classifier
from expost.training.schedule import Epsilon

PRICING: list[Option] = [
    click.option("--start", default=1.5, help="The ε that the first release may be stated as."),
    click.option("--releases", default=5, help="How many heads are released at most."),
    click.option("--epochs", default=50, help="Epochs before the first release."),
    click.option("--epochs-between", default=100, help="Epochs before each later one."),
    click.option("--rate", default=0.1, help="A record's chance to join a step; an epoch is 1/rate steps."),
    click.option("--delta", default=1e-5, help="The δ of the (ε, δ) statement."),
    *checking(validation=0.5),
    config(("finetune", "plan finetune")),
]
TRAINING: list[Option] = [
    click.option("--classes", type=int, default=None,
                 help="How many classes there are; by default counted from the labels, and taken to be public."),
    click.option("--max-grad-norm", default=1.0, help="The norm that a record's gradient is clipped to."),
    click.option("--batch", default=64.0, help="A public guess at the records a step; Adam makes it matter little."),
    click.option("--learning-rate", default=0.05, help="Adam's step before the first release."),
    click.option("--drop", default=0.1, help="What the learning rate is multiplied by after it."),
    click.option("--device", default=None, help="A torch device to train on, such as cuda; by default NumPy."),
    click.option("--floating", is_flag=True,
                 help="Faster floating-point noise, whose rounding the bound does not cover."),
]  # fmt: skip


@click.command(name="finetune")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--accuracy", type=float, required=True, help="The accuracy to reach on held-out records.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder for the release.")
@options(PRICING, TRAINING, RELEASING)
@plainly
def finetune_head(source: Path, accuracy: float, out: Path, **settings: Any) -> None:
    """Train a linear head on SOURCE, an .npz file with arrays `features` and `labels`."""
    screen = Screen(
        columns(shares=settings["records"] is not None), doing="reading the records", quiet=settings["as_json"]
    )

    def run(noise: Noise, journal: Journal) -> Result[Classifier]:
        def climbed(rung: Reading) -> None:
            screen.add(*release_cells(rung, steps[screen.lines], screen.width), keep=journal.show)

        priced = head_settings(settings)
        steps = head_recipe(accuracy=accuracy, **priced).schedule.steps
        return finetune(
            source,
            accuracy=accuracy,
            **priced,
            classes=settings["classes"],
            max_grad_norm=settings["max_grad_norm"],
            batch=settings["batch"],
            learning_rate=settings["learning_rate"],
            drop=settings["drop"],
            device=settings["device"],
            summation=FloatSums() if settings["floating"] else IntegerSums(),
            noise=noise,
            ledger=journal,
            max_epsilon=settings["max_epsilon"],
            title=source.stem,
            on_pledge=screen.pledge,
            on_step=climbed,
            on_progress=screen.advance,
        )

    release(run, claimed(out, settings, source, *public_file(settings)), screen, settings)


@click.command(name="finetune")
@click.option("--accuracy", default=0.9, help="The accuracy to reach.")
@options(PRICING)
@plainly
def plan_head(accuracy: float, **settings: Any) -> None:
    """Show what every release of a training run would cost and how noisy it would be, before any data is touched."""
    training_plan(head_recipe(accuracy=accuracy, **head_settings(settings)))


def head_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the options say of prices and checks, as Python has it."""
    same = ("releases", "epochs", "epochs_between", "rate", "delta", "validation", "records")
    return {
        **{name: settings[name] for name in same},
        "start": Epsilon(settings["start"]),
        "confidence": confidence_typed(settings["confidence"]),
        "check": judge_typed(settings["check_name"], settings["check_epsilon"]),
    }


COMMANDS = (finetune_head,)
PLANS = (plan_head,)
