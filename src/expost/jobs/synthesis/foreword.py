"""Foreword: what the released counts say before any result, and what they warn of; free, because they were released."""

from collections.abc import Sequence
from fractions import Fraction

from expost.jobs.synthesis.counted import Counted, Released, column_counts
from expost.report.digits import measured, plain
from expost.tabular.schema.schema import Schema

CROWDED = 0.95
"""The share of the records in one bin from which on a column says next to nothing."""
MOST_NAMED = 5


def baseline_words(counted: Counted, target: str) -> str:
    """How often the commonest value of the target is right."""
    return (
        f"Always guessing {counted.commonest}, the commonest value of {target}, would be right for "
        f"{measured(counted.guess, counted.guess_half)} of the training records."
    )


def commonest_warnings(counted: Counted, target: str, asked: Fraction) -> tuple[tuple[str, str], ...]:
    """That less was asked for than guessing has, if so."""
    if asked >= counted.guess:
        return ()
    told = (
        f"{plain(float(asked))} was asked for, which is less than always guessing the commonest value of {target} "
        "would reach. A table that passes need not say anything about it; ask for more than guessing next time."
    )
    return (("Asked for less than guessing", told),)


def crowded_warnings(released: Sequence[Released], records: float, schema: Schema) -> tuple[tuple[str, str], ...]:
    """The columns that have nearly all records in one of several bins, if there are any."""
    found = []
    for name in schema.names:
        counts = column_counts(released, name).values
        share = min(1.0, float(counts.max()) / records)
        if len(counts) > 1 and share > CROWDED:
            found.append(f"{name} ({100 * share:.1f} % in {schema[name].labels[int(counts.argmax())]})")
    if not found:
        return ()
    others = len(found) - MOST_NAMED
    more = f" and {others} other{'s' if others > 1 else ''}" if others > 0 else ""
    told = (
        f"More than {plain(CROWDED)} of the training records are in one bin of {', '.join(found[:MOST_NAMED])}{more}. "
        "If that is not what the data says, values were not recognised or the bins do not fit: check the schema."
    )
    return (("Nearly all records in one bin", told),)


def guessing_plan(target: str, asked: Fraction) -> str:
    """How the same will be told, before anything is known of the data."""
    return (
        f"Always guessing the commonest value of {target} may be right more often than {plain(float(asked))}. How "
        "often it is cannot be known before the data is read; the run shows it beside every answer, from counts that "
        "are on the bill, and warns if less was asked for."
    )
