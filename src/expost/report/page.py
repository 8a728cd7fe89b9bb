"""The page a data steward forwards: one file, no script, nothing fetched, every text quoted."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from importlib import resources

from expost.accounting.gaussian import gaussian_mu
from expost.bill import Item, bill_total, by_part
from expost.ledger import Fact
from expost.report import charts, digits, meaning, profile, words
from expost.report.charts import safe
from expost.report.facts import Facts

SMALL = re.compile(r"\b\d+(\.\d+)?e-\d+\b")
"""A number with an exponent, whose hyphen a browser would break at."""

STYLE = resources.files("expost.report").joinpath("style.css").read_text(encoding="utf-8")
BODY = "body { margin: 0; background: #fff; } @media (prefers-color-scheme: dark) { body { background: #14181d; } }"
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(facts: Facts) -> str:
    """The whole page of a run."""
    return document(facts.title, _article(facts))


def fragment(facts: Facts) -> str:
    """The same as a part of another page, such as a notebook."""
    return f"<style>{STYLE}</style>{_article(facts)}"


def document(title: str, article: str) -> str:
    """A whole page around an article."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{safe(title)}</title><style>{BODY}{STYLE}</style></head><body>{article}</body></html>\n"
    )


def header(
    kind: str, title: str, *, banners: str, headline: str, figures: Iterable[tuple[str, str, str]], told: Iterable[str]
) -> str:
    """The top of a page: what a reader must know first, the result in a sentence, its figures and a paragraph."""
    tiles = (f"<div><dt>{safe(a)}</dt><dd>{prose(b)}<small>{prose(c)}</small></dd></div>" for a, b, c in figures)
    paragraphs = "".join(f"<p>{prose(each)}</p>" for each in told)
    return (
        f'<header><p class="kind">{safe(kind)} · result and price</p><h1>{safe(title)}</h1>{banners}'
        f'<p class="lede">{prose(headline)}</p><dl class="figures">{"".join(tiles)}</dl>{paragraphs}</header>'
    )


def banners(*, seeded: bool, missed: str, floating: bool) -> str:
    """What a reader must know first: that it is not private, that nothing passed, that rounding is not covered."""
    told = []
    if seeded:
        told.append(("NOT PRIVATE", "The noise was seeded: whoever has the seed can subtract it.", "private"))
    if missed:
        told.append(("TARGET NOT CONFIRMED", f"{missed[0].upper()}{missed[1:]}", "short"))
    if floating:
        told.append(("Floating-point noise", words.FLOATING, "short"))
    return "".join(f'<p class="banner {name}" role="alert"><b>{a}</b>{prose(b)}</p>' for a, b, name in told)


def meaning_section(epsilon: float, delta: float, neighbours: str, pledged: float = math.inf, more: str = "") -> str:
    """What (ε, δ) means in odds; ``pledged`` is the bound on the privacy loss itself, where there is one."""
    about = meaning.SUBJECTS[neighbours]
    loss, chance = meaning.reach(epsilon, delta, pledged)
    guesses = [row(digits.plain(each.prior), meaning.span(each)) for each in meaning.guesses(loss)]
    attacks = [row(digits.plain(each.alarms), digits.most(each.found)) for each in meaning.attacks(epsilon, delta)]
    return section(
        "What the number means",
        f"<p>{prose(meaning.meaning(epsilon, delta, about))} {prose(meaning.scope(about))}</p>",
        f"<p>{prose(meaning.guessing(loss, chance, about))} {prose(meaning.LOSS if loss == pledged else '')}</p>",
        f'<div class="pair"><div><h3>Guessing {about.guessed}</h3>',
        html_table(("believed before", "may believe after"), guesses),
        f"</div><div><h3>Telling {about.told_apart}</h3>",
        html_table(("false alarms", "finds at most"), attacks),
        f"</div></div>{more}",
    )


def method_section(steps: Iterable[str]) -> str:
    """The procedure in plain words, step by step."""
    items = "".join(f"<li>{prose(each)}</li>" for each in steps)
    return section("How it was made", f"<ol>{items}</ol>")


