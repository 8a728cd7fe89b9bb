"""Commands for training: finetune, and its plan."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from expost.errors import InvalidValue
from expost.folders.journal import Journal
from expost.jobs.finetuning import screen as training
from expost.jobs.finetuning.recipe import CheckMaker, HeadRecipe, OnPublic, balanced, calibrated
from expost.jobs.finetuning.records import Hidden
from expost.jobs.finetuning.run import HALF, UNKNOWN, Finetuned, finetune_recipe, public, typed
from expost.noise import Noise
from expost.report.facts import Reading
from expost.terminal.ending import plainly, release
from expost.terminal.live import Screen
from expost.terminal.options import CHECKING, RELEASING, Option, claimed, confidence_typed, config, options
from expost.training.head.arrays import on
from expost.training.head.gradient import Exact, Floating
from expost.training.head.optimizer import Adam
from expost.training.head.score import accuracy as to_reach
from expost.training.schedule import Epsilon, Schedule

CHECKS: dict[str, CheckMaker] = {"balanced": balanced, "calibrated": calibrated}

PRICING: list[Option] = [
    click.option("--validation", default="private:0.5", metavar="private[:SHARE]|FILE",
                 help="Hold out a share of the records, or check on the public ones of an .npz file, for free."),
    click.option("--start", default=1.5, help="The ε that the first release may be stated as."),
    click.option("--releases", default=5, help="How many heads are released at most."),
    click.option("--epochs", default=50, help="Epochs before the first release."),
    click.option("--epochs-between", default=100, help="Epochs before each later one."),
    click.option("--rate", default=0.1, help="A record's chance to join a step; an epoch is 1/rate steps."),
    click.option("--delta", default=1e-5, help="The δ of the (ε, δ) statement."),
    click.option("--check", "check_name", type=click.Choice(list(CHECKS)), default="balanced",
                 help="How a release is judged on private records: at no price, or for that of the first release."),
    *CHECKING,
    config(("finetune", "plan finetune")),
]  # fmt: skip
TRAINING: list[Option] = [
    click.option("--classes", type=int, default=None,
                 help="How many classes there are; by default counted from the labels, and taken to be public."),
    click.option("--clip", default=1.0, help="The norm that a record's gradient is clipped to."),
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
    recipe, columns = head_recipe(accuracy, settings), training.columns(shares=settings["records"] is not None)
    screen = Screen(columns, doing="reading the records", quiet=settings["as_json"])

    def run(noise: Noise, ledger: Journal) -> Finetuned:
        def told(rung: Reading) -> None:
            screen.add(*training.release_cells(recipe, recipe.schedule.steps[screen.lines], rung), keep=ledger.show)

        return finetune_recipe(
            Hidden(source),
            recipe,
            classes=settings["classes"],
            noise=noise,
            ledger=ledger,
            max_epsilon=settings["max_epsilon"],
            title=source.stem,
            on_pledge=screen.pledge,
            on_step=told,
            on_progress=screen.advance,
        )

    release(
        run,
        Finetuned.save,
        claimed(out, settings, source, *public_records(settings["validation"])),
        screen,
        settings,
    )


@click.command(name="finetune")
@click.option("--accuracy", default=0.9, help="The accuracy to reach.")
@options(PRICING)
@plainly
def plan_head(accuracy: float, **settings: Any) -> None:
    """Show what every release of a training run would cost and how noisy it would be, before any data is touched."""
    training.training_plan(priced(accuracy, settings))


def priced(accuracy: float, settings: dict[str, Any]) -> HeadRecipe:
    """The job as far as its price depends on it; refused before private data is opened."""
    rate = typed(settings["rate"], "rate")
    share, check = validated(settings["validation"], CHECKS[settings["check_name"]], settings.get("classes"))
    return HeadRecipe(
        width=UNKNOWN,
        classes=UNKNOWN,
        target=to_reach(accuracy),
        schedule=Schedule.of_epochs(settings["epochs"], settings["epochs_between"], settings["releases"], rate=rate),
        start=Epsilon(settings["start"]),
        confidence=confidence_typed(settings["confidence"]),
        records=settings["records"],
        rate=rate,
        delta=settings["delta"],
        validation=share,
        check=check,
    )


def head_recipe(accuracy: float, settings: dict[str, Any]) -> HeadRecipe:
    """The whole job that the options make up."""
    classes = settings["classes"]
    return replace(
        priced(accuracy, settings),
        classes=UNKNOWN if classes is None else classes,
        clip=settings["clip"],
        batch=settings["batch"],
        optimizer=Adam(settings["learning_rate"]),
        drop=settings["drop"],
        summation=Floating() if settings["floating"] else Exact(),
        arrays=on(settings["device"]),
    )


def public_records(text: str) -> tuple[Path, ...]:
    """The public records that a check reads, if it does."""
    return () if text.partition(":")[0] == "private" else (Path(text),)


def validated(text: str, check: CheckMaker, classes: int | None) -> tuple[Fraction, CheckMaker]:
    """The share held out, and the check; public records are read at once."""
    kind, _, share = text.partition(":")
    if kind != "private":
        return HALF, OnPublic(public(text, classes))
    try:
        return Fraction(share) if share else HALF, check
    except (ValueError, ZeroDivisionError):
        raise InvalidValue(f"the validation {text} is not private:SHARE; write for example private:0.5.") from None


COMMANDS = (finetune_head,)
PLANS = (plan_head,)
