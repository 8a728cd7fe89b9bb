"""A journal is on the disk before a step goes on, and states no less than what was spent, wherever it is cut off."""

import json
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import FixedOrder
from expost.errors import LedgerConflict, SchemaMismatch
from expost.mechanisms import Gaussian
from expost.noise import SystemNoise
from expost.odometer import Odometer
from expost.record import Entry
from expost.release import Past
from expost.report.journal import Kept, read_journal
from expost.runs import spent_so_far
from expost.runs.claim import Claim
from expost.runs.journal import Journal
from tests.unit.commands import run
from tests.unit.examples import budget, counts, line, one_sentence, people

ENTRY = Entry("Gaussian", "data", "add or remove one record", False, False, {"variance": "10"})
PRICE, BILL = Promise(line(2, 1)), Spent(line(1, 1))
PLEDGE = FixedOrder(Fraction(20), 1e-5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.journal"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    """A journal in a file of its own."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    yield Journal(file)
    os.close(file)


def kept(path: Path) -> Kept:
    """What a reader finds."""
    return read_journal(path.read_text(encoding="utf-8"))


def test_a_hold_is_in_the_file_in_full_and_a_capture_takes_its_place(journal: Journal, path: Path) -> None:
    journal.pledge(PLEDGE)
    hold = journal.hold(ENTRY, PRICE)
    held = kept(path)

    journal.capture(hold, BILL)
    captured = kept(path)

    assert [(item.spent, item.finished) for item in held.bill] == [(PRICE.as_spent(), False)]
    assert [(item.spent, item.finished) for item in captured.bill] == [(BILL, True)]
    assert held.epsilon > captured.epsilon == spent_so_far(journal)


def test_the_data_is_not_opened_before_the_hold_is_in_the_file(journal: Journal, path: Path) -> None:
    found: list[int] = []

    class Watched:
        def __getattr__(self, name: str) -> object:
            found.append(len(kept(path).bill))
            return getattr(SystemNoise(), name)

    odometer = Odometer(pledge=PLEDGE, recorder=journal)
    odometer.spend(Gaussian(counts()), people(0, 1, 2), budget(1), Past(), Watched())  # type: ignore[arg-type]

    assert found
    assert found[-1] == 1
    assert kept(path).epsilon == odometer.epsilon


def test_the_file_says_at_every_byte_what_was_spent_or_more(journal: Journal, path: Path) -> None:
    """A hold that is cut short was not acted upon; a capture that is, leaves its hold."""
    journal.pledge(PLEDGE)
    opened, spent = [path.stat().st_size], [AdpEpsilon(0.0)]
    for _ in range(2):
        hold = journal.hold(ENTRY, PRICE)
        opened.append(path.stat().st_size)
        journal.capture(hold, BILL)
        spent.append(spent_so_far(journal))
    whole = path.read_bytes()

    for end in range(opened[0], len(whole) + 1):
        steps = sum(size <= end for size in opened) - 1
        assert read_journal(whole[:end].decode()).epsilon >= spent[steps]


def test_what_is_shown_is_told_again(journal: Journal, path: Path) -> None:
    journal.pledge(PLEDGE)
    journal.capture(journal.hold(ENTRY, PRICE), BILL)
    journal.show({"rung": "1", "ε so far": "0.2\x1b[2J"})
    journal.hold(ENTRY, PRICE)

    result = run("audit", str(path))

    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "rung: 1  ε so far: 0.2?[2J"
    assert "with one step that did not finish and is counted in full" in result.stdout


def test_a_journal_on_which_nothing_is_says_so(journal: Journal, path: Path) -> None:
    assert str(kept(path)) == "The journal says that nothing was spent."


def test_a_seeded_run_is_called_not_private(journal: Journal, path: Path) -> None:
    journal.hold(Entry("Gaussian", "data", "add or remove one record", True, False, {}), PRICE)

    assert str(kept(path)).startswith("NOT PRIVATE")


def test_without_a_pledge_what_was_spent_is_infinite(journal: Journal, path: Path) -> None:
    journal.hold(ENTRY, PRICE)

    assert "ε = ∞ is spent" in str(kept(path))


def test_a_hold_that_cannot_be_written_is_refused_and_leaves_the_file_whole(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, before = os.write, path.read_bytes()

    def full(file: int, data: bytes) -> int:
        if len(data) < 40:
            raise OSError(28, "No space left on device")
        return write(file, data[:-39])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        journal.hold(ENTRY, PRICE)

    assert path.read_bytes() == before
    assert spent_so_far(journal) == AdpEpsilon(0)


def test_a_capture_that_cannot_be_written_leaves_its_hold(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    hold = journal.hold(ENTRY, PRICE)
    with monkeypatch.context() as broken:
        broken.setattr(os, "write", full)
        journal.capture(hold, BILL)
        journal.show({"rung": "1"})

    assert [item.spent for item in kept(path).bill] == [PRICE.as_spent()]
    assert journal.lines == ((ENTRY, BILL, 1),)


def test_a_hold_is_captured_once(journal: Journal, path: Path) -> None:
    hold = journal.hold(ENTRY, PRICE)
    journal.capture(hold, BILL)

    with pytest.raises(LedgerConflict):
        journal.capture(hold, BILL)

    assert len(kept(path).bill) == 1


HEAD = '{"format": "expost journal 1"}\n'


@pytest.mark.parametrize(
    "rest",
    [
        "{}\n",
        "[]\n",
        "cut\n" + HEAD,
        '{"pledge": null}\n',
        '{"hold": 2, "item": {}}\n',
        '{"capture": 1, "curve": {"lines": []}}\n',
        '{"capture": true, "curve": {"lines": []}}\n',
        '{"shown": 3}\n',
        "[" * 10**5 + "\n",
    ],
)
def test_a_journal_that_was_changed_is_refused_in_one_sentence(rest: str) -> None:
    with pytest.raises(SchemaMismatch) as refusal:
        read_journal(HEAD + rest)

    assert one_sentence(refusal.value)


def test_a_cost_above_its_hold_or_told_twice_is_refused(journal: Journal, path: Path) -> None:
    journal.capture(journal.hold(ENTRY, PRICE), BILL)
    lines = path.read_text(encoding="utf-8").splitlines()
    dearer = json.dumps({"capture": 1, "curve": {"lines": [{"xi": "9", "rho": "9", "gaussian": None}]}})

    for forged in ([*lines[:-1], dearer], [*lines, lines[-1]], [lines[0], lines[-1]], [*lines, lines[1]]):
        with pytest.raises(SchemaMismatch):
            read_journal("\n".join(forged) + "\n")


def test_a_run_that_fails_leaves_its_journal_and_the_next_one_sets_it_aside(tmp_path: Path) -> None:
    for _ in range(2):
        with Claim(tmp_path / "out") as claim:
            claim.journal.hold(ENTRY, PRICE)
        assert claim.left == tmp_path / "out.journal"

    assert {path.name for path in tmp_path.iterdir()} == {"out.journal", "out-1.journal"}
    assert all(kept(path).bill for path in tmp_path.iterdir())