def coverage_section(own: Iterable[str], *, seeded: bool, neighbours: str, on_public: bool) -> str:
    """What a job says that its bound covers, and what no bound of ours does."""
    told = meaning.coverage(own, seeded=seeded, neighbours=neighbours, on_public=on_public)
    leads = (each.partition(": ") for each in told)
    items = "".join(f"<li><b>{safe(lead)}</b>{colon}{prose(rest)}</li>" for lead, colon, rest in leads)
    return section("What the bound covers, and what it does not", f"<ul>{items}</ul>")


def covered_section(facts: Facts, *own: str) -> str:
    """The same for a run that has facts."""
    told = (words.covered(facts), *own)
    return coverage_section(told, seeded=facts.seeded, neighbours=facts.neighbours, on_public=facts.on_public)


def section(title: str, *parts: str) -> str:
    """A part of the page with its heading."""
    return f"<section><h2>{safe(title)}</h2>{''.join(parts)}</section>"


def html_table(heads: Sequence[str], rows: Iterable[str]) -> str:
    """Rows under their heads."""
    head = "".join(f"<th>{safe(each)}</th>" for each in heads)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def row(*texts: str, name: str = "") -> str:
    """A row of plain texts."""
    cells = "".join(f"<td>{prose(each)}</td>" for each in texts)
    return f'<tr class="{name}">{cells}</tr>'


def prose(text: str) -> str:
    """A sentence for the page; no line ends within a number."""
    return SMALL.sub(r'<span class="tie">\g<0></span>', digits.tied(safe(text)))


def note(text: str) -> str:
    """A remark in small letters."""
    return f'<p class="note">{prose(text)}</p>'


def computed_with(versions: Iterable[tuple[str, str]], *first: str) -> str:
    """The versions, as the last line of a page."""
    return note(f"Computed with {', '.join([*first, *(f'{name} {version}' for name, version in versions)])}.")


def _article(facts: Facts) -> str:
    missed = "" if facts.reached or facts.unchecked else f"{words.ending(facts)}."
    top = header(
        facts.job.kind,
        facts.title,
        banners=banners(seeded=facts.seeded, missed=missed, floating=facts.floating),
        headline=words.headline(facts),
        figures=_figures(facts),
        told=(words.result(facts), words.price_paid(facts)),
    )
    shared = f"{top}{_rungs(facts)}{_meaning(facts)}{_most(facts)}{_bill(facts)}"
    return f'<article class="expost">{shared}{facts.job.sections(facts)}</article>'


def _figures(facts: Facts) -> tuple[tuple[str, str, str], ...]:
    rung, taken, ahead = facts.job.rung, len(facts.rungs), len(facts.ahead)
    price = (f"ε {digits.price(facts.epsilon)}", f"at δ = {digits.small(facts.delta)}, per record")
    if not math.isfinite(facts.epsilon):
        price = ("not stated", "no (ε, δ) covers this run")
    numbered = taken + ahead == len(facts.stops)
    reached = (f"{taken} of {taken + ahead}", "prices known beforehand") if numbered else (f"{taken}", "")
    return ("privacy price", *price), _answered(facts), (f"{rung}s reached", *reached), facts.job.tile(facts)


def _answered(facts: Facts) -> tuple[str, str, str]:
    """The last answer of the check, beside what was asked for."""
    if facts.unchecked:
        return "check", "none", "nothing was asked for"
    if facts.asked is None:
        read = "held-out records" if facts.looked else "no held-out records"
        return "check", words.last_answer(facts), f"a rule of the caller's own, which read {read}"
    remark = f"asked for: {digits.plain(float(facts.asked))}"
    if facts.judged is not None and facts.judged < len(facts.rungs):
        remark = f"on {facts.job.rung} {facts.judged}, the last one checked; {remark}"
    what = facts.measure if facts.shares or not facts.measured else "margin in records"
    return f"{what}, {'held out' if facts.divided else 'public records'}", words.last_number(facts), remark


