"""The page a data steward forwards: one file, no script, nothing fetched, every text quoted."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial

from expost.accounting.claim import Spent
from expost.accounting.curve import Table
from expost.record import Fact
from expost.report import digits, meaning, svg, words
from expost.report.comparison import Comparison
from expost.report.facts import Facts, Field, Item, by_part, total
from expost.report.style import STYLE
from expost.report.svg import safe


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


def prose(text: str) -> str:
    """A sentence for the page."""
    return digits.tied(safe(text))


def _article(facts: Facts) -> str:
    parts = (_header, _ladder, _meaning, _bill, _marginals, _method, _schema)
    return f'<article class="expost">{"".join(part(facts) for part in parts)}</article>'


def _header(facts: Facts) -> str:
    told = " ".join(part(facts) for part in (words.reached, words.cost, words.covered, words.elsewhere))
    return (
        f'<header><p class="kind">Synthetic data · what it reached and what it cost</p><h1>{safe(facts.title)}</h1>'
        f"{_banners(facts)}"
        f'<p class="lede">{prose(words.headline(facts))}</p>{_figures(facts)}<p>{prose(told)}</p></header>'
    )


def _banners(facts: Facts) -> str:
    banners = []
    if facts.seeded:
        banners.append(_banner("NOT PRIVATE", "The noise was seeded: whoever has the seed can subtract it.", "private"))
    if not facts.reached:
        banners.append(_banner("TARGET NOT REACHED", f"{words.ending(facts)}.", "short"))
    if facts.floating:
        rounding = "The noise was drawn in floating point, whose rounding the bound does not cover."
        banners.append(_banner("Floating-point noise", rounding, "short"))
    return "".join(banners)


def _banner(title: str, text: str, name: str) -> str:
    return f'<p class="banner {name}" role="alert"><b>{safe(title)}</b>{safe(text[0].upper() + text[1:])}</p>'


def _figures(facts: Facts) -> str:
    asked = f"asked: {digits.plain(float(facts.asked))}"
    if facts.blur is not None:
        asked = f"{asked}, noise {digits.points(facts.blur)}"
    if facts.judged is not None and facts.judged < len(facts.rungs):
        asked = f"on rung {facts.judged}, the last checked; {asked}"
    figures = [
        ("privacy price", f"ε {digits.price(facts.epsilon)}", f"at δ = {digits.small(facts.delta)}"),
        (f"{facts.measure}, {'held out' if facts.divided else 'public records'}", words.answer(facts), asked),
        ("rungs climbed", f"{len(facts.rungs)} of {len(facts.stops)}", "each finer than the last"),
        ("synthetic rows", f"{facts.rows:,}", f"{len(facts.schema)} columns"),
    ]
    tiles = (f"<div><dt>{safe(a)}</dt><dd>{prose(b)}<small>{prose(c)}</small></dd></div>" for a, b, c in figures)
    return f'<dl class="figures">{"".join(tiles)}</dl>'


def _ladder(facts: Facts) -> str:
    alpha = f"{float(facts.rungs[0].line.budget.alpha):g}"
    heads = ("rung", f"Rényi ε added (α = {alpha})", f"ε at δ = {digits.small(facts.delta)}", "verdict", facts.measure)
    shown = len(heads) if facts.measured else len(heads) - 1
    rows = [_row(*cells[:shown], name=name) for name, cells in map(partial(_step, facts), range(len(facts.stops)))]
    return _section(
        "The ladder",
        svg.ladder(facts) if facts.measured else "",
        f'<p class="note">{prose(words.reading(facts))}</p>',
        _table(heads[:shown], rows),
    )


def _step(facts: Facts, place: int) -> tuple[str, tuple[str, ...]]:
    """How a rung is marked in the table, and what its row says."""
    number, planned = str(place + 1), facts.stops[place].epsilon
    if place >= len(facts.rungs):
        verdict = "not climbed" if facts.allowed(planned) else "above the cap"
        return "ahead", (number, "", f"would be {digits.price(planned)}", verdict, "")
    rung = facts.rungs[place]
    accuracy = "" if rung.accuracy is None else digits.measured(rung.accuracy, rung.error)
    added = digits.price(float(rung.line.budget.epsilon))
    cells = (number, added, digits.price(rung.epsilon), svg.VERDICTS[rung.passed], accuracy)
    return "here" if rung.passed else "", cells


def _meaning(facts: Facts) -> str:
    if facts.epsilon == float("inf"):
        return _section("What the number means", f"<p>{safe(words.cost(facts))}</p>")
    guesses = [_row(digits.plain(each.prior), meaning.span(each)) for each in meaning.guesses(facts.epsilon)]
    attacks = [
        _row(digits.plain(each.alarms), digits.most(each.found)) for each in meaning.attacks(facts.epsilon, facts.delta)
    ]
    return _section(
        "What the number means",
        f"<p>{prose(meaning.meaning(facts.epsilon, facts.delta))} {prose(meaning.scope())}</p>",
        '<div class="pair"><div><h3>A guess about one record</h3>',
        _table(("believed before", "can be believed after"), guesses),
        "</div><div><h3>An attempt to tell whether a record was used</h3>",
        _table(("false alarms", "finds at most"), attacks),
        "</div></div>",
    )


def _bill(facts: Facts) -> str:
    rows = [_item(item) for item in facts.bill]
    sums = by_part(facts.bill).items()
    rows += [_row(f"all that read {words.part(part)}", "", "", _curve(spent)) for part, spent in sums]
    rows.append(_row("together", "", "", _curve(total(facts.bill)), name="here"))
    pledge = f"<p>{prose(words.pledged(facts))}</p>"
    return _section("The bill", pledge, _table(("what", "read", "times", "cost of each"), rows))


def _item(item: Item) -> str:
    what, facts = item.entry.what, item.entry.facts.items()
    told = " · ".join([what, *(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in facts)])
    name = f"{words.STEPS.get(what, what)}{'' if item.finished else ' (failed, billed in full)'}"
    cells = (f"{safe(name)}<br/><small>{safe(told)}</small>", safe(words.part(item.entry.part)), str(item.count))
    return f"<tr>{_cells((*cells, prose(_curve(item.spent))))}</tr>"


def _curve(spent: Spent) -> str:
    """A Rényi bound for readers: ρ = 0.0005, or with its constant, or a table."""
    if isinstance(spent.curve, Table):
        return f"a table of {len(spent.curve.orders)} orders"
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


def _marginals(facts: Facts) -> str:
    key = (
        '<p class="key note"><i></i>synthetic table, to scale <i class="dot"></i> released count with 95 % interval</p>'
    )
    worst = (
        ()
        if facts.worst is None
        else ("<h3>The pair farthest beyond its noise</h3>", _charts([facts.worst], "charts one"))
    )
    note = f'<p class="note">{safe(words.COMPARED)}</p>'
    title = "Released counts beside the synthetic table"
    return _section(title, note, key, _charts(facts.alone, "charts"), *worst)


def _charts(comparisons: Iterable[Comparison], name: str) -> str:
    return f'<div class="{name}">{"".join(map(_compared, comparisons))}</div>'


def _compared(comparison: Comparison) -> str:
    told = f"distance {100 * comparison.distance:.2g} %, by noise alone {100 * comparison.noise:.2g} %"
    name = safe(" × ".join(comparison.columns))
    return f'<div><h3>{name}</h3>{svg.bars(comparison)}<p class="note">{prose(told)}</p></div>'


def _method(facts: Facts) -> str:
    steps = "".join(f"<li>{safe(step)}</li>" for step in words.method(facts))
    return _section("How it was made", f"<ol>{steps}</ol>")


def _schema(facts: Facts) -> str:
    rows = [_row(each.name, each.kind, str(each.size), _domain(each), each.missing) for each in facts.schema]
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions)
    return _section(
        "The schema",
        f"<p>{'Declared and reviewed by the owner of the data.' if facts.reviewed else 'NOT reviewed by the owner.'} "
        "Everything in it is public.</p>",
        _table(("column", "kind", "values", "domain", "where a value is missing"), rows),
        f'<p class="note">SHA-256 <code>{safe(facts.schema_digest)}</code><br/>{safe(versions)}</p>',
    )


def _domain(field: Field) -> str:
    few = field.labels if len(field.labels) <= 6 else (*field.labels[:4], "…", field.labels[-1])
    return ", ".join(few)


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{safe(title)}</h2>{''.join(parts)}</section>"


def _table(heads: Sequence[str], rows: Iterable[str]) -> str:
    head = "".join(f"<th>{safe(each)}</th>" for each in heads)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _row(*cells: str, name: str = "") -> str:
    return f'<tr class="{name}">{_cells(map(prose, cells))}</tr>'


def _cells(cells: Iterable[str]) -> str:
    return "".join(f"<td>{each}</td>" for each in cells)
