"""Every item: a miniature runs, draws what it names and fills its section; the command writes where it should."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from paper.__main__ import main
from paper.engine.item import ORDER, load
from paper.engine.page import figures, page
from paper.engine.record import HOME, Place, as_text, read, record

ROOMS = Path(__file__).parents[2] / "paper"
ON_OTHER_FEATURES = "finetuning_on_features"


@pytest.mark.parametrize("name", ORDER)
def test_a_miniature_runs_and_is_shown(name: str, tmp_path: Path) -> None:
    place, item = Place.under(tmp_path), load(name)

    record(name, item, place, quick=True, workers=1)
    found = read(name, place)
    assert found is not None
    figures(item, found, place)
    section = item.text(found["result"])

    assert {path.stem for path in place.figures.iterdir()} == set(item.FIGURES)
    assert not re.search(r"\b(nan|inf|None)\b", section)
    assert f"## {item.TITLE}" in page(place)
    assert "A miniature." in page(place)


@pytest.mark.parametrize("name", ORDER)
def test_what_a_figure_shows_is_said_without_numbers(name: str) -> None:
    """They would be typed by hand, and could be wrong after the next run."""
    assert not [alt for alt in load(name).FIGURES.values() if re.search(r"\d", alt)]


@pytest.mark.parametrize("name", ORDER)
def test_a_script_is_short(name: str) -> None:
    scripts = [ROOMS / "items" / f"{name}.py", ROOMS / "show" / f"{name}.py"]

    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 150 for path in scripts)


def test_the_room_of_the_items_holds_those_of_the_page_and_nothing_else() -> None:
    scripts = {path.stem for path in (ROOMS / "items").glob("*.py")} - {"__init__"}

    assert scripts == {*ORDER, ON_OTHER_FEATURES}


def test_every_module_lies_in_a_room() -> None:
    assert {path.stem for path in ROOMS.glob("*.py")} == {"__init__", "__main__"}


def test_a_page_without_results_has_no_section(tmp_path: Path) -> None:
    assert "## " not in page(Place.under(tmp_path))


def test_the_command_writes_to_the_named_folder_and_redraws_from_it(tmp_path: Path) -> None:
    def run(*more: str) -> None:
        done = CliRunner().invoke(main, ["--quick", "--only", "orders", "--out", str(tmp_path), *more])
        assert done.exit_code == 0, done.output

    run()
    stored = tmp_path / "results/orders.json"
    changed = json.loads(stored.read_text(encoding="utf-8"))
    changed["result"]["held"] = 4711
    stored.write_text(as_text(changed), encoding="utf-8")
    run("--redraw")

    assert "4711 held-out records" in (tmp_path / "paper.md").read_text(encoding="utf-8")


def test_an_unknown_item_is_refused() -> None:
    done = CliRunner().invoke(main, ["--only", "orders", "--only", "nonsense"])

    assert done.exit_code == 2
    assert "nonsense is not an item; choose from definitions" in done.output


def test_a_miniature_is_never_written_over_the_committed_page() -> None:
    done = CliRunner().invoke(main, ["--quick", "--out", str(HOME.page.parent)])

    assert done.exit_code == 2
    assert "name another folder" in done.output


def test_lists_of_numbers_take_one_line(tmp_path: Path) -> None:
    found = record("orders", load("orders"), Place.under(tmp_path), quick=True, workers=1)

    lines = as_text(found).splitlines()

    assert sum('"questions": [1, 107]' in line for line in lines) == 2
    assert json.loads("\n".join(lines)) == json.loads(json.dumps(found))