def _rungs(facts: Facts) -> str:
    """The rungs as a chart and as a table, with those that were planned and not reached."""
    added = f"Rényi ε added (α = {float(facts.order):g})"
    heads = [facts.job.rung, added, f"ε at δ = {digits.small(facts.delta)}", "verdict"]
    heads += ["guard, in records"] if facts.confidence is not None else []
    heads += [facts.scale if facts.shares else "margin in records"] if facts.measured else []
    rows = [_rung(facts, place) for place in range(len(facts.rungs) + len(facts.ahead))]
    chart = charts.ladder(facts) if charts.drawn(facts) else ""
    return section(f"The {facts.job.rung}s", chart, note(charts.reading(facts)), html_table(heads, rows))


def _rung(facts: Facts, place: int) -> str:
    """A row of the table above."""
    name, look = facts.job.name(place + 1), facts.looks[place] if place < len(facts.looks) else None
    guard = [] if facts.confidence is None else ["" if look is None else f"{look.guard:.1f}"]
    if place >= len(facts.rungs):
        planned = facts.stops[place].epsilon
        verdict = "not reached" if facts.allowed(planned) else "above the cap"
        told = [name, "", f"would be {digits.price(planned)}", verdict, *guard]
        return row(*told, *([""] if facts.measured else []), name="ahead")
    rung = facts.rungs[place]
    found = facts.answer(rung)
    answer = ["" if found is None else words.noisy_number(facts, found)] if facts.measured else []
    added = digits.price(float(rung.line.budget.epsilon * rung.times))
    told = [name, added, digits.price(rung.epsilon), words.VERDICTS[rung.passed], *guard, *answer]
    return row(*told, name="here" if rung.passed else "")


def _meaning(facts: Facts) -> str:
    mu = gaussian_mu(facts.spent.curve)
    told = "" if mu is None else f"<p>{prose(meaning.trade_off(mu, meaning.SUBJECTS[facts.neighbours]))}</p>"
    if not math.isfinite(facts.epsilon):
        return section("What the number means", f"<p>{safe(words.cost(facts))}</p>", told)
    return meaning_section(facts.epsilon, facts.delta, facts.neighbours, facts.probabilistic, told)


def _most(facts: Facts) -> str:
    """The curve of the most that may be spent, beside how it is read."""
    promise = profile.most_spent(facts)
    if promise is None:
        return ""
    told = "".join(f"<p>{prose(each)}</p>" for each in profile.profile_reading(facts, promise))
    chart = profile.profile_chart(promise, facts.delta)
    return section("The most this could have cost", f'<div class="pair"><div>{chart}</div><div>{told}</div></div>')


def _bill(facts: Facts) -> str:
    names = {**words.LOOKS, **facts.job.lines}
    rows = [_item(item, words.renyi_cost(facts, item.spent), names) for item in facts.bill]
    sums = by_part(facts.bill).items()
    rows += [
        row(f"everything that read {words.part(part)}", "", "", words.renyi_cost(facts, spent)) for part, spent in sums
    ]
    rows.append(row("together", "", "", words.renyi_cost(facts, bill_total(facts.bill)), name="here"))
    heads = ("what", "read", "times", "cost of each")
    return section("The bill", f"<p>{prose(words.pledged(facts))}</p>", html_table(heads, rows))


def _item(item: Item, cost: str, names: Mapping[str, str]) -> str:
    what, known = item.entry.what, item.entry.facts.items()
    details = [f"{name.replace('_', ' ')} {_plain(value)}" for name, value in known]
    told = " · ".join([what, *details] if what in names else details)
    name = f"{names.get(what, what)}{'' if item.finished else ' (failed, billed in full)'}"
    cells = (prose(words.part(item.entry.part)), str(item.count), prose(cost))
    first = f"<td>{safe(name)}<br/><small>{safe(told)}</small></td>"
    return f"<tr>{first}{''.join(f'<td>{each}</td>' for each in cells)}</tr>"


def _plain(value: Fact) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    try:
        return f"{float(Fraction(value)):,.6g}"
    except (ValueError, ZeroDivisionError, OverflowError):
        return str(value)
