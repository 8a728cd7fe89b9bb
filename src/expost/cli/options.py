"""What commands share: options from a file, refusals in one sentence, and how a release is made and ended."""

import sys
import tomllib
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

import click

from expost import runs
from expost.checks.confidence import confidence_level
from expost.errors import ExpostError, InvalidBound
from expost.noise import Noise, SeededNoise, SystemNoise
from expost.record import Memory
from expost.report import Facts
from expost.report.digits import price
from expost.screen import Screen

NOT_REACHED, REFUSED, INTERRUPTED = 3, 2, 130
Command = Callable[..., None]
Option = Callable[[Command], Command]


def confidence_typed(text: str) -> Fraction | None:
    """A confidence as a person types it: a probability, or `none` for the paper's check."""
    try:
        return None if text == "none" else confidence_level(Fraction(text))
    except (ValueError, ZeroDivisionError):
        raise InvalidBound(
            f"confidence is {text}; write a probability from 0.5 up to but not including 1, or none."
        ) from None


class Finished(Protocol):
    """A run that came to an end. Implemented by Synthesized and Finetuned."""

    @property
    def facts(self) -> Facts:
        """What is told of it."""
        ...

    @property
    def passed(self) -> bool:
        """Whether the target was reached."""
        ...


R = TypeVar("R", bound=Finished)

CHECKING: list[Option] = [
    click.option("--confidence", default="0.95", metavar="LEVEL|none",
                 help="How sure a pass must be that the accuracy is reached on the held-out records; `none` is the "
                 "paper's check, which promises nothing."),
    click.option("--records", type=click.IntRange(min=1), default=None,
                 help="About how many records there are, if that is public: margins are then shown as accuracies, and "
                 "looks that would be too noisy are left out."),
]  # fmt: skip

RELEASING: list[Option] = [
    click.option("--max-epsilon", type=float, default=None, help="Never let the stated ε pass this."),
    click.option("--overwrite", is_flag=True, help="Replace the output folder."),
    click.option("--seed", type=int, default=None, help="Repeat the same noise; everything is then NOT PRIVATE."),
    click.option("--json", "as_json", is_flag=True, help="Print the receipt instead of words."),
]


def options(*groups: Sequence[Option]) -> Option:
    """All options of the groups on one command."""

    def decorate(command: Command) -> Command:
        for option in reversed([each for group in groups for each in group]):
            command = option(command)
        return command

    return decorate


def config(family: Sequence[str]) -> Option:
    """The option to name a TOML file that serves the commands of a family: what only the others know is left alone."""

    def configured(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
        """Take the options of the file as defaults, so that the command line still wins."""
        if value is None:
            return
        try:
            settings = tomllib.loads(value.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            raise click.BadParameter(f"{value} is not a readable TOML file.") from None
        everyone = {word for name in family for word in _words(_named(context, name))}
        for name in settings:
            if name not in everyone:
                raise click.BadParameter(f"{value} sets {name}, which is no option of {' or '.join(family)}.")
        known = _words(context.command)
        context.default_map = {known[name]: setting for name, setting in settings.items() if name in known}

    return click.option(
        "--config",
        type=click.Path(path_type=Path),
        callback=configured,
        is_eager=True,
        expose_value=False,
        help="A TOML file with any of these options.",
    )


def _named(context: click.Context, name: str) -> click.Command:
    command = context.find_root().command
    for word in name.split():
        assert isinstance(command, click.Group)  # a family names commands that there are
        command = command.commands[word]
    return command


def _words(command: click.Command) -> dict[str, str]:
    """The options of a command as they are typed, and what they are called inside."""
    return {word.lstrip("-"): str(each.name) for each in command.params for word in each.opts}


def stopped(sentence: str, status: int) -> NoReturn:
    """End without a release."""
    click.echo(sentence, err=True)
    sys.exit(status)


def plainly(command: Command) -> Command:
    """Refusals in one sentence on the error stream, with their own exit status."""

    @wraps(command)
    def run(**settings: Any) -> None:
        try:
            command(**settings)
        except ExpostError as refusal:
            stopped(f"expost: {refusal}", REFUSED)
        except KeyboardInterrupt:
            stopped("\nexpost: interrupted.", INTERRUPTED)

    return run


def release(
    run: Callable[[Noise, Memory], R], save: Callable[[R], None], out: Path, screen: Screen, settings: dict[str, Any]
) -> None:
    """Run the job with a live table, write its files, and say how it ended."""
    runs.refuse_existing(out, overwrite=settings["overwrite"])
    noise: Noise = SystemNoise() if settings["seed"] is None else SeededNoise(settings["seed"])
    record = Memory()
    done: R | None = None
    try:
        with screen:
            done = run(noise, record)
            save(done)
    except KeyboardInterrupt:
        written = "nothing was written" if done is None else f"see whether {out} was written"
        stopped(f"\nexpost: interrupted; {written}, and ε = {price(runs.spent_so_far(record))} is spent.", INTERRUPTED)
    except ExpostError as refusal:
        spent = runs.spent_so_far(record)
        stopped(f"expost: {refusal}{f' ε = {price(spent)} is spent.' if spent else ''}", REFUSED)
    screen.end(done.facts, out)
    sys.exit(0 if done.passed else NOT_REACHED)
