"""The page a data steward forwards: one file, no script, nothing fetched, every text quoted."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from expost.accounting.claim import Spent
from expost.accounting.curve import Table
from expost.bill import Item, bill_total, by_part
from expost.ledger import Fact
from expost.report import charts as svg
from expost.report import digits, unasked, words
from expost.report.charts import safe
from expost.report.facts import Facts
from expost.report.page import (
    banners,
    document,
    html_cells,
    html_table,
    listed,
    meaning_section,
    part_of_a_page,
    prose,
    row,
    section,
    tiles,
)
from expost.report.reading import reading


def render(facts: Facts) -> str:
    """The whole page."""
    return document(facts.title, _article(facts))


def fragment(facts: Facts) -> str:
    """The same as a part of another page, such as a notebook."""
    return part_of_a_page(_article(facts))


def _article(facts: Facts) -> str:
    told = "".join(part(facts) for part in (_header, _ladder, _meaning, _bill))
    job = f"{facts.job.exhibits()}{_method(facts)}{facts.job.appendix(facts)}"
    return f'<article class="expost">{told}{job}</article>'


def _header(facts: Facts) -> str:
    told = " ".join(part(facts) for part in (words.reached, words.cost, words.covered, words.elsewhere))
    return (
        f'<header><p class="kind">{safe(facts.job.kind)} · what it reached and what it cost</p>'
        f"<h1>{safe(facts.title)}</h1>{_banners(facts)}"
        f'<p class="lede">{prose(words.headline(facts))}</p>{_figures(facts)}<p>{prose(told)}</p></header>'
    )


def _banners(facts: Facts) -> str:
    missed = "" if facts.reached or facts.unchecked else f"{words.ending(facts)}."
    return banners(seeded=facts.seeded, missed=missed, floating=facts.floating)


def _figures(facts: Facts) -> str:
    terms, taken, ahead = facts.job.terms, len(facts.rungs), len(facts.ahead)
    figures = [
        ("privacy price", f"ε {digits.price(facts.epsilon)}", f"at δ = {digits.small(facts.delta)}, per record"),
        _answered(facts),
        (
            f"{terms.rung}s {terms.taken}",
            f"{taken} of {taken + ahead}" if taken + ahead == len(facts.stops) else f"{taken}",
            f"each {terms.finer} than before",
        ),
        facts.job.size(facts),
    ]
    return tiles(figures)


def _answered(facts: Facts) -> tuple[str, str, str]:
    """The last answer of the check, beside what was asked for."""
    if facts.asked is None:
        return unasked.figure(facts, words.answer(facts))
    asked = f"asked: {digits.plain(float(facts.asked))}"
    if facts.blur is not None:
        asked = f"{asked}, standard error {digits.points(facts.blur)}"
    if facts.judged is not None and facts.judged < len(facts.rungs):
        asked = f"on {facts.job.terms.rung} {facts.judged}, the last checked; {asked}"
    measure = facts.scale.head(facts.measure) if facts.measured else facts.measure
    return f"{measure}, {'held out' if facts.divided else 'public records'}", words.bare(facts), asked


def _ladder(facts: Facts) -> str:
    terms, measure = facts.job.terms, facts.scale.head(facts.measure)
    added = f"Rényi ε added (α = {float(facts.order):g})"
    heads = (terms.rung, added, f"ε at δ = {digits.small(facts.delta)}", "verdict", "guard, in records", measure)
    shown = len(heads) - (not facts.measured) - (not facts.measured and facts.confidence is None)
    places = range(len(facts.rungs) + len(facts.ahead))
    rows = [row(*texts[:shown], name=name) for name, texts in map(partial(_step, facts), places)]
    return section(
        terms.title,
        svg.ladder(facts) if facts.measured else "",
        f'<p class="note">{prose(reading(facts))}</p>',
        html_table(heads[:shown], rows),
    )


def _step(facts: Facts, place: int) -> tuple[str, tuple[str, ...]]:
    """How a rung is marked in the table, and what its row says."""
    name, look = facts.job.name(place + 1), facts.looks[place] if place < len(facts.looks) else None
    guard = "" if look is None else f"{look.guard:.1f}"
    if place >= len(facts.rungs):
        planned = facts.stops[place].epsilon
        verdict = f"not {facts.job.terms.taken}" if facts.allowed(planned) else "above the cap"
        return "ahead", (name, "", f"would be {digits.price(planned)}", verdict, guard, "")
    rung = facts.rungs[place]
    found = facts.answer(rung)
    answer = "" if found is None else facts.scale.told(found)
    added = digits.price(float(rung.line.budget.epsilon * rung.times))
    verdict = svg.VERDICTS[rung.passed]
    return "here" if rung.passed else "", (name, added, digits.price(rung.epsilon), verdict, guard, answer)


def _meaning(facts: Facts) -> str:
    if facts.epsilon == float("inf"):
        return section("What the number means", f"<p>{safe(words.cost(facts))}</p>")
    return meaning_section(facts.epsilon, facts.delta, facts.neighbours, facts.probabilistic)


def _bill(facts: Facts) -> str:
    cost = partial(_cost, facts)
    rows = [_item(item, cost(item.spent), {**words.LOOKS, **facts.job.lines}) for item in facts.bill]
    sums = by_part(facts.bill).items()
    rows += [row(f"all that read {words.part(part)}", "", "", cost(spent)) for part, spent in sums]
    rows.append(row("together", "", "", cost(bill_total(facts.bill)), name="here"))
    pledge = f"<p>{prose(words.pledged(facts))}</p>"
    return section("The bill", pledge, html_table(("what", "read", "times", "cost of each"), rows))


def _item(item: Item, cost: str, names: Mapping[str, str]) -> str:
    what, facts = item.entry.what, item.entry.facts.items()
    told = " · ".join([what, *(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in facts)])
    name = f"{names.get(what, what)}{'' if item.finished else ' (failed, billed in full)'}"
    read = (f"{safe(name)}<br/><small>{safe(told)}</small>", safe(words.part(item.entry.part)), str(item.count))
    return f"<tr>{html_cells((*read, prose(cost)))}</tr>"


def _cost(facts: Facts, spent: Spent) -> str:
    """A Rényi bound for readers: ρ = 0.0005, or with its constant; at one order if some have no closed form."""
    if facts.tabulated or isinstance(spent.curve, Table):
        return f"ε = {digits.price(spent.at(facts.order))} at α = {float(facts.order):g}"
    told = []
    for line in spent.curve.lines:
        constant = f"ξ = {digits.price(float(line.xi))}, " if line.xi else ""
        told.append(f"{constant}ρ = {digits.price(float(line.rho))}")
    return " or ".join(told)


def _plain(value: Fact) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    try:
        return f"{float(Fraction(value)):,.6g}"
    except (ValueError, ZeroDivisionError, OverflowError):
        return str(value)


def _method(facts: Facts) -> str:
    return section("How it was made", listed(facts.job.method(facts), "ol"))
