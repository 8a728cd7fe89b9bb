"""For auditors: the end of the page, with the formulas, every line of the bill, and what identifies the run."""

from collections.abc import Mapping
from fractions import Fraction

from expost.accounting.gaussian import gaussian_mu
from expost.bill import Item, bill_total, by_part
from expost.ledger import Fact
from expost.report import arrangement, digits, meaning, profile, words
from expost.report.booked import for_auditors
from expost.report.charts import safe
from expost.report.facts import Facts
from expost.report.markup import computed_with, html_table, note, prose, row, section
from expost.report.units import by_unit

BILL = ("what", "read", "times", "cost of each")


def auditors_section(facts: Facts, pledged: str | None) -> str:
    """The most that could be spent, the rungs in Rényi terms, the bill and what the run is known by."""
    return section("For auditors", _most(facts), _rungs(facts), _bill(facts), _known_by(facts, pledged))


def _most(facts: Facts) -> str:
    """The curve of the most that may be spent, beside how it is read."""
    promise = profile.most_spent(facts)
    if promise is None:
        return ""
    told = "".join(f"<p>{prose(each)}</p>" for each in profile.profile_reading(facts, promise))
    chart = profile.profile_chart(promise, facts.delta)
    return f'<h3>The most this could have cost</h3><div class="pair"><div>{chart}</div><div>{told}</div></div>'


def _rungs(facts: Facts) -> str:
    """What each rung added in Rényi terms, and the guard of its look."""
    heads = [facts.job.rung, f"Rényi ε added (α = {float(facts.order):g})"]
    heads += [by_unit("guard, in records", facts.neighbours)] if facts.confidence is not None else []
    told = []
    for place in range(len(facts.rungs) + len(facts.ahead)):
        taken = facts.rungs[place] if place < len(facts.rungs) else None
        look = facts.looks[place] if place < len(facts.looks) else None
        added = "not reached" if taken is None else digits.price(float(taken.line.budget.epsilon * taken.times))
        guard = [] if facts.confidence is None else ["" if look is None else f"{look.guard:.1f}"]
        told.append(row(facts.job.name(place + 1), added, *guard))
    return f"<h3>The {facts.job.rung}s, as they were paid for</h3>{html_table(heads, told, ahead=len(facts.ahead))}"


def _bill(facts: Facts) -> str:
    known, about = {**words.LOOKS, **facts.job.lines}, facts.neighbours
    names = {what: by_unit(told, about) for what, told in known.items()}
    rows = [_item(item, words.renyi_cost(facts, item.spent), names, about) for item in facts.bill]
    for part, spent in by_part(facts.bill).items():
        read = arrangement.part(part, about)
        rows.append(row(f"everything that read {read}", "", "", words.renyi_cost(facts, spent)))
    rows.append(row("together", "", "", words.renyi_cost(facts, bill_total(facts.bill))))
    mu = gaussian_mu(facts.spent.curve)
    field = "" if mu is None else f"<p>{prose(meaning.trade_off(mu, meaning.SUBJECTS[about]))}</p>"
    table = html_table(BILL, rows, here=(len(rows) - 1,), stacked=True)
    return f"<h3>The bill</h3><p>{prose(words.pledged(facts))}</p>{table}{field}"


def _item(item: Item, cost: str, names: Mapping[str, str], neighbours: str) -> list[str]:
    what, known = item.entry.what, item.entry.facts.items()
    details = [f"{by_unit(name.replace('_', ' '), neighbours)} {_plain(value)}" for name, value in known]
    told = " · ".join([what, *details] if what in names else details)
    name = f"{names.get(what, what)}{'' if item.finished else ' (failed, billed in full)'}"
    return [
        f"{safe(name)}<br/><small>{safe(told)}</small>",
        *row(arrangement.part(item.entry.part, neighbours), str(item.count), cost),
    ]


def _plain(value: Fact) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    try:
        return f"{float(Fraction(value)):,.6g}"
    except (ValueError, ZeroDivisionError, OverflowError):
        return str(value)


def _known_by(facts: Facts, pledged: str | None) -> str:
    """The options, the digests and the versions."""
    options = html_table(("option", "value"), [row(*each) for each in facts.options]) if facts.options else ""
    told = [f"{what}: SHA-256 <code>{safe(value)}</code>" for what, value in facts.digests]
    if pledged is not None:
        told.insert(0, f"What was fixed before any data was read: SHA-256 <code>{safe(pledged)}</code>")
    if facts.booking is not None:
        told.append(f"The run's latest entry on the ledger: SHA-256 <code>{safe(facts.booking.head)}</code>")
    listed = "".join(f"<li>{each}</li>" for each in told)
    booked = "" if facts.booking is None else f"<p>{prose(for_auditors(facts.booking))}</p>"
    dated = note(f"The run was begun on {facts.date} (UTC).") if facts.date else ""
    known = f"{options}{booked}<ul>{listed}</ul>{dated}"
    return f"<h3>Options, digests and versions</h3>{known}{computed_with(facts.versions)}"
