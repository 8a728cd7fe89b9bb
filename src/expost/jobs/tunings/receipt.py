"""The receipt of a tuning, whose statement is that of private selection, its folder and its audit."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from expost.accounting.curve import AdpEpsilon
from expost.accounting.private_selection import SelectionBill, Statement, TruncatedNegativeBinomial
from expost.errors import Unreadable
from expost.folders.claim import deliver
from expost.jobs.tunings.report import MADE, TuningFacts, of_tuning, tuning_page
from expost.receipts.audit import Audit
from expost.receipts.notation import finite, fraction, items, number, record, table, text, truth
from expost.receipts.receipt import digest, digest_faults, receipt_text
from expost.report.arrangement import RELATIONS
from expost.report.facts import ROUNDING
from expost.report.words import NOT_PRIVATE
from expost.text import Json
from expost.training.head.score import Classifier
from expost.training.tuned import Contest, Tuned

FORMAT = "expost receipt of private selection 2"
NOTION = "approximate ex-post, by private selection; no Rényi bound is claimed"
MOST_CONFIGURATIONS = 10**4
FIXED = ("made", "neighbours", "asked", "selection")
"""The parts of a receipt that are known before data is read."""

PARTS = (
    "warning", "format", "title", "statement", "seeded", "floating", *FIXED, "pledged", "ended", "score", "released",
    "versions",
)  # fmt: skip
"""All of them; without a seed there is no warning."""

PRICES = (
    "the ε and the δ of one run of each configuration are taken at their word: they are what whoever wrote it claims."
)


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
    record({**found, "warning": None}, PARTS)
    contest, ended, _ = _contest(found), record(found["ended"], ("reached", "configuration")), truth(found["floating"])
    for name in (found["title"], found["released"], *table(found["versions"]).values()):
        text(name)
    best = None if ended["configuration"] is None else text(ended["configuration"])
    if best is not None and best not in contest.names:
        return Audit(math.inf, ("the configuration that is shown is not one of those that were run.",), (PRICES,))
    spent = contest.stated(best)
    faults = (*digest_faults(found, pledged, FIXED), *_differences(found, spent), *_ending(found, contest, best))
    return Audit(spent.epsilon, faults, (PRICES,))


def _contest(found: Mapping[str, Json]) -> Contest:
    fields = record(found["selection"], ("eta", "gamma", "held", "configurations"))
    listed_out = [record(each, ("name", "epsilon", "delta")) for each in items(fields["configurations"])]
    names = tuple(text(each["name"]) for each in listed_out)
    if not len(set(names)) == len(names) <= MOST_CONFIGURATIONS:
        raise Unreadable("two configurations of the receipt have the same name, or there are too many of them.")
    prices = tuple(Statement(AdpEpsilon(number(each["epsilon"])), number(each["delta"])) for each in listed_out)
    law = TruncatedNegativeBinomial(number(fields["eta"]), number(fields["gamma"]))
    at_least = number(record(found["asked"], ("score",))["score"])
    return Contest(names, SelectionBill(law, prices), at_least, fraction(fields["held"]), text(found["neighbours"]))


def _differences(found: Mapping[str, Json], spent: Statement) -> Iterator[str]:
    statement = record(found["statement"], ("epsilon", "delta", "notion", "neighbours"))
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
    if found.get("warning", NOT_PRIVATE) != NOT_PRIVATE or truth(found["seeded"]) is not ("warning" in found):
        yield "the receipt does not begin with the warning that a seeded run is NOT PRIVATE, or has one without a seed."
    if not 0 < contest.held < 1:
        yield "the share that was held out does not lie between 0 and 1."


def save_tuned(tuned: Tuned[object], folder: Path, *, title: str = "Tuning", overwrite: bool = False) -> None:
    """Write the report and the receipt of a tuning into a new folder, and the head if it made one.

    Any other value is the caller's to keep.
    """
    facts, value = of_tuning(tuned, title=title), tuned.value

    def put(fresh: Path) -> None:
        if isinstance(value, Classifier):
            value.save(fresh / "model.npz")

    receipt, report = receipt_text(tuning_receipt(facts)), tuning_page(facts)
    deliver(folder, put, receipt=receipt, report=report, overwrite=overwrite)
