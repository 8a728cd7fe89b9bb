"""Goals: the aims of a table as a report tells them and as a receipt has them, and read back from there."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from expost.errors import Unreadable
from expost.private import Neighbours
from expost.receipts.notation import fraction, items, record, text
from expost.receipts.testimony import MOST_ENTRIES, Testimony, bounded
from expost.report.purpose import Purpose
from expost.tabular.aims import Aim, together
from expost.tabular.measures import (
    About,
    AboveGuessing,
    AreaUnderCurve,
    Asking,
    BalancedTargetAccuracy,
    MeanScore,
    Measure,
    Overlap,
    TargetAccuracy,
)
from expost.tabular.score import Lesson
from expost.text import Json

LEAST = "least margin"
"""What is told of several aims: the least of their margins, in records."""
AIM = ("measure", "target", "threshold", "positive", "crosstabs")


def purpose(aim: Aim) -> Purpose:
    """The aim in words, and for a receipt."""
    measure = aim.measure
    return Purpose(
        aim.words,
        {
            "measure": measure.name,
            "target": aim.target,
            "threshold": str(aim.at_least),
            "positive": measure.positive if isinstance(measure, AreaUnderCurve) else None,
            "crosstabs": measure.crosstabs if isinstance(measure, Overlap) else (),
        },
    )


def listed(aims: Sequence[Aim]) -> str:
    """All that is asked for, as a phrase."""
    *first, last = (aim.words for aim in aims)
    return f"{', '.join(first)} and {last}" if first else last


def asked_words(aims: Sequence[Aim]) -> tuple[str, str, str]:
    """What a receipt says in short: the target, the measure and the least that is asked for, as texts."""
    if len(aims) == 1:
        return aims[0].target or "", aims[0].measure.name, str(aims[0].at_least)
    return "; ".join(aim.words for aim in aims), LEAST, "0"


def aims_told(told: Testimony) -> tuple[Aim, ...]:
    """The aims of a receipt, refused unless they are what it says in short."""
    aims = tuple(map(_aim, told.asked.aims))
    short = told.asked.target, told.asked.measure, str(told.asked.threshold)
    if not aims or asked_words(aims) != short:
        raise Unreadable("what was asked for is told in two ways that disagree; the receipt was changed.")
    return aims


def question_told(aims: Sequence[Aim], names: tuple[str, ...], neighbours: Neighbours) -> Asking:
    """The question of these aims, for its sensitivity and unit; there are no records to ask."""
    abouts = (About(Lesson(aim.target or ""), names, neighbours) for aim in aims)
    return together([aim.measure.question(about, aim.at_least) for aim, about in zip(aims, abouts, strict=True)])


def _aim(found: Json) -> Aim:
    fields = record(found, AIM)
    name, least = text(fields["measure"]), fraction(fields["threshold"])
    target = None if fields["target"] is None else text(fields["target"])
    if name not in MEASURES or (target is None) is not (name == Overlap.name):
        raise Unreadable("the receipt names something to measure that is not known, or of nothing; it was changed.")
    aim = Aim(MEASURES[name](fields), target, least)
    if json.dumps(dict(purpose(aim).record)) != json.dumps(dict(fields)):
        raise Unreadable("an aim of the receipt has what such an aim does not have; it was changed.")
    return aim


def _unscored(candidate: object, records: object) -> NoReturn:
    raise AssertionError("an audit has no records to score")


def _crosstabs(found: Json) -> Overlap:
    return Overlap(tuple(tuple(map(text, items(each))) for each in bounded(found, MOST_ENTRIES, least=0)))


MEASURES: Mapping[str, Callable[[Mapping[str, Json]], Measure]] = {
    TargetAccuracy.name: lambda fields: TargetAccuracy(),
    BalancedTargetAccuracy.name: lambda fields: BalancedTargetAccuracy(),
    AboveGuessing.name: lambda fields: AboveGuessing(),
    AreaUnderCurve.name: lambda fields: AreaUnderCurve(
        None if fields["positive"] is None else text(fields["positive"])
    ),
    MeanScore.name: lambda fields: MeanScore(_unscored),
    Overlap.name: lambda fields: _crosstabs(fields["crosstabs"]),
}
