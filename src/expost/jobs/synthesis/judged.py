"""Judged: how each aim was measured and what that leaves open, told from releases alone."""

import math
from collections.abc import Iterator, Sequence

from expost.jobs.synthesis.counted import Counted
from expost.report.digits import plain
from expost.report.units import by_row
from expost.tabular.aims import Aim
from expost.tabular.marginals import Clique
from expost.tabular.measures import AboveGuessing, BalancedTargetAccuracy, Overlap
from expost.tabular.overlaps import chance_share, crosstabs
from expost.tabular.questions import known_values
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate

MOST_NAMED = 5


def judged_words(aims: Sequence[Aim], schema: Schema, counted: Counted, candidate: Candidate) -> tuple[str, ...]:
    """A paragraph for each aim whose measure needs one."""
    return tuple(dict.fromkeys(told for aim in aims for told in _words(aim, schema, counted, candidate)))


def _words(aim: Aim, schema: Schema, counted: Counted, candidate: Candidate) -> Iterator[str]:
    match aim.measure:
        case Overlap(listed):
            where = by_row("held-out records", schema.neighbours.value) if counted.share else "public records"
            drawn = by_row("records", schema.neighbours.value)
            yield overlap_words(listed or tuple(crosstabs(schema.names)), candidate, where, drawn)
        case BalancedTargetAccuracy() if aim.target is not None:
            yield balanced_words(aim.target, schema, counted)
        case AboveGuessing():
            yield (
                f"The commonest value of {aim.target}, which guessing was compared with, is that of the released "
                "counts. Where two values are about as common, noise may have picked the other one."
            )


def overlap_words(cliques: Sequence[Clique], candidate: Candidate, where: str, drawn: str) -> str:
    """What an overlap is, and how much of it was given back to chance, which a table may be off by besides."""
    shares = {clique: chance_share(candidate, clique) for clique in cliques}
    most = max(shares, key=shares.__getitem__)
    given = plain(math.ceil(1000 * shares[most]) / 1000)
    return (
        "The overlap is that of the worst table asked about: 1 less the total variation distance between its shares in "
        f"the synthetic rows and in the {where}. What drawing as many {drawn} by chance takes from it on "
        f"average was added back: at most {given}, for {' × '.join(most)}. By as much more a "
        "table may be off without being noticed. Which table is the worst was not revealed."
    )


def balanced_words(target: str, schema: Schema, counted: Counted) -> str:
    """By what the values were weighed, and which of them were left out."""
    column = counted.targets[target]
    known = known_values(column.values, column.std)
    lost = [label for label, found in zip(schema[target].labels, known, strict=True) if not found]
    told = f"The values of {target} were weighed by their released counts, of which noise is a part."
    if not lost:
        return told
    named = ", ".join(lost[:MOST_NAMED]) + (f" and {len(lost) - MOST_NAMED} others" if len(lost) > MOST_NAMED else "")
    if known.sum() < 2:
        return f"{told} Noise alone could have made those of {named}, so that nothing could pass."
    return f"{told} Noise alone could have made those of {named}, which were left out."
