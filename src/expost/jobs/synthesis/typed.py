"""Aims as a person types them: targets with what must be reached of them, and how close pairs must be."""

import csv
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import click

from expost.checks.question import accuracy_threshold
from expost.errors import InvalidValue
from expost.tabular.aims import Aim
from expost.tabular.schema.schema import Schema
from expost.terminal.options import Option
from expost.text import number_typed

MEASURES: Mapping[str, Callable[..., Aim]] = {
    "accuracy": Aim.accuracy,
    "balanced_accuracy": Aim.balanced_accuracy,
    "auc": Aim.auc,
    "above_guessing": Aim.above_guessing,
}
"""By the name of the option; each may be given once for all targets, or once for each."""

AIMING: list[Option] = [
    click.option("--target", "targets", multiple=True, metavar="COLUMN",
                 help="A column to be predicted; by default the schema's. May be repeated."),
    click.option("--accuracy", multiple=True, metavar="SHARE",
                 help="The accuracy to reach on held-out records; one for all targets, or one for each in order."),
    click.option("--balanced-accuracy", multiple=True, metavar="SHARE",
                 help="The same for the mean over the target's values, so that rare ones count as much as others."),
    click.option("--auc", multiple=True, metavar="SHARE",
                 help="The area under the ROC curve to reach, for rare outcomes."),
    click.option("--positive", default=None, metavar="VALUE",
                 help="The value of the target that an AUC is about, where it has more than two."),
    click.option("--above-guessing", multiple=True, metavar="SHARE",
                 help="How much more accurate than always guessing the commonest value, such as 3%."),
    click.option("--within", default=None, metavar="SHARE",
                 help="Ask for all pairs of columns within this distance of the held-out records, such as 2%; with or "
                 "without a target."),
    click.option("--crosstab", "crosstabs", multiple=True, metavar="COLUMN,COLUMN",
                 help="A table that --within is about, in place of all pairs. May be repeated."),
]  # fmt: skip


def aims_typed(schema: Schema, settings: Mapping[str, Any]) -> tuple[Aim, ...]:
    """What the options ask for, refused where they do not say it clearly."""
    aims = _predicted(schema, settings)
    within, named = settings["within"], settings["crosstabs"]
    if within is None and named:
        raise InvalidValue("--crosstab names a table, and nothing says how close it must be; add --within.")
    if within is not None:
        tables = [_columns(each) for each in named]
        aims = (*aims, Aim.within(share_typed("--within", within), crosstabs=tables))
    if not aims:
        raise InvalidValue("nothing is asked of the table; give --accuracy with a --target, or --within.")
    return aims


def asking(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of a plan, which is about an accuracy of 0.8 where nothing is asked for."""
    asked = any(settings[name] for name in (*MEASURES, "crosstabs")) or settings["within"] is not None
    return settings if asked else {**settings, "accuracy": ("0.8",)}


def share_typed(option: str, text: str) -> Fraction:
    """A share as a person types it: 0.02 or 2%."""
    try:
        return number_typed(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        raise InvalidValue(f"{option} is {text}; write a share such as 0.02 or 2%.") from None


def _columns(text: str) -> tuple[str, ...]:
    """The columns of a table; a name that has a comma is put in quotes, as in a CSV file."""
    try:
        (names,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (ValueError, csv.Error):
        names = []
    if not names or not all(map(str.strip, names)):
        raise InvalidValue(f"--crosstab is {text or 'blank'}; name columns with a comma between them, such as a,b.")
    return tuple(map(str.strip, names))


def _predicted(schema: Schema, settings: Mapping[str, Any]) -> tuple[Aim, ...]:
    given = [name for name in MEASURES if settings[name]]
    targets: Sequence[str] = settings["targets"]
    if not given:
        if targets:
            raise InvalidValue("a target is named, and nothing is asked of it; add for example --accuracy 0.8.")
        return ()
    if len(given) > 1:
        *others, last = (f"--{name.replace('_', '-')}" for name in given)
        raise InvalidValue(
            f"{', '.join(others)} and {last} are given; ask for one of them here, or for several as aims in Python."
        )
    named = tuple(targets) or ((schema.target,) if schema.target is not None else ())
    if not named:
        raise InvalidValue("no target is named; give --target, or --within to ask for pairs of columns.")
    option = f"--{given[0].replace('_', '-')}"
    values = [share_typed(option, text) for text in settings[given[0]]]
    if len({*named}) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        raise InvalidValue(f"--target {twice} is given {named.count(twice)} times; name each target once.")
    if len(values) not in {1, len(named)}:
        told = "is one target" if len(named) == 1 else f"are {len(named)} targets"
        raise InvalidValue(
            f"{option} is given {len(values)} times and there {told}; give it once, or once for each target."
        )
    if settings["positive"] is not None and given[0] != "auc":
        raise InvalidValue("--positive says what an AUC is about, and none is asked for; leave it out or add --auc.")
    if given[0] == "accuracy":
        values = [accuracy_threshold(value) for value in values]
    extra = {"positive": settings["positive"]} if given[0] == "auc" else {}
    made = MEASURES[given[0]]
    aims = tuple(made(name, value, **extra) for name, value in zip(named, values * len(named), strict=False))
    for aim in aims if extra else ():
        _require_positive(schema, aim)
    return aims


def _require_positive(schema: Schema, aim: Aim) -> None:
    """Refuse an AUC that does not say which value it is about, with the option that says so."""
    try:
        aim.lesson(schema)
    except InvalidValue as refused:
        raise InvalidValue(f"{str(refused).removesuffix('.')}, with --positive.") from None
