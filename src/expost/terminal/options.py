"""What commands share: options, and a file to take them from."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from expost.checks.confidence import confidence_level
from expost.errors import InvalidValue
from expost.folders.claim import Claim
from expost.judge import Balanced, Budgeted, Judge, OnPublic, SparseVector
from expost.text import bounded_text, number_typed, printable, toml_in

Command = Callable[..., None]
Option = Callable[[Command], Command]
MOST_BYTES = 2**20
"""Of a file of options, which has a line for each."""
VARIABLE, TOKEN = "EXPOST_LEDGER", "EXPOST_TOKEN"
"""The environment variables that name the ledger where a command does not, and hold the token of an analyst."""
CONFIG = f"{__name__}.config"
"""Where a context keeps the file of options."""


def confidence_typed(text: str) -> Fraction | None:
    """A confidence as a person types it: a probability, or `none` for the paper's check."""
    try:
        return None if text == "none" else confidence_level(number_typed(text))
    except (ValueError, ZeroDivisionError):
        raise InvalidValue(
            f"confidence is {text}; write a probability from 0.5 up to but not including 1, or none."
        ) from None


def checking(*, validation: float | None, usual: str = "") -> list[Option]:
    """How candidates are judged, with the share that is held out by default and what is to be said of it."""
    return [
        click.option("--validation", type=float, default=validation, metavar="SHARE",
                     help=f"The share of records held out for the check{usual}."),
        click.option("--check", "check_name", default="balanced", metavar="balanced|gaussian|svt|public:FILE",
                     help="How a candidate is judged: on held-out records, or for free on the public ones of a file."),
        click.option("--check-epsilon", type=float, default=None,
                     help="Rényi ε of a gaussian or svt check, over all its questions; by default what the first "
                     "rung or release costs."),
        click.option("--confidence", default="0.95", metavar="LEVEL|none",
                     help="How sure a pass must be that the accuracy is reached on the held-out records; `none` is the "
                     "paper's check, which promises nothing."),
        click.option("--records", type=click.IntRange(min=1), default=None,
                     help="About how many records there are, or persons where a unit is declared, if that is "
                     "public: margins are then shown as accuracies, and looks that would be too noisy are left out."),
    ]  # fmt: skip


def judge_typed(name: str, epsilon: float | None) -> Judge:
    """The check that a person names; the records of a public one are read later."""
    kind, _, path = name.partition(":")
    if name == "balanced":
        return Balanced()
    if name == "gaussian":
        return Budgeted(epsilon)
    if name == "svt":
        return SparseVector(epsilon)
    if kind == "public" and path:
        return OnPublic(Path(path))
    raise InvalidValue(f"the check {name} is unknown; choose balanced, gaussian, svt or public:FILE.")


def public_file(settings: Mapping[str, Any]) -> tuple[Path, ...]:
    """The file of public records that a check reads, if it does."""
    kind, _, path = settings["check_name"].partition(":")
    return (Path(path),) if kind == "public" and path else ()


MEMORY: Option = click.option(
    "--memory", default=None, metavar="SIZE",
    help="The most memory that the run may take, such as 4GB; by default half of the machine's for the table. What "
    "does not fit of the table goes into a private folder for temporary files.",
)  # fmt: skip
LASTING: list[Option] = [
    click.option("--ledger", default=None, envvar=VARIABLE, metavar="FILE|URL",
                 help="A ledger that lasts: its cap holds for the run, whose bill stays there; by default what "
                 f"{VARIABLE} names. {TOKEN} holds the token of an analyst."),
    click.option("--dataset", default=None, metavar="NAME", help="The data set of the ledger that the run reads."),
]  # fmt: skip
"""Where the spending of a run is kept."""
KEEPING: list[Option] = [
    click.option("--overwrite", is_flag=True, help="Replace the release in the output folder; its receipt is kept."),
    click.option("--seed", type=int, default=None, help="Repeat the same noise; everything is then NOT PRIVATE."),
    click.option("--json", "as_json", is_flag=True, help="Print the receipt instead of words."),
]  # fmt: skip
"""How a release is made and shown."""
RELEASING: list[Option] = [
    *LASTING,
    click.option("--max-epsilon", type=float, default=None, help="Never let the stated ε pass this."),
    *KEEPING,
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
            settings = toml_in(bounded_text(value, MOST_BYTES))
        except (OSError, ValueError):  # not TOML, or a number too long or lists too deep to be read
            raise _wrong(f"{value} is not a readable TOML file of at most {MOST_BYTES:,} bytes.") from None
        context.meta[CONFIG] = value
        everyone = {word for name in family for word in _words(_named(context, name))}
        for name in settings:
            if name not in everyone:
                raise _wrong(f"{value} sets {name}, which is not an option of {' or '.join(family)}.")
        known = _words(context.command)
        context.default_map = {
            str(known[name].name): _typed(known[name], setting, f"{value} sets {name}")
            for name, setting in settings.items()
            if name in known
        }

    return click.option(
        "--config",
        type=click.Path(path_type=Path),
        callback=configured,
        is_eager=True,
        expose_value=False,
        help="A TOML file with any of these options.",
    )


def require_once(parent: click.Context, command: click.Command, words: Sequence[str]) -> None:
    """Refuse an option that is given twice, of which a command would silently take the last; some may be repeated.

    What a file of options says is not given twice: the command line wins over it.
    """
    context = command.context_class(command, parent=parent, info_name=command.name, **command.context_settings)
    given = Counter(command.make_parser(context).parse_args(args=[*words])[2])
    for each, times in given.items():
        if times > 1 and isinstance(each, click.Option) and not each.multiple:
            raise click.UsageError(f"{max(each.opts, key=len)} is given {times} times; give it once.", context)


def _wrong(sentence: str) -> click.BadParameter:
    """What is wrong with a file of options; nothing in it or in its name can draw on a terminal."""
    return click.BadParameter(printable(sentence))


def _named(context: click.Context, name: str) -> click.Command:
    command = context.find_root().command
    for word in name.split():
        assert isinstance(command, click.Group)  # a family names commands that there are
        command = command.commands[word]
    return command


def _words(command: click.Command) -> dict[str, click.Parameter]:
    """The options of a command as they are typed."""
    return {word.lstrip("-"): each for each in command.params for word in each.opts}


def _typed(option: click.Parameter, setting: object, where: str) -> bool | str | list[str]:
    """What a file says of an option, as it would be typed; a list where an option may be repeated."""
    if isinstance(option, click.Option) and option.is_flag:
        if not isinstance(setting, bool):
            raise _wrong(f"{where} to something else than true or false; write one of them.")
        return setting
    several = setting if option.multiple and isinstance(setting, list) else [setting]
    if not all(isinstance(each, str | int | float) and not isinstance(each, bool) for each in several):
        raise _wrong(f"{where} to something else than a text or a number; write what would be typed.")
    texts = [str(each) for each in several]
    if any("\0" in each for each in texts):
        raise _wrong(f"{where} to a text with a null character, which no option takes; leave it out.")
    return texts if option.multiple else texts[0]


def claimed(out: Path, settings: Mapping[str, Any], *reads: Path) -> Claim:
    """A claim on the output folder, apart from what the command reads."""
    chosen = click.get_current_context().meta.get(CONFIG)
    return Claim(out, overwrite=settings["overwrite"], apart=(*reads, *([] if chosen is None else [chosen])))
