"""Journals, schemas and files of options are hostile input, too: whatever they hold, one sentence refuses them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from expost.errors import ExpostError, Unreadable
from expost.jobs import audit as check
from expost.jobs import finetune
from expost.receipts.costs import MOST_PLANNED
from expost.receipts.journal import opening_line, read_journal
from expost.text import number_typed
from tests.faults.forger import at, places
from tests.faults.forgeries import Receipt, receipt_of
from tests.unit.commands import run
from tests.unit.examples import one_sentence
from tests.unit.report.examples import schema
from tests.unit.tabular.source.telling import shown

FILES: dict[str, bytes] = {
    "binary": bytes(range(256)) * 9,
    "deep lists": b"a = " + b"[" * 100_000,
    "a deep key": b"a" + b".a" * 400_000 + b" = 1\n",
    "a deep quoted key": b'"a"' + b'."a"' * 300_000 + b" = 1\n",
    "a deep table": b"[a" + b".a" * 400_000 + b"]\n",
    "many digits": b"a = " + b"9" * 100_000,
    "more than may be": b"#" * (2**21 + 1),
    "half of it": b'reviewed = true\nneighbours = "add-',
    "not a number": b"ladder = nan\n",
}


def refused(*arguments: str) -> None:
    result = run(*arguments)

    assert result.exit_code == 2, result.exception
    assert one_sentence(ValueError(result.stderr.strip().splitlines()[-1]))
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("how", FILES)
def test_a_file_that_is_not_a_schema_or_options_is_refused(how: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(FILES[how])
    good = tmp_path / "schema.toml"
    good.write_text(schema().dumps(), encoding="utf-8")

    refused("plan", "synth", "--schema", str(path), "--target", "renewed")
    refused("plan", "synth", "--schema", str(good), "--target", "renewed", "--config", str(path))


UNFIT = {
    "a list": "delta = [1e-5]",
    "a list of one": "patience = [2]",
    "a table": "delta = {a = 1}",
    "a date": "delta = 2020-01-01",
    "a truth value": "patience = true",
    "half a look": "patience = 2.5",
    "a list of lists": 'accuracy = [["0.8"]]',
    "a list of truth values": "accuracy = [true]",
    "a table to repeat": "accuracy = {a = 1}",
    "a null character in a list": 'target = ["renewed\\u0000"]',
}


@pytest.mark.parametrize("how", UNFIT)
def test_an_option_of_another_kind_is_refused(how: str, tmp_path: Path) -> None:
    """A list where an option is given once ended in a traceback, and half a look was taken for none."""
    options, good = tmp_path / "options.toml", tmp_path / "schema.toml"
    options.write_text(UNFIT[how], encoding="utf-8")
    good.write_text(schema().dumps(), encoding="utf-8")

    refused("plan", "synth", "--schema", str(good), "--config", str(options))


def test_a_schema_or_options_are_not_read_from_what_never_ends(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        refused("plan", "synth", "--schema", str(path), "--target", "renewed")
        refused("plan", "synth", "--config", str(path))


@pytest.mark.parametrize("kind", ["", "renyi:"])
@pytest.mark.parametrize("ladder", ["1e99999999:1:7", "1e-99999999:1:7", "1:1e1_0000:7", "0.01:1:1000000", "nan:1:7"])
def test_a_ladder_beyond_all_bounds_is_refused(kind: str, ladder: str, tmp_path: Path) -> None:
    good, chosen = tmp_path / "schema.toml", tmp_path / "options.toml"
    good.write_text(schema().dumps(), encoding="utf-8")
    chosen.write_text(f'ladder = "{kind}{ladder}"\n', encoding="utf-8")

    refused("plan", "synth", "--schema", str(good), "--target", "renewed", "--ladder", f"{kind}{ladder}")
    refused("plan", "synth", "--schema", str(good), "--target", "renewed", "--config", str(chosen))


def test_a_number_is_read_as_typed_unless_its_exponent_is_huge() -> None:
    assert [number_typed("1e-3") * 1000, number_typed("1/3") * 3, number_typed("1e999") / 10**999] == [1, 1, 1]
    for text in ("1e1000", "1E+99999999", "1" * 101, "1e0_0_9999"):
        with pytest.raises(ValueError, match="exponent"):
            number_typed(text)


def hold(number: int, **fields: Any) -> Receipt:
    """What a step is about to spend."""
    return {"hold": number, "item": {**receipt_of("search")["bill"][0], "finished": False, **fields}}


def stops(count: int) -> Receipt:
    """A pledge with as many planned stops as that."""
    return {
        "pledge": {
            "kind": "planned stops",
            "stops": [receipt_of("search")["bill"][0]["curve"]] * count,
            "delta": 1e-5,
        }
    }


def captured() -> Receipt:
    """What the first step did spend."""
    return {"capture": 1, "curve": hold(1)["item"]["curve"]}


def linear(rho: str) -> Receipt:
    return {"lines": [{"xi": "0", "rho": rho, "gaussian": None}]}


CROSSED = {"lines": [{"xi": str(7**place), "rho": f"1/{7**place}", "gaussian": None} for place in range(8)]}
JOURNALS: dict[str, Callable[[], list[Any]]] = {
    "a power of ten": lambda: [hold(1, curve=linear("1e99999999"))],
    "many digits": lambda: [hold(1, curve=linear("9" * 100_000))],
    "a part that is a number": lambda: [hold(1, part=3)],
    "a step that is a list": lambda: [{"hold": 1, "item": []}],
    "a count below zero": lambda: [hold(1, count=-5)],
    "a capture of nothing": lambda: [{"capture": 1, "curve": linear("1")}],
    "lines that are lists": lambda: [[]],
    "many planned stops": lambda: [stops(MOST_PLANNED + 1), hold(1)],
    "no planned stops": lambda: [stops(0), hold(1)],
    "crossing lines": lambda: [hold(place + 1, curve=CROSSED) for place in range(999)],
    "many parts": lambda: [hold(place + 1, part=f"data{place}") for place in range(999)],
    "a deep part": lambda: [hold(1, part="data" + "/train" * 1000)],
    "tables of other orders": lambda: [
        hold(place + 1, curve={"orders": [2 + place / 999 + order for order in range(99)], "values": [1.0] * 99})
        for place in range(300)
    ],
    "not a number": lambda: [hold(1, curve={"orders": [2.0], "values": [float("nan")]})],
    "infinity": lambda: [hold(1, curve={"orders": [float("inf")], "values": [1.0]})],
}


def journal(lines: list[Any]) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in [opening_line(), *lines])


@pytest.mark.parametrize("how", JOURNALS)
def test_a_hostile_journal_is_refused_in_one_sentence(how: str, tmp_path: Path) -> None:
    (tmp_path / "run.journal").write_text(journal(JOURNALS[how]()), encoding="ascii")

    refused("audit", str(tmp_path / "run.journal"))


def test_a_journal_line_with_a_name_twice_is_refused(tmp_path: Path) -> None:
    """Readers disagree on which of two values counts."""
    text = journal([hold(1)]).replace('"hold": 1', '"hold": 7, "hold": 1')
    (tmp_path / "run.journal").write_text(text, encoding="ascii")

    refused("audit", str(tmp_path / "run.journal"))


WRONG: list[Any] = [None, 3, -1.5, True, "x", "1e99999999", [], {}, [[]], {"a": []}, 10**30, "\x1b[2J", [[[[[]]]]]]


@st.composite
def misplaced(draw: st.DrawFn, found: Any) -> Any:
    """Something of another type, anywhere in it."""
    place = draw(st.sampled_from([each for each in places(found) if each]))
    at(found, place[:-1])[place[-1]] = draw(st.sampled_from(WRONG))
    return found


KINDS = ("search", "search, monotone", "tuning", "module, reached")


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.sampled_from(KINDS).flatmap(lambda name: misplaced(receipt_of(name))))
def test_a_wrong_type_anywhere_ends_the_audit_in_plain_words(found: Receipt) -> None:
    said = str(check(found))

    assert said.endswith(".")
    assert all(sign.isprintable() for sign in said)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(0, 3).flatmap(lambda count: misplaced([stops(2), *map(hold, range(1, count + 2)), captured()])))
def test_a_wrong_type_anywhere_in_a_journal_is_refused_or_read(lines: list[Any]) -> None:
    try:
        said = str(read_journal(journal(lines)))
    except ExpostError as refusal:
        said = str(refusal)

    assert said.endswith(".")
    assert all(sign.isprintable() for sign in said.replace("\n", ""))


def test_the_slowest_journals_and_settings_end_soon(tmp_path: Path) -> None:
    """All of them in one process with a limit on its processor time, so that a slow machine fails nothing."""
    for place, how in enumerate(("many planned stops", "crossing lines", "many parts", "tables of other orders")):
        (tmp_path / f"{place}.journal").write_text(journal(JOURNALS[how]()), encoding="ascii")
    for place, content in enumerate(FILES.values()):
        (tmp_path / f"{place}.toml").write_bytes(content)
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from expost.errors import ExpostError\n"
        "from expost.receipts.journal import read_journal\n"
        "from expost.receipts.untrusted import text_from\n"
        "from expost.tabular.schema.schema import Schema\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (15, 15))\n"
        "refused = 0\n"
        "for path in map(Path, sys.argv[1:]):\n"
        "    try:\n"
        "        read_journal(text_from(path)) if path.suffix == '.journal' else Schema.load(path)\n"
        "    except ExpostError:\n"
        "        refused += 1\n"
        "print(refused == len(sys.argv) - 1)\n"
    )

    paths = map(str, sorted(tmp_path.iterdir()))
    done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, check=False)

    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize("option", ["records", "public records"])
def test_features_come_from_an_ordinary_file(option: str, tmp_path: Path) -> None:
    """A pipe that nobody writes to would keep a run waiting for ever."""
    os.mkfifo(tmp_path / "pipe.npz")
    np.savez(tmp_path / "features.npz", features=np.eye(4), labels=np.array([0, 1, 0, 1]))
    private, public = ("pipe", "features") if option == "records" else ("features", "pipe")
    program = [sys.executable, "-c", "from expost.cli import main; main()", "finetune", f"{private}.npz"]

    done = subprocess.run(
        [*program, "--accuracy", "0.6", "--check", f"public:{public}.npz", "--out", "run"],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, b"pipe.npz as an .npz file" in done.stderr) == (2, True)


def test_features_that_end_a_library_show_nothing() -> None:
    class Panic(BaseException):
        """What polars raises when its own code fails: not an Exception."""

    class Odd:
        def __array__(self, *wanted: object, **others: object) -> NDArray[Any]:
            raise Panic("canary")

    with pytest.raises(Unreadable) as refusal:
        finetune(Odd(), np.array([0, 1]), accuracy=0.5)

    assert "canary" not in shown(refusal.value)
