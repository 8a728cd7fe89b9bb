"""The page a data steward forwards: one file, no script, nothing fetched, every text quoted."""

from fractions import Fraction
from functools import partial

from expost.accounting.claim import Spent
from expost.accounting.curve import Table
from expost.record import Fact
from expost.report import digits, meaning, svg, words
from expost.report.facts import Facts, Item, by_part, total
from expost.report.page import cells, listed, prose, row, section, table
from expost.report.style import STYLE
from expost.report.svg import safe

LOSS = (
    "This larger ε bounds the privacy loss itself, which the stated one does not; the rules for both were fixed before "
    "any data was touched. What an attack finds is bounded by the stated ε and δ."
)


def render(facts: Facts) -> str:
    """The whole page."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    body = "body { margin: 0; background: #fff; } @media (prefers-color-scheme: dark) { body { background: #14181d; } }"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{safe(facts.title)}</title><style>{body}{STYLE}</style></head><body>{_article(facts)}</body></html>\n"
    )


def fragment(facts: Facts) -> str:
    """The same as a part of another page, such as a notebook."""
    return f"<style>{STYLE}</style>{_article(facts)}"


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
    banners = []
    if facts.seeded:
        banners.append(_banner("NOT PRIVATE", "The noise was seeded: whoever has the seed can subtract it.", "private"))
    if not facts.reached:
        banners.append(_banner("TARGET NOT CONFIRMED", f"{words.ending(facts)}.", "short"))
    if facts.floating:
        rounding = "The noise was drawn in floating point, whose rounding the bound does not cover."
        banners.append(_banner("Floating-point noise", rounding, "short"))
    return "".join(banners)


def _banner(title: str, text: str, name: str) -> str:
    return f'<p class="banner {name}" role="alert"><b>{safe(title)}</b>{prose(text[0].upper() + text[1:])}</p>'


def _figures(facts: Facts) -> str:
    asked, terms = f"asked: {digits.plain(float(facts.asked))}", facts.job.terms
    if facts.blur is not None:
        asked = f"{asked}, standard error {digits.points(facts.blur)}"
    if facts.judged is not None and facts.judged < len(facts.rungs):
        asked = f"on {terms.rung} {facts.judged}, the last checked; {asked}"
    measure = facts.scale.head(facts.measure) if facts.measured else facts.measure
    figures = [
        ("privacy price", f"ε {digits.price(facts.epsilon)}", f"at δ = {digits.small(facts.delta)}, per record"),
        (f"{measure}, {'held out' if facts.divided else 'public records'}", words.bare(facts), asked),
        (
            f"{terms.rung}s {terms.taken}",
            f"{len(facts.rungs)} of {len(facts.stops)}",
            f"each {terms.finer} than before",
        ),
        facts.job.size(facts),
    ]
    tiles = (f"<div><dt>{safe(a)}</dt><dd>{prose(b)}<small>{prose(c)}</small></dd></div>" for a, b, c in figures)
    return f'<dl class="figures">{"".join(tiles)}</dl>'


def _ladder(facts: Facts) -> str:
    terms, measure = facts.job.terms, facts.scale.head(facts.measure)
    added = f"Rényi ε added (α = {float(facts.order):g})"
    heads = (terms.rung, added, f"ε at δ = {digits.small(facts.delta)}", "verdict", "guard, in records", measure)
    shown = len(heads) - (not facts.measured) - (not facts.measured and facts.confidence is None)
    rows = [row(*texts[:shown], name=name) for name, texts in map(partial(_step, facts), range(len(facts.stops)))]
    return section(
        terms.title,
        svg.ladder(facts) if facts.measured else "",
        f'<p class="note">{prose(words.reading(facts))}</p>',
        table(heads[:shown], rows),
    )


def _step(facts: Facts, place: int) -> tuple[str, tuple[str, ...]]:
    """How a rung is marked in the table, and what its row says."""
    name, planned = facts.job.name(place + 1), facts.stops[place].epsilon
    guard = "" if (look := facts.looks[place]) is None else f"{look.guard:.1f}"
    if place >= len(facts.rungs):
        verdict = f"not {facts.job.terms.taken}" if facts.allowed(planned) else "above the cap"
        return "ahead", (name, "", f"would be {digits.price(planned)}", verdict, guard, "")
    rung = facts.rungs[place]
    found = facts.answer(rung)
    answer = "" if found is None else facts.scale.told(found)
    added = digits.price(float(rung.line.budget.epsilon))
    verdict = svg.VERDICTS[rung.passed]
    return "here" if rung.passed else "", (name, added, digits.price(rung.epsilon), verdict, guard, answer)


def _meaning(facts: Facts) -> str:
    if facts.epsilon == float("inf"):
        return section("What the number means", f"<p>{safe(words.cost(facts))}</p>")
    about = meaning.SUBJECTS[facts.relation]
    loss, chance = meaning.reach(facts.epsilon, facts.delta, facts.probabilistic)
    pledged = LOSS if loss == facts.probabilistic else ""
    guesses = [row(digits.plain(each.prior), meaning.span(each)) for each in meaning.guesses(loss)]
    attacks = [
        row(digits.plain(each.alarms), digits.most(each.found)) for each in meaning.attacks(facts.epsilon, facts.delta)
    ]
    return section(
        "What the number means",
        f"<p>{prose(meaning.meaning(facts.epsilon, facts.delta, about))} {prose(meaning.scope(about))}</p>",
        f"<p>{prose(meaning.guessing(loss, chance, about))} {prose(pledged)}</p>",
        f'<div class="pair"><div><h3>A guess on {about.guessed}</h3>',
        table(("believed before", "can be believed after"), guesses),
        f"</div><div><h3>An attempt to tell {about.told_apart}</h3>",
        table(("false alarms", "finds at most"), attacks),
        "</div></div>",
    )


def _bill(facts: Facts) -> str:
    cost = partial(_cost, facts)
    rows = [_item(item, cost(item.spent)) for item in facts.bill]
    sums = by_part(facts.bill).items()
    rows += [row(f"all that read {words.part(part)}", "", "", cost(spent)) for part, spent in sums]
    rows.append(row("together", "", "", cost(total(facts.bill)), name="here"))
    pledge = f"<p>{prose(words.pledged(facts))}</p>"
    return section("The bill", pledge, table(("what", "read", "times", "cost of each"), rows))


def _item(item: Item, cost: str) -> str:
    what, facts = item.entry.what, item.entry.facts.items()
    told = " · ".join([what, *(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in facts)])
    name = f"{words.STEPS.get(what, what)}{'' if item.finished else ' (failed, billed in full)'}"
    read = (f"{safe(name)}<br/><small>{safe(told)}</small>", safe(words.part(item.entry.part)), str(item.count))
    return f"<tr>{cells((*read, prose(cost)))}</tr>"


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
