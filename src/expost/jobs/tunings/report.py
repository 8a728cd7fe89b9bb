"""Tuned runs: what a report says of the best of many private runs."""

from dataclasses import dataclass
from typing import final

from expost.accounting.private_selection import Statement
from expost.report.arrangement import RELATIONS
from expost.report.digits import price, small
from expost.report.markup import computed_with, html_table, row, section
from expost.report.outcomes import versions
from expost.report.page import (
    banners,
    coverage_section,
    document,
    header,
    meaning_section,
    method_section,
)
from expost.report.units import by_row, by_unit
from expost.training.tuned import Contest, Tuned

MADE = "The best of many private runs"
COVERED = (
    "The bound covers the whole procedure: all runs together, however many there were, every look at the held-out "
    "records and the choice of the run that is shown."
)
HIDDEN = (
    "Not covered: the number of runs, and everything about the runs that are not shown. They must stay secret: the "
    "bound holds for what is shown here and no more."
)
WORD = (
    "Not covered: a configuration that claims too little. The ε and the δ of one run are taken at the word of whoever "
    "wrote the configuration."
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TuningFacts:
    """What a tuning came to, what it cost and how that is known; ``value`` is the type of what was made."""

    title: str
    value: str
    configuration: str | None
    score: float | None
    contest: Contest
    seeded: bool
    floating: bool
    versions: tuple[tuple[str, str], ...]

    @property
    def statement(self) -> Statement:
        """What all runs cost together."""
        return self.contest.stated(self.configuration)

    @property
    def neighbours(self) -> str:
        """The neighbour relation of the statement."""
        return self.contest.neighbours


def of_tuning(tuned: Tuned[object], *, title: str = "Tuning") -> TuningFacts:
    """What a report tells of a tuning; nothing of the value is shown but its type."""
    return TuningFacts(
        title=title,
        value=type(tuned.value).__name__,
        configuration=tuned.configuration,
        score=tuned.score,
        contest=tuned.contest,
        seeded=tuned.seeded,
        floating=tuned.floating,
        versions=versions(),
    )


def tuning_page(facts: TuningFacts) -> str:
    """The whole page."""
    return document(facts.title, article(facts))


def article(facts: TuningFacts) -> str:
    """The page between its head and its foot."""
    spent, contest = facts.statement, facts.contest
    shown, per = facts.configuration is not None, by_unit("per record", facts.neighbours)
    figures = (
        ("privacy price", f"ε {price(spent.epsilon)}", f"at δ = {small(spent.delta)}, {per}"),
        (
            "noisy score",
            f"{facts.score:.4g}" if facts.score is not None else "none passed",
            f"asked for: {contest.at_least:g}",
        ),
        ("runs", f"{contest.bill.runs.mean:.4g} on average", "how many there were is secret"),
        ("released", facts.value if shown else "nothing", "not shown here"),
    )
    top = header(
        MADE,
        facts.title,
        banners=banners(seeded=facts.seeded, missed="" if shown else "No run passed.", floating=facts.floating),
        headline=_headline(facts),
        figures=figures,
        told=(_cost(facts),),
    )
    meaning = meaning_section(spent.epsilon, spent.delta, facts.neighbours)
    covers = coverage_section(
        (by_unit(COVERED, facts.neighbours), HIDDEN, WORD),
        seeded=facts.seeded,
        neighbours=facts.neighbours,
        on_public=False,
    )
    told = f"{top}{_configurations(facts)}{meaning}{method_section(_method(facts))}{covers}"
    return f'<article class="expost">{told}{computed_with(facts.versions)}</article>'


def _headline(facts: TuningFacts) -> str:
    goal, spent = f"a score of at least {facts.contest.at_least:g}", f"ε = {price(facts.statement.epsilon)}"
    if facts.configuration is None:
        return f"No run had {goal}; {spent} was spent."
    return f"The cheapest configuration with {goal} is {facts.configuration}, for {spent}."


def _cost(facts: TuningFacts) -> str:
    spent, eta = facts.statement, facts.contest.bill.runs.eta
    of = "the configuration that is shown"
    if facts.configuration is None:
        of = "the dearest configuration, because the fact that no run passed says something about every one of them"
    return (
        f"This cost ε = {price(spent.epsilon)} at δ = {small(spent.delta)}, {by_unit('per record', facts.neighbours)}: "
        f"{2 + eta:g} times the ε of one run of {of}. The bound covers all runs together, however many there were. It "
        "is an (ε, δ) by itself, and not "
        f"a Rényi bound: whatever is released later from the same {by_row('records', facts.neighbours)} adds its ε "
        "and its δ."
    )


def _configurations(facts: TuningFacts) -> str:
    bill = facts.contest.bill
    rows = [
        row(
            name,
            price(each.epsilon),
            small(each.delta),
            price(bill.passed(place).epsilon),
            "shown" if name == facts.configuration else "",
        )
        for place, (name, each) in enumerate(zip(facts.contest.names, bill.configurations, strict=True))
    ]
    heads = ("configuration", "ε of one run", "δ of one run", "ε if it is shown", "")
    here = [place for place, name in enumerate(facts.contest.names) if name == facts.configuration]
    return section("The configurations", html_table(heads, rows, here=here, stacked=True))


def _method(facts: TuningFacts) -> tuple[str, ...]:
    runs, held, each = facts.contest.bill.runs, facts.contest.held, by_unit("each record", facts.neighbours)
    return (
        f"Neighbours: {RELATIONS.get(facts.neighbours, facts.neighbours)}.",
        f"The data was divided once, into a part to learn from and a part to score on: {each} went to the second "
        f"with probability {held}, independently of the others.",
        f"A secret number of runs was drawn, {runs.mean:.4g} on average (truncated negative binomial, η = "
        f"{runs.eta:g}, γ = {runs.gamma:.4g}), and for each run one of the configurations, all equally likely.",
        "Of the runs that had the score asked for, the one with the smallest ε is shown; among equals, the one with "
        "the highest score. All others were thrown away unseen.",
    )
