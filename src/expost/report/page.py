"""The page a data steward forwards: one file, no script, nothing fetched, every text quoted."""

import math
from collections.abc import Iterable
from importlib import resources

from expost.report import charts, digits, meaning, words
from expost.report.auditors import auditors_section
from expost.report.charts import safe
from expost.report.coverage import coverage
from expost.report.facts import Facts
from expost.report.markup import html_table, note, prose, row, section
from expost.report.reading import reading
from expost.report.shares import asked_for, noisy_number
from expost.report.units import by_unit

STYLE = resources.files("expost.report").joinpath("style.css").read_text(encoding="utf-8")
BODY = "body { margin: 0; background: #fff; } @media (prefers-color-scheme: dark) { body { background: #14181d; } }"
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(facts: Facts, *, pledged: str | None = None) -> str:
    """The whole page of a run; ``pledged`` is the digest of what it fixed before it read any data."""
    return document(facts.title, _article(facts, pledged))


def fragment(facts: Facts, *, pledged: str | None = None) -> str:
    """The same as a part of another page, such as a notebook."""
    return f"<style>{STYLE}</style>{_article(facts, pledged)}"


def document(title: str, article: str) -> str:
    """A whole page around an article."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{safe(title)}</title><style>{BODY}{STYLE}</style></head><body>{article}</body></html>\n"
    )


def header(
    kind: str,
    title: str,
    *,
    banners: str,
    headline: str,
    figures: Iterable[tuple[str, str, str]],
    told: Iterable[str],
    first: str = "",
    warnings: Iterable[tuple[str, str]] = (),
) -> str:
    """The top of a page: what a reader must know first, the result in a sentence, its figures and a paragraph.

    ``first`` is told before the result, and ``warnings``, each with a title, below its figures.
    """
    before = f"<p>{prose(first)}</p>" if first else ""
    tiles = (f"<div><dt>{safe(a)}</dt><dd>{prose(b)}<small>{prose(c)}</small></dd></div>" for a, b, c in figures)
    paragraphs = "".join(f"<p>{prose(each)}</p>" for each in told)
    return (
        f'<header><p class="kind">{safe(kind)} · result and price</p><h1>{safe(title)}</h1>{banners}{before}'
        f'<p class="lede">{prose(headline)}</p><dl class="figures">{"".join(tiles)}</dl>'
        f"{_banners((title, text, 'mild') for title, text in warnings)}{paragraphs}</header>"
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
    return _banners(told)


def _banners(told: Iterable[tuple[str, str, str]]) -> str:
    """Titles and texts in the styles that have these names."""
    return "".join(f'<p class="banner {name}" role="alert"><b>{safe(a)}</b>{prose(b)}</p>' for a, b, name in told)


def meaning_section(epsilon: float, delta: float, neighbours: str, pledged: float = math.inf) -> str:
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
        "</div></div>",
    )


def method_section(steps: Iterable[str]) -> str:
    """The procedure in plain words, step by step."""
    items = "".join(f"<li>{prose(each)}</li>" for each in steps)
    return section("How it was made", f"<ol>{items}</ol>")


def coverage_section(own: Iterable[str], *, seeded: bool, neighbours: str, on_public: bool) -> str:
    """What a job says that its bound covers, and what no bound of ours does."""
    told = coverage(own, seeded=seeded, neighbours=neighbours, on_public=on_public)
    leads = (each.partition(": ") for each in told)
    items = "".join(f"<li><b>{safe(lead)}</b>{colon}{prose(rest)}</li>" for lead, colon, rest in leads)
    return section("What the bound covers, and what it does not", f"<ul>{items}</ul>")


def covered_section(facts: Facts, *own: str) -> str:
    """The same for a run that has facts."""
    told = (words.covered(facts), *own)
    return coverage_section(told, seeded=facts.seeded, neighbours=facts.neighbours, on_public=facts.on_public)


def _article(facts: Facts, pledged: str | None) -> str:
    missed = "" if facts.reached or facts.unchecked else f"{words.ending(facts)}."
    kind = f"{facts.job.kind} · {facts.date}" if facts.date else facts.job.kind
    top = header(
        kind,
        facts.title,
        banners=banners(seeded=facts.seeded, missed=missed, floating=facts.floating),
        headline=words.headline(facts),
        figures=_figures(facts),
        told=(words.result(facts), words.price_paid(facts)),
        first=facts.baseline,
        warnings=facts.warnings,
    )
    told = f"{top}{_rungs(facts)}{_meaning(facts)}{facts.job.sections(facts)}"
    return f'<article class="expost">{told}{auditors_section(facts, pledged)}</article>'


def _figures(facts: Facts) -> tuple[tuple[str, str, str], ...]:
    rung, taken, ahead = facts.job.rung, len(facts.rungs), len(facts.ahead)
    price = (
        f"ε {digits.price(facts.epsilon)}",
        f"at δ = {digits.small(facts.delta)}, {by_unit('per record', facts.neighbours)}",
    )
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
        read = by_unit("held-out records" if facts.looked else "no held-out records", facts.neighbours)
        return "check", words.last_answer(facts), f"a rule of the caller's own, which read {read}"
    remark = "the least of all aims" if facts.several else f"asked for: {asked_for(facts)}"
    if facts.sampling is not None:
        remark += f"; sampling error apart: ± {digits.points(facts.sampling)}"
    if facts.judged is not None and facts.judged < len(facts.rungs):
        remark = f"on {facts.job.rung} {facts.judged}, the last one checked; {remark}"
    what = facts.measure if facts.shares or not facts.measured else by_unit("margin in records", facts.neighbours)
    return f"{what}, {'held out' if facts.divided else 'public records'}", words.answer_on(facts, facts.judged), remark


def _rungs(facts: Facts) -> str:
    """The rungs as a chart and as a table, with those that were planned and not reached."""
    heads = [facts.job.rung, f"ε at δ = {digits.small(facts.delta)}"]
    heads += [facts.scale if facts.shares else by_unit("margin in records", facts.neighbours)] if facts.measured else []
    rows = [_rung(facts, place) for place in range(len(facts.rungs) + len(facts.ahead))]
    here = [place for place, rung in enumerate(facts.rungs) if rung.passed]
    table = html_table([*heads, "verdict"], rows, here=here, ahead=len(facts.ahead))
    return section(f"The {facts.job.rung}s", charts.ladders(facts), note(reading(facts)), table)


def _rung(facts: Facts, place: int) -> list[str]:
    """A row of the table above."""
    name = facts.job.name(place + 1)
    if place >= len(facts.rungs):
        planned = facts.stops[place].epsilon
        verdict = "not reached" if facts.allowed(planned) else "above the cap"
        return row(name, f"would be {digits.price(planned)}", *([""] if facts.measured else []), verdict)
    rung = facts.rungs[place]
    found = facts.answer(rung)
    answer = ["" if found is None else noisy_number(facts, found)] if facts.measured else []
    return row(name, digits.price(rung.epsilon), *answer, words.VERDICTS[rung.passed])


def _meaning(facts: Facts) -> str:
    if not math.isfinite(facts.epsilon):
        return section("What the number means", f"<p>{safe(words.cost(facts))}</p>")
    return meaning_section(facts.epsilon, facts.delta, facts.neighbours, facts.probabilistic)
