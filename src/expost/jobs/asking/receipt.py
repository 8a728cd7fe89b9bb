"""The receipt of an answer: what was fixed before data was read, with its digest, and all that it came to."""

import hashlib
from collections.abc import Mapping

from expost.jobs.asking.facts import AnswerFacts, Pledged
from expost.jobs.asking.targets import Above, Compare, Target, Top, WithinDistance, WithinShare
from expost.jobs.asking.told import OPEN, QuestionTold
from expost.jobs.synthesis.declared import schema_digest
from expost.receipts.costs import item_out, pledge_out
from expost.receipts.notation import finite
from expost.receipts.receipt import booking_out, digest, statement_out
from expost.report.words import NOT_PRIVATE
from expost.text import Json

FORMAT = "expost answer 1"
MADE = "Answers to questions"
FIXED = ("made", "neighbours", "asked", "plan", "pledge")
"""The parts of a receipt that are known before data is read."""
PARTS = (
    "warning", "format", "title", "date", "statement", "seeded", "floating", *FIXED, "pledged", "refined", "ended",
    "answers", "width", "bounds", "cuts", "recalled", "bill", "files", "ledger", "versions",
)  # fmt: skip
"""All of them; without a seed there is no warning."""


def answer_digest(pledged: Pledged) -> str:
    """The digest of what is fixed before any data is read, which the receipt has too."""
    return digest(fixed_parts(pledged), FIXED)


def fixed_parts(pledged: Pledged) -> dict[str, Json]:
    """The parts of the receipt that are known before data is read."""
    recipe, price = pledged.recipe, pledged.price
    return {
        "made": MADE,
        "neighbours": recipe.schema.neighbours.value,
        "asked": {
            "questions": [
                {"question": str(each.query), "target": target_out(each.target)} for each in recipe.questions
            ],
            "confidence": str(recipe.confidence),
            "together": recipe.together,
            "max epsilon": recipe.max_epsilon,
            "fewer than": recipe.fewer_than,
            "rows per person": recipe.rows_per_person,
            "schema": schema_digest(recipe.schema),
        },
        "plan": {"kind": pledged.kind, "price": None if price is None else finite(price)},
        "pledge": pledge_out(pledged.pledge),
    }


def answer_receipt(facts: AnswerFacts, files: Mapping[str, bytes]) -> dict[str, Json]:
    """The facts an auditor needs, ready for ``json.dumps``; ``files`` are what lies beside the receipt, by name."""
    warning: dict[str, Json] = {"warning": NOT_PRIVATE} if facts.seeded else {}
    spending = facts.spending
    return warning | {
        "format": FORMAT,
        "title": facts.heading.title,
        "date": facts.heading.date,
        "statement": statement_out(
            spending.spent.curve,
            spending.epsilon,
            facts.delta,
            loss=spending.probabilistic,
            neighbours=facts.neighbours,
        ),
        "seeded": facts.seeded,
        "floating": facts.floating,
        **fixed_parts(facts.heading.pledged),
        "pledged": answer_digest(facts.heading.pledged),
        "refined": [target_out(each) for each in facts.heading.refined],
        "ended": {"reached": facts.reached},
        "answers": [_answer_out(each) for each in facts.told],
        "width": facts.width,
        "bounds": {tally.name: most for tally, most in facts.bounds.items()},
        "cuts": [
            {"of": tally.name, "share": cut.share, "std": cut.std, "lost": cut.lost}
            for tally, cut in facts.cuts.items()
        ],
        "recalled": facts.recalled,
        "bill": [item_out(item) for item in spending.bill],
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        "ledger": None if facts.booking is None else booking_out(facts.booking),
        "versions": dict(facts.versions),
    }


def target_out(target: Target) -> dict[str, Json]:
    """A target, by its kind."""
    match target:
        case WithinDistance(distance):
            return {"within": str(distance)}
        case WithinShare(share, of_total):
            return {"within share": str(share), "of total": of_total}
        case Above(threshold):
            return {"above": str(threshold)}
        case Top(number):
            return {"top": number}
        case Compare(first, second):
            return {"compare": [first, second]}


def _answer_out(told: QuestionTold) -> dict[str, Json]:
    """How many groups of a question are settled, known to be few, or open; the numbers are in the file beside it."""
    few, still = sum(line.few for line in told.lines), sum(line.settled == OPEN for line in told.lines)
    groups = len(told.lines)
    return {
        "question": str(told.question.query),
        "groups": groups,
        "settled": groups - few - still,
        "few": few,
        "open": still,
        "fewer than": told.size,
    }
