"""The headline figures: a few sentences for README and page, made from the stored results alone."""

from pathlib import Path
from typing import Any

from paper.engine.record import ROOT, Place, read
from paper.show.adult import COINS, PAPER_SPLIT
from paper.show.markdown import percent, prose
from paper.summaries.confidence import confident
from paper.tables.search import BALANCED, GAUSSIAN, SPARSE

README = ROOT / "README.md"
START, END = "<!-- from paper/results: begin -->", "<!-- from paper/results: end -->"


def headline(place: Place) -> str:
    """What the results come to; items that are not there are left out."""
    parts = (_conversions(place), _adult(place), _baselines(place), _full_batch(place))
    return "\n".join(f"- {prose(each).replace(chr(10), f'{chr(10)}  ')}" for each in parts if each)


def put(place: Place, page: Path = README) -> str:
    """The page with the headline between its marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{headline(place)}\n\n{END}{after}"


def _result(name: str, place: Place) -> Any:
    found = read(name, place)
    return None if found is None or found["quick"] else found["result"]


def _conversions(place: Place) -> str:
    found = _result("conversions", place)
    if found is None:
        return ""
    planned = next(each for each in found["columns"] if each["name"] == "planned stops")["epsilons"]
    paper = [each["paper"] for each in found["compared"]]
    return f"""**A tighter statement of the same releases**: ε = {planned[0]:.3f} on the paper's first rung and
    {planned[-1]:.2f} on its last, where the paper's conversion states {float(paper[0]):.3f} and {float(paper[-1]):.2f}
    (δ = {found["delta"]:g}, approximate notion)."""


def _adult(place: Place) -> str:
    found = _result("adult", place)
    if found is None:
        return ""
    shown = {(each["check"], each["split"]): each for each in found["outcomes"]}
    plain, vector = (shown[check, PAPER_SPLIT]["above_drawn"]["mean"] for check in (GAUSSIAN, SPARSE))
    unsure, ours = shown[BALANCED, COINS], shown[confident(BALANCED), COINS]
    return f"""**Checks that can be trusted**: on the paper's Adult experiment {_share(ours["above_drawn"]["mean"])} of
    what our checks accept with {percent(found["confidence"], 0)} confidence is truly accurate enough, against
    {_share(plain)} with the paper's Gaussian checks and {_share(vector)} with its sparse vector. The confidence
    costs a mean ε of {ours["billed_drawn"]["mean"]:.2f} instead of {unsure["billed_drawn"]["mean"]:.2f}."""


def _share(value: float) -> str:
    """A share that is called all only if it is."""
    return "more than 99.9 %" if 0.999 < value < 1 else percent(value)


def _baselines(place: Place) -> str:
    found = _result("baselines", place)
    if found is None:
        return ""
    rows = {each["method"]: each["ours_over"] for each in found["panels"][0]["rows"]}
    doubling, oracle = rows["doubling"], rows["oracle"]
    return f"""**What it saves**: for the same accuracy {doubling["mean"]:.2f} ({doubling["low"]:.2f} to
    {doubling["high"]:.2f}) of the ε of doubling, and {oracle["mean"]:.2f} times that of an oracle who knows the right
    rung."""


def _full_batch(place: Place) -> str:
    found = _result("full_batch", place)
    if found is None:
        return ""
    ours, adam = found["cases"][:2]
    return f"""**Heads for less**: on {found["records"]} records ({found["data"]}) an accuracy of {ours["threshold"]:g}
    costs a mean ε of {ours["epsilon"]["mean"]:.2f} where Adam pays {adam["epsilon"]["mean"]:.2f}
    (δ = {found["delta"]:g})."""
