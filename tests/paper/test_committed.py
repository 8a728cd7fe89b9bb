"""The committed page: made from the committed results, which are those of the present items and of the paper."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from benchmarks.harness import RESULTS
from paper.engine.headline import README, headline, put
from paper.engine.item import ORDER, load
from paper.engine.page import figures, page
from paper.engine.record import HOME, Place, Record, read

HASHED = re.compile(r"(?<=[\"#])[a-zA-Z][0-9a-f]{10}(?=[\")])")
COMMIT = re.compile(r"[0-9a-f]{40}")
RECORDED = sorted(path for place in (HOME.results, RESULTS) for path in place.glob("*.json"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def committed(name: str) -> Record:
    found = read(name, HOME)
    assert found is not None
    return found


def anatomy(path: Path) -> tuple[str, list[float]]:
    """A figure's text without its numbers, and its numbers; names that matplotlib makes from them are left out."""
    text = HASHED.sub("", path.read_text(encoding="utf-8"))
    return NUMBER.sub("#", text), [float(number) for number in NUMBER.findall(text)]


def comparisons(value: Any) -> Iterator[dict[str, Any]]:
    """Every comparison with a printed number, wherever it is in a result."""
    if isinstance(value, dict) and {"paper", "ours", "difference", "agrees"} <= set(value):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from comparisons(part)


def test_the_page_is_the_one_its_results_make() -> None:
    assert HOME.page.read_text(encoding="utf-8") == page(HOME)


def test_the_headline_figures_of_the_readme_are_those_of_the_results() -> None:
    assert README.read_text(encoding="utf-8") == put(HOME)
    assert headline(HOME).count("\n- ") == 3


def test_a_headline_typed_by_hand_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(
        README.read_text(encoding="utf-8").replace("**What it saves**", "**It saves all**"), encoding="utf-8"
    )

    assert page.read_text(encoding="utf-8") != put(HOME, page)


@pytest.mark.parametrize("name", ORDER)
def test_the_figures_are_the_ones_their_results_make(name: str, tmp_path: Path) -> None:
    place = Place.under(tmp_path)

    figures(load(name), committed(name), place)

    for path in place.figures.iterdir():
        (words, numbers), (stored_words, stored) = anatomy(path), anatomy(HOME.figures / path.name)
        assert words == stored_words
        assert numbers == pytest.approx(stored, abs=0.02)


def test_no_figure_is_left_over() -> None:
    assert {path.stem for path in HOME.figures.iterdir()} == {each for name in ORDER for each in load(name).FIGURES}


@pytest.mark.parametrize("name", ORDER)
def test_the_results_are_of_the_present_item_in_full(name: str) -> None:
    found = committed(name)

    assert not found["quick"]
    assert found["version"] == load(name).VERSION
    assert found["settings"] == json.loads(json.dumps(asdict(load(name).FULL)))
    assert found["versions"]["expost"]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.parent.name}/{path.stem}")
def test_results_were_recorded_at_a_commit(path: Path) -> None:
    """Not "unknown", and not "-dirty": what was computed can be computed again."""
    assert COMMIT.fullmatch(json.loads(path.read_text(encoding="utf-8"))["commit"])


@pytest.mark.parametrize("commit", ["unknown", f"{40 * '0'}-dirty", 10 * "0"])
def test_another_commit_field_would_be_noticed(commit: str) -> None:
    assert not COMMIT.fullmatch(commit)


@pytest.mark.parametrize(("name", "count"), [("conversions", 7), ("orders", 2)])
def test_every_number_the_paper_prints_is_met(name: str, count: int) -> None:
    found = list(comparisons(committed(name)["result"]))

    assert len(found) == count
    for each in found:
        assert each["difference"] == each["ours"] - float(each["paper"])
        assert each["agrees"]


def test_a_changed_result_would_change_page_and_figure(tmp_path: Path) -> None:
    place, found = Place.under(tmp_path), committed("conversions")
    found["result"]["columns"][0]["epsilons"][0] *= 1.05
    place.results.mkdir()
    place.of("conversions").write_text(json.dumps(found), encoding="utf-8")

    figures(load("conversions"), found, place)

    name = "conversions.svg"
    assert anatomy(place.figures / name)[1] != pytest.approx(anatomy(HOME.figures / name)[1], abs=0.02)
    assert page(place).partition("## ")[2] not in page(HOME)
