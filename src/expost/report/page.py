"""Parts of a page: its frame, sections, tables and sentences, every text quoted."""

import math
import re
from collections.abc import Iterable, Sequence

from expost.report import digits, meaning
from expost.report.charts import safe
from expost.report.style import STYLE

SMALL = re.compile(r"\b\d+(\.\d+)?e-\d+\b")
"""A number with an exponent, whose hyphen a browser would break at."""

BODY = "body { margin: 0; background: #fff; } @media (prefers-color-scheme: dark) { body { background: #14181d; } }"
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
LOSS = (
    "This larger ε bounds the privacy loss itself, which the stated one does not; the rules for both were fixed before "
    "any data was touched. What an attack finds is bounded by the stated ε and δ."
)


def document(title: str, article: str) -> str:
    """A whole page around an article."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{safe(title)}</title><style>{BODY}{STYLE}</style></head><body>{article}</body></html>\n"
    )


def part_of_a_page(article: str) -> str:
    """An article as a part of another page, such as a notebook."""
    return f"<style>{STYLE}</style>{article}"


def banners(*, seeded: bool, missed: str, floating: bool) -> str:
    """What a reader must know first: that it is not private, that nothing passed, that rounding is not covered."""
    told = []
    if seeded:
        told.append(_banner("NOT PRIVATE", "The noise was seeded: whoever has the seed can subtract it.", "private"))
    if missed:
        told.append(_banner("TARGET NOT CONFIRMED", missed, "short"))
    if floating:
        rounding = "The noise was drawn in floating point, whose rounding the bound does not cover."
        told.append(_banner("Floating-point noise", rounding, "short"))
    return "".join(told)


def _banner(title: str, text: str, name: str) -> str:
    return f'<p class="banner {name}" role="alert"><b>{safe(title)}</b>{prose(text[0].upper() + text[1:])}</p>'


def tiles(figures: Iterable[tuple[str, str, str]]) -> str:
    """Figures side by side, each with a title and a remark."""
    each = (f"<div><dt>{safe(a)}</dt><dd>{prose(b)}<small>{prose(c)}</small></dd></div>" for a, b, c in figures)
    return f'<dl class="figures">{"".join(each)}</dl>'


def meaning_section(epsilon: float, delta: float, neighbours: str, pledged: float = math.inf) -> str:
    """What (ε, δ) means in odds; ``pledged`` is the bound on the privacy loss itself, where there is one."""
    about = meaning.SUBJECTS[neighbours]
    loss, chance = meaning.reach(epsilon, delta, pledged)
    guesses = [row(digits.plain(each.prior), meaning.span(each)) for each in meaning.guesses(loss)]
    attacks = [row(digits.plain(each.alarms), digits.most(each.found)) for each in meaning.attacks(epsilon, delta)]
    return section(
        "What the number means",
        f"<p>{prose(meaning.meaning(epsilon, delta, about))} {prose(meaning.scope(about))}</p>",
        f"<p>{prose(meaning.guessing(loss, chance, about))} {prose(LOSS if loss == pledged else '')}</p>",
        f'<div class="pair"><div><h3>A guess on {about.guessed}</h3>',
        html_table(("believed before", "can be believed after"), guesses),
        f"</div><div><h3>An attempt to tell {about.told_apart}</h3>",
        html_table(("false alarms", "finds at most"), attacks),
        "</div></div>",
    )


def prose(text: str) -> str:
    """A sentence for the page; no line ends within a number."""
    return SMALL.sub(r'<span class="tie">\g<0></span>', digits.tied(safe(text)))


def section(title: str, *parts: str) -> str:
    """A part of the page with its heading."""
    return f"<section><h2>{safe(title)}</h2>{''.join(parts)}</section>"


def html_table(heads: Sequence[str], rows: Iterable[str]) -> str:
    """Rows under their heads."""
    head = "".join(f"<th>{safe(each)}</th>" for each in heads)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def row(*texts: str, name: str = "") -> str:
    """A row of plain texts."""
    return f'<tr class="{name}">{html_cells(map(prose, texts))}</tr>'


def html_cells(contents: Iterable[str]) -> str:
    """What is quoted already, cell by cell."""
    return "".join(f"<td>{each}</td>" for each in contents)


def listed(sentences: Iterable[str], name: str = "ul") -> str:
    """Sentences as items."""
    return f"<{name}>{''.join(f'<li>{prose(each)}</li>' for each in sentences)}</{name}>"
