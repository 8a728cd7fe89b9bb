"""The page of an answer: what is known how precisely, drawn and in a table, what it cost and how that is known."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from expost.jobs.asking.drawn import answer_charts
from expost.jobs.asking.facts import JUMP, LOOKS, ONE, AnswerFacts
from expost.jobs.asking.figures import figure, half_figure, high_figure, low_figure, scale_of
from expost.jobs.asking.lasting import LASTING
from expost.jobs.asking.overseen import answer_auditors
from expost.jobs.asking.query import Count, Mean, Persons, Quantile, Share, Sum
from expost.jobs.asking.shortfall import cut_words
from expost.jobs.asking.targets import Compare
from expost.jobs.asking.told import OPEN, GroupLine, QuestionTold
from expost.jobs.asking.worded import (
    COVERED,
    answer_headline,
    bars_words,
    cost_words,
    group_name,
    largest_error,
    missed_words,
)
from expost.report.arrangement import RELATIONS
from expost.report.digits import plain, points, price, small
from expost.report.markup import bins_note, html_table, note, prose, row, section
from expost.report.page import STYLE, banners, coverage_section, document, header, meaning_section, method_section
from expost.report.units import by_row, by_unit

KIND = "Answers to questions"
MOST_SHOWN = 50
"""Groups of a question on the page; all of them are in the file beside it."""
SAMPLING = {
    Count: "A count describes the rows in the table and estimates nothing beyond them, so it has no sampling error.",
    Persons: "The number of persons describes the table and estimates nothing beyond it, so it has no sampling error.",
    Sum: "A sum describes the rows in the table and estimates nothing beyond them, so it has no sampling error.",
    Share: "Sampling error is another matter: if the rows are a sample, it is how far a share may be from that among "
    "the people they were drawn from. It depends on the number of rows, and no privacy budget makes it smaller.",
    Mean: "Sampling error is another matter: how far a mean may be from that among people at large depends on how "
    "much the values vary. That was not measured, so it is not known here.",
    Quantile: "Sampling error is another matter: how far a quantile may be from that among people at large was not "
    "measured, so it is not known here.",
}
"""What is said of the sampling error of each measure, which is never part of the error bars."""
LASTING_BARS = (
    "The error bars are lasting: they hold however often the answer is refined or asked for again, and are wider for "
    "that."
)

HOW = {
    ONE: "The noise that gives error bars of the length asked for was known beforehand, and so was the price: one "
    "release answers everything.",
    JUMP: "Coarse looks, for at most a tenth of the price, showed how precise the answers had to be. One measurement "
    "of that precision was then made; the answers come from it alone, so the coarse looks do not bias them.",
    LOOKS: "The groups were measured more and more precisely, each look twice as dear as the one before, until the "
    "error bars settled the decision. The error bars hold at every look, and so also at the last.",
}
"""How answers of each kind of plan were measured."""
FROM_EARLIER = (
    "Noisy numbers released by earlier answers on the ledger, and coarse looks where these were not enough, showed how "
    "precise the answers had to be. One measurement of that precision was then made; the answers come from it alone, "
    "so nothing before it biases them."
)
NOTHING_NEW = (
    "This answer reveals nothing that earlier answers have not revealed: its numbers are theirs, or follow from them. "
    "What these reveal is stated in their reports and receipts, and the ledger states it of all runs together."
)


def answer_page(facts: AnswerFacts) -> str:
    """The whole page."""
    return document(facts.heading.title, _article(facts))


def answer_fragment(facts: AnswerFacts) -> str:
    """The same as a part of another page, such as a notebook."""
    return f"<style>{STYLE}</style>{_article(facts)}"


def _article(facts: AnswerFacts) -> str:
    heading = facts.heading
    top = header(
        f"{KIND} · {heading.date}" if heading.date else KIND,
        heading.title,
        banners=banners(seeded=facts.seeded, missed=missed_words(facts), floating=facts.floating),
        headline=answer_headline(facts),
        figures=_figures(facts),
        told=(cost_words(facts),),
        warnings=[("Persons with many rows", each) for each in cut_words(facts)],
    )
    answers = "".join(_question(facts, each) for each in facts.told)
    meaning = section("What the number means", f"<p>{prose(NOTHING_NEW)}</p>")
    if facts.spending.bill:
        meaning = meaning_section(facts.epsilon, facts.delta, facts.neighbours, facts.spending.probabilistic)
    covers = coverage_section(_covered(facts), seeded=facts.seeded, neighbours=facts.neighbours, on_public=False)
    told = f"{top}{answers}{meaning}{method_section(_method(facts))}{covers}{answer_auditors(facts)}"
    return f'<article class="expost">{told}</article>'


def _figures(facts: AnswerFacts) -> tuple[tuple[str, str, str], ...]:
    first, level = facts.told[0], plain(float(facts.recipe.confidence))
    each = "for each error bar" if facts.recipe.decision is None else "for the decision"
    together = "for all of them together" if facts.recipe.together else each
    asked = str(first.question.target)
    paid = (f"ε {price(facts.epsilon)}", f"at δ = {small(facts.delta)}, {by_unit('per record', facts.neighbours)}")
    return (
        ("privacy price", *(paid if facts.spending.bill else ("nothing more", "than earlier answers cost"))),
        ("asked for", asked[0].upper() + asked[1:], f"with {level} confidence {together}"),
        _counted(facts),
        _error(facts),
    )


def _counted(facts: AnswerFacts) -> tuple[str, str, str]:
    """How many groups are settled; of a comparison, whether it is."""
    if isinstance(facts.told[0].question.target, Compare):
        return "comparison", "decided" if facts.reached else "not decided", "of two groups"
    few = f"{facts.few:,} known to be too small" if facts.few else "the rest is open" if facts.open else "all of them"
    return "groups settled", f"{facts.settled:,} of {facts.groups:,}", few


def _error(facts: AnswerFacts) -> tuple[str, str, str]:
    """The longest error bar of a settled group, or how many questions there were."""
    if len(facts.told) > 1:
        return "questions", str(len(facts.told)), "planned and paid for together"
    told = facts.told[0]
    times, sign = scale_of(told.question.query.measure)
    worst = times * largest_error(told)
    if math.isnan(worst):
        return "largest error", "none settled", "no error bar is short enough"
    unit = " points" if sign else ""
    return "largest error", f"± {half_figure(worst)}{unit}", "of privacy noise, in a settled group"


def _question(facts: AnswerFacts, told: QuestionTold) -> str:
    """A question with its chart and its table, of the largest groups where there are many."""
    query = told.question.query
    lines = groups_shown(told.lines)
    parts = [f"<p>{prose(_reading(facts, told))}</p>"]
    if len(lines) < len(told.lines):
        parts.append(
            note(f"The {MOST_SHOWN} largest of {len(told.lines):,} groups are shown; the file of answers has them all.")
        )
    parts += [answer_charts(told, lines), _table(facts, told, lines)]
    parts.append(bins_note(label for line in lines for label in line.group))
    title = str(query)
    return section(title[0].upper() + title[1:], *parts)


def groups_shown(lines: Sequence[GroupLine], most: int = MOST_SHOWN) -> Sequence[GroupLine]:
    """The groups that are shown: all of them in their order or, of many, those of the largest estimates."""
    return lines if len(lines) <= most else sorted(lines, key=lambda line: -line.estimate)[:most]


def _reading(facts: AnswerFacts, told: QuestionTold) -> str:
    """How the error bars are read, and what they do not tell."""
    cut = " once persons with many rows are cut" if cut_words(facts) else ""
    bars = (
        f"The error bars show the privacy noise alone: the number that the table itself gives{cut} lies between their "
        f"ends, {bars_words(facts)}."
    )
    return f"{bars} {SAMPLING[type(told.question.query.measure)]}"


def _table(facts: AnswerFacts, told: QuestionTold, lines: Sequence[GroupLine]) -> str:
    query = told.question.query
    heads = [" × ".join(query.by) or "group", "estimate", "privacy noise", "between"]
    heads += ["sampling error"] if isinstance(query.measure, Share) else []
    rows = [_row(facts, told, line) for line in lines]
    here = [place for place, line in enumerate(lines) if line.settled == OPEN]
    return html_table([*heads, "settled"], rows, here=here, stacked=True)


def _row(facts: AnswerFacts, told: QuestionTold, line: GroupLine) -> list[str]:
    times, sign = scale_of(told.question.query.measure)
    half = times * line.half
    ends = f"{low_figure(times * line.low, half)} to {high_figure(times * line.high, half)}{sign}"
    sampled = [_sampled(facts, line)] if isinstance(told.question.query.measure, Share) else []
    if line.few:
        return row(group_name(line), line.settled, "", "", *(["" for _ in sampled]), "too small for what was asked")
    settled = "NOT SETTLED" if line.settled == OPEN else line.settled
    estimate = f"{figure(times * line.estimate, half)}{sign}"
    return row(group_name(line), estimate, f"± {half_figure(half)}", ends, *sampled, settled)


def _sampled(facts: AnswerFacts, line: GroupLine) -> str:
    """The sampling error of a share, at the same confidence, from released numbers alone."""
    if not line.rows > 1:
        return "not known"
    width = NormalDist().inv_cdf(1 - float(1 - facts.recipe.confidence) / 2)
    return f"± {points(width * math.sqrt(line.estimate * (1 - line.estimate) / line.rows))}"


def _method(facts: AnswerFacts) -> tuple[str, ...]:
    kind, about = facts.heading.pledged.kind, facts.neighbours
    counted = by_row("Everything was counted on all records; noise was added to the counts, never to records.", about)
    told = [f"Neighbours: {RELATIONS.get(about, about)}.", counted]
    if facts.cuts:
        told.append(
            "Persons were first counted by their number of rows, with noise, for a small part of the price. That "
            "decided how many rows of a person count in full, and shows about how many persons have more."
        )
    if facts.width == LASTING or not facts.spending.bill:
        return (*told, *_recalled(facts))
    told.append(FROM_EARLIER if facts.recalled and kind == JUMP else HOW[kind])
    if facts.heading.refined:
        told.append("The answers were then refined by further measurements, all of which are on the bill.")
    told.append(
        "When to stop was decided from noisy numbers alone, all of which are on the bill, so the decision cost nothing."
    )
    return tuple(told)


def _recalled(facts: AnswerFacts) -> tuple[str, ...]:
    """How an answer came about that earlier ones on the ledger were a part of."""
    if facts.width != LASTING:
        return ("Nothing was measured. The same was asked before, as precisely or more so, and this is that answer.",)
    if not facts.spending.bill:
        told = (
            "Nothing was measured. Noisy numbers released by earlier answers on the ledger were combined, weighted by "
            "their precision."
        )
    else:
        told = (
            "Noisy numbers released by earlier answers on the ledger showed how much more had to be measured. The new "
            "measurements were combined with them, weighted by precision. When to stop was decided from noisy numbers "
            "alone, so the decision cost nothing."
        )
    return told, LASTING_BARS


def _covered(facts: AnswerFacts) -> tuple[str, ...]:
    known = "Taken to be public: the schema, with every group that it knows, and the questions."
    if not facts.spending.bill:
        return known, "Not covered: what the earlier answers reveal, whose numbers these are."
    return COVERED.replace("The bound covers", "Covered:", 1), known
