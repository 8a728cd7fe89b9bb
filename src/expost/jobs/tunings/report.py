"""Tuned runs: what a report and a receipt say of the best of many, whose statement is that of private selection."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from expost.accounting.curve import AdpEpsilon
from expost.accounting.private_selection import SelectionBill, Statement, TruncatedNegativeBinomial
from expost.errors import SchemaMismatch
from expost.receipts.audit import Audit
from expost.receipts.commitment import digest, digest_faults
from expost.receipts.notation import finite, fraction, number, table, tables, text, truth
from expost.report.charts import safe
from expost.report.coverage import coverage
from expost.report.digits import price, small
from expost.report.facts import ROUNDING, versions
from expost.report.page import banners, document, listed, meaning_section, prose, row, section, tiles
from expost.report.page import html_table as table_of
from expost.report.words import NOT_PRIVATE, RELATIONS
from expost.text import Json
from expost.training.tuned import Contest, Tuned

FORMAT = "expost receipt of private selection 2"
NOTION = "approximate ex-post, by private selection; no Rényi bound is claimed"
MADE = "The best of many private runs"
MOST_CONFIGURATIONS = 10**4
FIXED = ("made", "neighbours", "asked", "selection")
"""The parts of a receipt that are known before data is read."""

COVERED = (
    "Covered: all runs together, how many of them there were, every look at held-out records and the choice of the one "
    "that is shown."
)
HIDDEN = (
    "Not covered: the number of runs, and everything about the runs that are not shown. They must stay secret: the "
    "bound holds for what is shown here and no more."
)
WORD = (
    "Not covered: a configuration that claims too little. The ε and the δ of one run are taken at the word of whoever "
    "wrote the configuration."
)
PRICES = (
    "the ε and the δ of one run of each configuration are taken at their word: they are what whoever wrote it claims."
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
    on_public: ClassVar[bool] = False

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


def article(facts: TuningFacts) -> str:
    """The page between its head and its foot."""
    spent, contest = facts.statement, facts.contest
    goal = f"a score of at least {contest.at_least:g}"
    none = "" if facts.configuration is not None else "No run passed."
    missed = f"No run came to {goal}; ε = {price(spent.epsilon)} was spent." if facts.configuration is None else ""
    best = f"The cheapest configuration with {goal} is {facts.configuration}, for ε = {price(spent.epsilon)}."
    figures = [
        ("privacy price", f"ε {price(spent.epsilon)}", f"at δ = {small(spent.delta)}, per record"),
        ("noisy score", "none passed" if facts.score is None else f"{facts.score:.4g}", f"asked: {contest.at_least:g}"),
        ("runs", f"{contest.bill.runs.mean:.4g} on average", "how many there were is secret"),
        ("released", "nothing" if facts.configuration is None else facts.value, "not shown here"),
    ]
    told = ", ".join(f"{name} {version}" for name, version in facts.versions)
    return (
        '<article class="expost"><header><p class="kind">The best of many private runs · what it reached and what it '
        f"cost</p><h1>{safe(facts.title)}</h1>"
        f"{banners(seeded=facts.seeded, missed=none, floating=facts.floating)}"
        f'<p class="lede">{prose(missed or best)}</p>{tiles(figures)}<p>{prose(_cost(facts))}</p></header>'
        f"{_configurations(facts)}{meaning_section(spent.epsilon, spent.delta, facts.neighbours)}{_method(facts)}"
        f'{coverage(facts, COVERED, HIDDEN, WORD)}<p class="note">{safe(told)}</p></article>'
    )


def tuning_page(facts: TuningFacts) -> str:
    """The whole page."""
    return document(facts.title, article(facts))


def tuning_receipt(facts: TuningFacts) -> dict[str, Json]:
    """The facts an auditor needs, ready for ``json.dumps``."""
    warning: dict[str, Json] = {"warning": NOT_PRIVATE} if facts.seeded else {}
    spent = facts.statement
    return warning | {
        "format": FORMAT,
        "title": facts.title,
        "statement": {
            "epsilon": finite(spent.epsilon),
            "delta": spent.delta,
            "notion": NOTION,
            "neighbours": facts.neighbours,
        },
        "seeded": facts.seeded,
        "floating": facts.floating,
        **fixed_by(facts.contest),
        "pledged": tuning_digest(facts.contest),
        "ended": {"reached": facts.configuration is not None, "configuration": facts.configuration},
        "score": None if facts.score is None else finite(facts.score),
        "released": facts.value,
        "versions": dict(facts.versions),
    }


def tuning_digest(contest: Contest) -> str:
    """The digest of what a tuning fixes before it reads a record, which its receipt has too."""
    return digest(fixed_by(contest), FIXED)


def fixed_by(contest: Contest) -> dict[str, Json]:
    """The parts of the receipt that are known before data is read."""
    configurations: list[Json] = [
        {"name": name, "epsilon": finite(each.epsilon), "delta": each.delta}
        for name, each in zip(contest.names, contest.bill.configurations, strict=True)
    ]
    return {
        "made": MADE,
        "neighbours": contest.neighbours,
        "asked": {"score": float(contest.at_least)},
        "selection": {
            "eta": contest.bill.runs.eta,
            "gamma": contest.bill.runs.gamma,
            "held": str(contest.held),
            "configurations": configurations,
        },
    }


def recompute(found: Mapping[str, Json], pledged: str | None = None) -> Audit:
    """The ε that the selection of a receipt leads to, where the receipt says otherwise, and what is believed.

    ``pledged`` is the digest that was shown before the run.

    Uses: private selection; private selection, approximate.
    """
    contest, ended, _ = _contest(found), table(found["ended"]), truth(found["floating"])
    best = None if ended["configuration"] is None else text(ended["configuration"])
    if best is not None and best not in contest.names:
        return Audit(math.inf, ("the configuration that is shown is not one of those that were run.",), (PRICES,))
    spent = contest.stated(best)
    faults = (*digest_faults(found, pledged, FIXED), *_differences(found, spent), *_ending(found, contest, best))
    return Audit(spent.epsilon, faults, (PRICES,))


def _contest(found: Mapping[str, Json]) -> Contest:
    fields = table(found["selection"])
    listed_out = tables(fields["configurations"])
    names = tuple(text(each["name"]) for each in listed_out)
    if not len(set(names)) == len(names) <= MOST_CONFIGURATIONS:
        raise SchemaMismatch("two configurations of the receipt have the same name, or there are too many of them.")
    prices = tuple(Statement(AdpEpsilon(number(each["epsilon"])), number(each["delta"])) for each in listed_out)
    law = TruncatedNegativeBinomial(number(fields["eta"]), number(fields["gamma"]))
    at_least = number(table(found["asked"])["score"])
    return Contest(names, SelectionBill(law, prices), at_least, fraction(fields["held"]), text(found["neighbours"]))


def _differences(found: Mapping[str, Json], spent: Statement) -> Iterator[str]:
    statement = table(found["statement"])
    epsilon, delta = number(statement["epsilon"]), number(statement["delta"])
    if not math.isclose(epsilon, spent.epsilon, rel_tol=ROUNDING):
        yield f"the receipt states ε = {epsilon:.6g}; its configurations lead to ε = {spent.epsilon:.6g}."
    if not math.isclose(delta, spent.delta, rel_tol=ROUNDING):
        yield f"the receipt states δ = {delta:g}; its configurations lead to δ = {spent.delta:g}."
    if (found["made"], statement["notion"]) != (MADE, NOTION) or found["neighbours"] not in RELATIONS:
        yield f"what was made, the notion or the neighbours are not those of {FORMAT}."
    if statement["neighbours"] != found["neighbours"]:
        yield "the statement is about other neighbours than the selection."


def _ending(found: Mapping[str, Json], contest: Contest, best: str | None) -> Iterator[str]:
    if table(found["ended"])["reached"] is not (best is not None):
        yield "the receipt disagrees with itself on whether a run passed."
    if best is not None and not number(found["score"]) >= contest.at_least:
        yield "the run that is shown did not come to the score that was asked for."
    if best is None and found["score"] is not None:
        yield "the receipt shows the score of a run that is not shown."
    if truth(found["seeded"]) is not (found.get("warning") == NOT_PRIVATE):
        yield "the receipt does not begin with the warning that a seeded run is NOT PRIVATE, or has one without a seed."
    if not 0 < contest.held < 1:
        yield "the share that was held out does not lie between 0 and 1."


def _cost(facts: TuningFacts) -> str:
    spent, eta = facts.statement, facts.contest.bill.runs.eta
    dearest = "the dearest configuration, because that no run passed says something about every one of them"
    of = "the configuration that is shown" if facts.configuration is not None else dearest
    return (
        f"This cost ε = {price(spent.epsilon)} at δ = {small(spent.delta)}, per record: {2 + eta:g} times the ε of one "
        f"run of {of}. The bound covers all runs together, however many there were. It is an (ε, δ) by itself, and no "
        "Rényi bound: what comes later on the same records adds its ε and its δ."
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
            name="here" if name == facts.configuration else "",
        )
        for place, (name, each) in enumerate(zip(facts.contest.names, bill.configurations, strict=True))
    ]
    heads = ("configuration", "ε of one run", "δ of one run", "ε if it is shown", "")
    return section("The configurations", table_of(heads, rows))


def _method(facts: TuningFacts) -> str:
    runs, held = facts.contest.bill.runs, facts.contest.held
    return section(
        "How it was made",
        listed(
            (
                f"Neighbours: {RELATIONS.get(facts.neighbours, facts.neighbours)}.",
                f"An independent coin of chance {held} for each record divided the data once, into a part to learn "
                "from and a part to score on.",
                f"A secret number of runs was drawn, {runs.mean:.4g} on average (truncated negative binomial, η = "
                f"{runs.eta:g}, γ = {runs.gamma:.4g}), and for each run one of the configurations, each as likely as "
                "another.",
                "Of the runs that came to the score asked for, the one with the smallest ε is shown; among equals the "
                "one with the highest score. All others were thrown away unseen.",
            ),
            "ol",
        ),
    )
