"""For auditors of an answer: the pledge, the levels, every line of the bill, and what the run is known by."""

from expost.accounting.curve import largest_rho
from expost.bill import Item
from expost.jobs.asking.facts import JUMP, LOOKS, ONE, AnswerFacts
from expost.jobs.asking.lasting import LASTING
from expost.jobs.asking.receipt import answer_digest
from expost.jobs.synthesis.declared import schema_digest
from expost.report.arrangement import part
from expost.report.booked import for_auditors
from expost.report.charts import safe
from expost.report.digits import plain, price, small
from expost.report.markup import computed_with, html_table, note, prose, row, section
from expost.report.meaning import SUBJECTS, trade_off

PLANS = {
    ONE: "One release was planned, at a price that does not depend on the data: the lowest of the levels. The others "
    "are for refining the answers.",
    JUMP: "Levels were planned. After coarse looks, for at most a tenth of a level, a run goes to that level in one "
    "step, and is stated as it.",
    LOOKS: "Levels were planned, each twice as dear as the one before, over which δ is divided; the run is stated as "
    "the one at which it stopped.",
}


def answer_auditors(facts: AnswerFacts) -> str:
    """The end of the page."""
    return section("For auditors", _plan(facts), _bill(facts), _known_by(facts))


def _plan(facts: AnswerFacts) -> str:
    pledged, recipe = facts.heading.pledged, facts.recipe
    levels = pledged.plan.levels
    told = (
        f"{PLANS[pledged.kind]} There are {len(levels):,} levels, from ρ = {price(float(levels[0]))} to ρ = "
        f"{price(float(levels[-1]))}. The rule that turns the total into ε at δ = {small(recipe.delta)} was pledged "
        "before any data was touched."
    )
    each = "each" if recipe.decision is None else "of the decision and of each error bar"
    rows = [
        row("confidence", f"{plain(float(recipe.confidence))}, {'all together' if recipe.together else each}"),
        row("error bars, in standard errors to either side", _width(facts)),
        row("most that may be spent", f"ε = {recipe.max_epsilon:g}"),
        *([row("groups not asked for", f"fewer than {recipe.fewer_than:,}")] if recipe.fewer_than else []),
        *([row("rows of a person that count in full", str(recipe.rows_per_person))] if recipe.rows_per_person else []),
        *(row(f"refined, {place}", str(each)) for place, each in enumerate(facts.heading.refined, start=1)),
    ]
    asked = [row(str(each.query), str(each.target)) for each in recipe.questions]
    return f"<p>{prose(told)}</p>{html_table(('question', 'asked for'), asked)}{html_table(('option', 'value'), rows)}"


def _width(facts: AnswerFacts) -> str:
    return "lasting: by how much was measured" if facts.width == LASTING else f"{facts.width:.4g}"


def _bill(facts: AnswerFacts) -> str:
    rows = [_item(item, facts.neighbours) for item in facts.spending.bill]
    together = row("together", "", f"ρ = {price(float(largest_rho(facts.spending.spent.curve)))}")
    stated = facts.spending.mu is not None and facts.spending.bill
    field = trade_off(facts.spending.mu or 0.0, SUBJECTS[facts.neighbours]) if stated else ""
    table = html_table(("what", "read", "cost"), [*rows, together], here=(len(rows),), stacked=True)
    return f"<h3>The bill</h3>{table}<p>{prose(field)}</p>"


def _item(item: Item, neighbours: str) -> list[str]:
    facts = item.entry.facts
    told = f"{item.entry.what} · {facts['cells']} cells · l2 squared {facts['l2_squared']}"
    return [
        f"{safe(str(facts['statistic']))}<br/><small>{safe(told)}</small>",
        *row(part(item.entry.part, neighbours), f"ρ = {price(float(largest_rho(item.spent.curve)))}"),
    ]


def _known_by(facts: AnswerFacts) -> str:
    told = [
        f"What was fixed before any data was read: SHA-256 <code>{answer_digest(facts.heading.pledged)}</code>",
        f"The schema: SHA-256 <code>{schema_digest(facts.recipe.schema)}</code>",
    ]
    if facts.booking is not None:
        told.append(f"The run's latest entry on the ledger: SHA-256 <code>{safe(facts.booking.head)}</code>")
    booked = "" if facts.booking is None else f"<p>{prose(for_auditors(facts.booking))}</p>"
    dated = note(f"The run was begun on {facts.heading.date} (UTC).") if facts.heading.date else ""
    listed = "".join(f"<li>{each}</li>" for each in told)
    return f"<h3>Digests and versions</h3>{booked}<ul>{listed}</ul>{dated}{computed_with(facts.versions)}"
