"""Commands for training: finetune, and its plan."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from expost.jobs.finetuning.prices import METHODS, HeadSettings, head_recipe, method_of
from expost.jobs.finetuning.run import finetune
from expost.jobs.finetuning.screen import columns, release_cells, training_plan
from expost.jobs.job import Result
from expost.noise import Noise
from expost.private import Neighbours
from expost.recorded import ReadableLedger
from expost.report.answers import Reading
from expost.terminal.ending import plainly, release
from expost.terminal.kept import foretold
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
from expost.training.head.gradient import FloatSums
from expost.training.head.score import Classifier
from expost.training.schedule import Epsilon

PRICING: list[Option] = [
    click.option(
        "--method",
        type=click.Choice(METHODS),
        default="auto",
        help="How heads are made; auto is full-batch, ridge for 20,000 --records or more, and adam where a setting of "
        "Adam is given.",
    ),
    click.option(
        "--start",
        type=float,
        default=None,
        help="The ε that the first release may be stated as.  [default: 1; adam: 1.5]",
    ),
    click.option(
        "--releases", type=int, default=None, help="How many heads are released at most.  [default: 6; adam: 5]"
    ),
    click.option("--epochs", type=int, default=None, help="Adam: epochs before the first release.  [default: 50]"),
    click.option(
        "--epochs-between", type=int, default=None, help="Adam: epochs before each later one.  [default: twice as many]"
    ),
    click.option(
        "--rate",
        type=float,
        default=None,
        help="Adam: a record's chance to join a step; an epoch is 1/rate steps.  [default: 0.1]",
    ),
    click.option("--delta", default=1e-5, help="The δ of the (ε, δ) statement."),
    click.option(
        "--unit",
        default=None,
        help="The array of SOURCE that says whose row it is; the bound is then about a person with any number of rows.",
    ),
    *checking(validation=0.5),
    config(("finetune", "plan finetune")),
]
TRAINING: list[Option] = [
    click.option("--classes", type=int, default=None,
                 help="How many classes there are; by default counted from the labels, and taken to be public."),
    click.option("--max-grad-norm", type=float, default=None,
                 help="Adam: the norm that a record's gradient is clipped to.  [default: 1]"),
    click.option("--batch", type=float, default=None,
                 help="Adam: a public guess at the records per step; it matters little.  [default: 64]"),
    click.option("--learning-rate", type=float, default=None,
                 help="Adam's step before the first release.  [default: 0.05]"),
    click.option("--drop", type=float, default=None,
                 help="Adam: what the learning rate is multiplied by after it.  [default: 0.1]"),
    click.option("--device", default=None, help="A torch device to train on, such as cuda; by default NumPy."),
    click.option("--floating", is_flag=True,
                 help="Faster floating-point noise, whose rounding the bound does not cover."),
    click.option("--title", default=None, help="The title of the report; by default the name of the file."),
]  # fmt: skip
SET = ("releases", "epochs", "epochs_between", "rate", "max_grad_norm", "batch", "learning_rate", "drop", "device")
"""What is passed on where it is given."""


@click.command(name="finetune", short_help="Train a classifier on features.")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--accuracy", type=float, required=True, help="The accuracy to reach on held-out records.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder for the release.")
@options(PRICING, TRAINING, RELEASING)
@plainly
def finetune_head(source: Path, accuracy: float, out: Path, **settings: Any) -> None:
    """Train a linear head on SOURCE, an .npz file with arrays `features` and `labels`."""
    claim = claimed(out, settings, source, *public_file(settings))
    screen = Screen(
        columns(shares=settings["records"] is not None), doing="reading the records", quiet=settings["as_json"]
    )

    def run(noise: Noise, ledger: ReadableLedger) -> Result[Classifier]:
        def climbed(rung: Reading) -> None:
            screen.add(
                *release_cells(rung, steps[screen.lines], screen.width, screen.asked, screen.neighbours),
                keep=claim.journal.show,
            )

        chosen, check = head_settings(settings), judge_typed(settings["check_name"], settings["check_epsilon"])
        steps = head_recipe(accuracy=accuracy, check=check, **chosen).taken
        return finetune(
            source,
            accuracy=accuracy,
            check=check,
            **chosen,
            unit=settings["unit"],
            classes=settings["classes"],
            noise=noise,
            ledger=ledger,
            max_epsilon=settings["max_epsilon"],
            title=settings["title"] or source.stem,
            on_pledge=lambda fixed: screen.pledge(fixed, *foretold(ledger, "release")),
            on_step=climbed,
            on_progress=screen.advance,
        )

    release(run, claim, screen, settings)


@click.command(name="finetune", short_help="Show what every release of a training would cost.")
@click.option("--accuracy", default=0.9, help="The accuracy to reach.")
@options(PRICING)
@plainly
def plan_head(accuracy: float, **settings: Any) -> None:
    """Show what every release of a training run would cost and how noisy it would be, before any data is touched."""
    chosen, check = head_settings(settings), judge_typed(settings["check_name"], settings["check_epsilon"])
    relation = Neighbours.ADD_REMOVE if settings["unit"] is None else Neighbours.ADD_REMOVE_PERSON
    recipe = head_recipe(accuracy=accuracy, check=check, neighbours=relation, **chosen)
    training_plan(recipe, method_of(chosen)[1])


def head_settings(settings: Mapping[str, Any]) -> HeadSettings:
    """What the options say of training and prices, as Python has it."""
    found = HeadSettings(
        method=settings["method"],
        delta=settings["delta"],
        validation=settings["validation"],
        records=settings["records"],
        confidence=confidence_typed(settings["confidence"]),
    )
    if settings["start"] is not None:
        found["start"] = Epsilon(settings["start"])
    if settings.get("floating"):
        found["summation"] = FloatSums()
    for name in SET:
        if settings.get(name) is not None:
            found[name] = settings[name]  # type: ignore[literal-required] # each is a key of the settings
    return found


COMMANDS = (finetune_head,)
PLANS = (plan_head,)
