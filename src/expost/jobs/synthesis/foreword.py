"""Foreword: what the released counts say before any result, and what they warn of; free, because they were released."""

from collections.abc import Iterable, Sequence

from expost.jobs.synthesis.counted import NORMAL_95, Counted, Released, column_counts
from expost.report.digits import gain, measured, plain, points
from expost.report.units import by_row
from expost.tabular.aims import Aim, targets_of
from expost.tabular.measures import AboveGuessing, AreaUnderCurve, BalancedTargetAccuracy, MeanScore, TargetAccuracy
from expost.tabular.questions import balancing
from expost.tabular.schema.schema import Schema

CROWDED = 0.95
"""The share of the records in one bin from which on a column says next to nothing, where noise lets that be told."""
MOST_NAMED = 5


def baseline_words(counted: Counted, schema: Schema, aims: Sequence[Aim]) -> str:
    """How often the commonest value of each target is right, but where a score of the caller's own is asked for."""
    told, training = [], by_row("training records", schema.neighbours.value)
    for target in targets_of([aim for aim in aims if not isinstance(aim.measure, MeanScore)]):
        guess = counted.guess(target)
        told.append(
            f"Always guessing {schema[target].labels[guess.code]}, the commonest value of {target}, would be right for "
            f"{measured(guess.rate, guess.half)} of the {training}."
        )
    return " ".join(told)


def is_guessable(aims: Sequence[Aim]) -> bool:
    """Whether guessing is told beside every answer: it is a way to reach the one thing that is asked for."""
    guessed = TargetAccuracy | BalancedTargetAccuracy | AreaUnderCurve | AboveGuessing
    return len(aims) == 1 and isinstance(aims[0].measure, guessed)


def rate_by_guessing(aim: Aim, counted: Counted) -> float | None:
    """What guessing reaches by this measure; None where guessing is not a way to reach it."""
    if isinstance(aim.measure, TargetAccuracy) and aim.target is not None:
        return counted.guess(aim.target).rate
    if isinstance(aim.measure, BalancedTargetAccuracy) and aim.target is not None:
        column = counted.targets[aim.target]
        return 1 / int((balancing(column.values, column.std) > 0).sum())
    return {AreaUnderCurve: 0.5, AboveGuessing: 0.0}.get(type(aim.measure))


def commonest_warnings(counted: Counted, aims: Iterable[Aim]) -> tuple[tuple[str, str], ...]:
    """What was asked for and is less than guessing has, as far as noise lets that be told, if there is such an aim."""
    found = []
    for aim in aims:
        rate, least = rate_by_guessing(aim, counted), float(aim.at_least)
        if rate is None or least >= rate:
            continue
        title = "Asked for less than guessing"
        if isinstance(aim.measure, TargetAccuracy) and aim.target is not None:
            guess = counted.guess(aim.target)
            always = f"less than always guessing the commonest value of {aim.target} would reach"
            if least < rate - guess.half:
                told = f"{plain(least)} was asked for, which is {always}."
            else:
                title = "Perhaps asked for less than guessing"
                reached = f"{measured(rate, guess.half)} by the released counts"
                told = f"{plain(least)} was asked for, which may be {always}, {reached}."
        else:
            article = "An" if aim.measure.name[0] in "aeiouAEIOU" else "A"
            told = (
                f"{article} {aim.measure.name} of {plain(least)} was asked for of {aim.target}, which is less than the "
                f"{100 * rate:.4g} % that guessing has."
            )
        advice = "A table that passes need not say anything about it; ask for more than guessing next time."
        found.append((title, f"{told} {advice}"))
    return tuple(found)


def gain_warnings(counted: Counted, aims: Iterable[Aim], neighbours: str) -> tuple[tuple[str, str], ...]:
    """Gains that were asked for and that no table can have, because guessing leaves too little to be gained."""
    found = []
    for aim in aims:
        if not isinstance(aim.measure, AboveGuessing) or aim.target is None:
            continue
        guess, asked = counted.guess(aim.target), float(aim.at_least)
        room = 1 - guess.rate + guess.half
        if asked > room:
            told = (
                f"A gain of {gain(asked)} over guessing {aim.target} was asked for, and guessing alone is right for "
                f"{measured(guess.rate, guess.half)} of the {by_row('training records', neighbours)}. No table gains "
                f"more than about {points(1 - guess.rate)}; ask for less, or for an AUC or a balanced accuracy."
            )
            found.append(("Asked for more than can be gained", told))
    return tuple(found)


def crowded_warnings(released: Sequence[Released], records: float, schema: Schema) -> tuple[tuple[str, str], ...]:
    """The columns that have nearly all records in one of several bins, if there are any."""
    found = []
    for name in schema.names:
        column = column_counts(released, name)
        counts, drowned = column.values, NORMAL_95 * column.std >= (1 - CROWDED) * records
        share = min(1.0, float(counts.max()) / records)
        if len(counts) > 1 and share > CROWDED and not drowned:
            found.append(f"{name} ({100 * share:.1f} % in {schema[name].labels[int(counts.argmax())]})")
    if not found:
        return ()
    others, about = len(found) - MOST_NAMED, schema.neighbours.value
    more = f" and {others} other{'s' if others > 1 else ''}" if others > 0 else ""
    told = (
        f"More than {plain(CROWDED)} of the {by_row('training records', about)} are in one bin of "
        f"{', '.join(found[:MOST_NAMED])}{more}. "
        "If that is not what the data says, values were not recognised or the bins do not fit: check the schema."
    )
    return ((by_row("Nearly all records in one bin", about), told),)


def guessing_plan(aims: Iterable[Aim]) -> str:
    """How the same will be told, before anything is known of the data; nothing where no accuracy is asked for."""
    accuracies = [aim for aim in aims if isinstance(aim.measure, TargetAccuracy)]
    found = [f"{plain(float(aim.at_least))} for {aim.target}" for aim in accuracies]
    if not found:
        return ""
    return (
        f"Always guessing the commonest value may be right more often than what is asked for, {' and '.join(found)}. "
        "How often it is cannot be known before the data is read; the run shows it beside every answer, from counts "
        "that are on the bill, and warns if less was asked for."
    )
