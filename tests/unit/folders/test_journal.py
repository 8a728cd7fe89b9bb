"""A journal is on the disk before a step goes on, and states no less than what was spent, wherever it is cut off."""

import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import AdpEpsilon, Tabulated
from expost.accounting.pledge import FixedOrder
from expost.bill import Item, spent_so_far
from expost.errors import LedgerConflict, Unreadable
from expost.folders.claim import Claim
from expost.folders.journal import Journal
from expost.ledger import Entry
from expost.mechanisms import Gaussian
from expost.noise import Integers, SystemNoise
from expost.odometer import Odometer
from expost.private import Private, Split, split
from expost.receipts.costs import item_out
from expost.receipts.journal import Kept, opening_line, read_journal
from expost.release import Past
from tests.unit.commands import run
from tests.unit.examples import budget, counts, line, one_sentence, people
from tests.unit.folders.examples import BILL, ENTRY, PRICE

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

    odometer = Odometer(pledge=PLEDGE, ledger=journal)
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


def test_steps_alike_are_told_once_and_counted_each(journal: Journal, path: Path) -> None:
    """A training run of hundreds of epochs holds a table of costs for each of them, of which one says all."""
    journal.pledge(PLEDGE)
    journal.capture(journal.hold(ENTRY, PRICE), PRICE.as_spent())
    once = path.stat().st_size
    for _ in range(4):
        journal.capture(journal.hold(ENTRY, PRICE), PRICE.as_spent())
    alike = path.stat().st_size - once
    journal.hold(ENTRY, Promise(line(3, 1)))
    hold = journal.hold(ENTRY, PRICE)
    journal.capture(hold, BILL)

    found = kept(path)

    assert alike < once
    assert [float(item.spent.at(2)) for item in found.bill] == [4, 4, 4, 4, 4, 5, 3]
    assert [item.finished for item in found.bill] == [True] * 5 + [False, True]
    assert found.epsilon == pytest.approx(spent_so_far(journal))


def sides(data: Private[Integers]) -> tuple[Private[Integers], Private[Integers]]:
    divided = split(data, Fraction(1, 2), SystemNoise())
    assert divided.held is not None
    return divided.train, divided.held


def apart() -> tuple[Private[Integers], Private[Integers]]:
    divided = Split.from_parts(people(0, 1), people(1, 2), because="they came apart")
    assert divided.held is not None
    return divided.train, divided.held


WHOLE, OTHER = people(0, 1, 2), people(2, 1, 0)
TRAIN, HELD = sides(WHOLE)
READS: dict[str, Callable[[], Sequence[Private[Integers]]]] = {
    "one whole": lambda: [WHOLE, WHOLE],
    "two bodies of data": lambda: [WHOLE, OTHER],
    "two sides": lambda: [TRAIN, HELD],
    "a side and the whole": lambda: [TRAIN, WHOLE],
    "sides of two splits of one whole": lambda: [TRAIN, sides(WHOLE)[1]],
    "sides of splits of two bodies": lambda: [sides(WHOLE)[0], sides(OTHER)[1]],
    "sides of splits on somebody's word": lambda: [apart()[0], apart()[1]],
    "sides of a split within a split": lambda: [*sides(TRAIN), HELD],
    "sides of two splits within a split": lambda: [sides(TRAIN)[0], sides(TRAIN)[1], HELD],
    "sides of three splits": lambda: [sides(WHOLE)[0], sides(WHOLE)[1], sides(WHOLE)[0], *sides(OTHER)],
}


@pytest.mark.parametrize("reads", READS)
def test_the_file_says_no_less_than_the_odometer_whatever_was_read(journal: Journal, path: Path, reads: str) -> None:
    """Sides of different splits may have a record in common, so that what they cost adds up."""
    odometer = Odometer(pledge=PLEDGE, ledger=journal)
    for part in READS[reads]():
        odometer.spend(Gaussian(counts()), part, budget(1), Past(), SystemNoise())

    assert kept(path).epsilon >= odometer.epsilon
    if "within" not in reads:
        assert kept(path).epsilon == odometer.epsilon


def test_a_journal_from_python_is_a_new_file_that_stays(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with Journal.at(path) as ledger:
        odometer = Odometer(pledge=PLEDGE, ledger=ledger)
        odometer.spend(Gaussian(counts()), people(0, 1, 2), budget(1), Past(), SystemNoise())

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kept(path).epsilon == odometer.epsilon == spent_so_far(ledger)


def test_a_file_that_is_there_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run.journal").write_text("another run's\n")
    (tmp_path / "link.journal").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "folder.journal").mkdir()

    for name in ("run", "link", "folder"):
        with pytest.raises(LedgerConflict, match="name another file") as refusal:
            Journal.at(str(tmp_path / f"{name}.journal"))
        assert one_sentence(refusal.value)

    assert (tmp_path / "run.journal").read_text() == "another run's\n"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["missing/run.journal", "a file/run.journal", "run\0.journal", "r" * 300])
def test_a_file_that_cannot_be_made_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").touch()

    with pytest.raises(LedgerConflict, match="cannot be written") as refusal:
        Journal.at(tmp_path / name)

    assert one_sentence(refusal.value)


def test_a_journal_that_cannot_begin_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(LedgerConflict, match="No space left on device"):
        Journal.at(tmp_path / "run.journal")

    assert [*tmp_path.iterdir()] == []


def test_the_journal_and_its_name_are_on_the_disk_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[int, int]] = []
    fsync = os.fsync

    def noted(file: int) -> None:
        found = os.fstat(file)
        synced.append((found.st_ino, found.st_size))
        fsync(file)

    monkeypatch.setattr(os, "fsync", noted)
    with Journal.at(tmp_path / "run.journal") as ledger:
        found = (tmp_path / "run.journal").stat()
        assert (found.st_ino, found.st_size) in synced
        assert tmp_path.stat().st_ino in [inode for inode, _ in synced]
        ledger.pledge(PLEDGE)
        ledger.hold(ENTRY, PRICE)

    assert synced[-1] == (found.st_ino, (tmp_path / "run.journal").stat().st_size)


def test_what_is_closed_opens_no_data_and_writes_into_no_other_file(tmp_path: Path) -> None:
    with Journal.at(tmp_path / "run.journal") as ledger:
        hold = ledger.hold(ENTRY, PRICE)
    before = (tmp_path / "run.journal").read_bytes()

    with (tmp_path / "mine").open("w+b") as mine:  # which has the number now that the journal had
        with pytest.raises(LedgerConflict, match="closed"):
            ledger.hold(ENTRY, PRICE)
        ledger.capture(hold, BILL)
        ledger.show({"rung": "1"})
        assert mine.read() == b""

    assert (tmp_path / "run.journal").read_bytes() == before
    assert spent_so_far(ledger) == AdpEpsilon(float("inf"))


def test_a_second_pledge_is_refused_and_spoils_nothing(journal: Journal, path: Path) -> None:
    odometer = Odometer(pledge=PLEDGE, ledger=journal)
    odometer.spend(Gaussian(counts()), people(0, 1, 2), budget(1), Past(), SystemNoise())
    before = path.read_bytes()

    with pytest.raises(LedgerConflict, match="only once"):
        Odometer(pledge=PLEDGE, ledger=journal)

    assert path.read_bytes() == before
    assert kept(path).epsilon == odometer.epsilon


def test_a_step_that_the_record_refuses_spoils_nothing(journal: Journal, path: Path) -> None:
    journal.hold(ENTRY, PRICE)
    with pytest.raises(LedgerConflict, match="neighbours"):
        journal.hold(Entry("Gaussian", "data", "replace one record", False, False, {}), Promise(line(0, 1)))
    journal.hold(ENTRY, PRICE)

    assert [item.spent for item in kept(path).bill][::2] == [PRICE.as_spent()] * 2


def test_a_journal_of_a_living_run_is_not_set_aside_by_a_command(tmp_path: Path) -> None:
    with Journal.at(tmp_path / "out.journal"), pytest.raises(LedgerConflict), Claim(tmp_path / "out"):
        pass

    assert [each.name for each in tmp_path.iterdir()] == ["out.journal"]


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
        '{"hold": 1}\n',
        '{"capture": 1}\n',
        "[" * 10**5 + "\n",
    ],
)
def test_a_journal_that_was_changed_is_refused_in_one_sentence(rest: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        read_journal(HEAD + rest)

    assert one_sentence(refusal.value)


def test_a_cost_above_its_hold_or_told_twice_is_refused(journal: Journal, path: Path) -> None:
    journal.capture(journal.hold(ENTRY, PRICE), BILL)
    lines = path.read_text(encoding="utf-8").splitlines()
    dearer = json.dumps({"capture": 1, "curve": {"lines": [{"xi": "9", "rho": "9", "gaussian": None}]}})

    for forged in ([*lines[:-1], dearer], [*lines, lines[-1]], [lines[0], lines[-1]], [*lines, lines[1]]):
        with pytest.raises(Unreadable):
            read_journal("\n".join(forged) + "\n")


def test_a_run_that_fails_leaves_its_journal_and_the_next_one_sets_it_aside(tmp_path: Path) -> None:
    for _ in range(2):
        with Claim(tmp_path / "out") as claim:
            claim.journal.hold(ENTRY, PRICE)
        assert claim.left == tmp_path / "out.journal"

    assert {path.name for path in tmp_path.iterdir()} == {"out.journal", "out-1.journal"}
    assert all(kept(path).bill for path in tmp_path.iterdir())


@pytest.mark.parametrize(("first", "second"), [(PLEDGE, None), (None, PLEDGE), (None, None)])
def test_a_second_odometer_is_refused(
    journal: Journal, path: Path, first: FixedOrder | None, second: FixedOrder | None
) -> None:
    """Both call the sides of their own splits data/train and data/held, of which a reader takes the dearer."""
    odometer = Odometer(pledge=first, ledger=journal)
    with pytest.raises(LedgerConflict, match="for one odometer") as refused:
        Odometer(pledge=second, ledger=journal)
    odometer.spend(Gaussian(counts()), sides(WHOLE)[0], budget(1), Past(), SystemNoise())

    assert one_sentence(refused.value)
    assert len(kept(path).bill) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is copied where it can be")
def test_a_copy_in_another_process_writes_nothing(journal: Journal, path: Path) -> None:
    """Its lines would bear the numbers of ours, and no reader could tell them apart."""
    child = os.fork()
    if not child:
        try:
            Odometer(ledger=journal).spend(Gaussian(counts()), WHOLE, budget(1), Past(), SystemNoise())
        except LedgerConflict:
            os._exit(7)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    odometer = Odometer(pledge=PLEDGE, ledger=journal)
    odometer.spend(Gaussian(counts()), WHOLE, budget(1), Past(), SystemNoise())

    assert os.waitstatus_to_exitcode(status) == 7
    assert kept(path).epsilon == odometer.epsilon


def test_many_steps_of_a_long_table_are_read_quickly() -> None:
    """Two megabytes that took most of a minute: each capture looked its hold up in the table six times."""
    orders = [1.5 + place for place in range(1000)]
    item = item_out(Item(ENTRY, Spent(Tabulated.of(orders, [1.0] * 1000)), finished=False))
    holds = [{"hold": 1, "item": item}, *({"hold": number} for number in range(2, 20_001))]
    lines = [opening_line(), *holds, *({"capture": number} for number in range(1, 20_001))]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    begun = time.process_time()
    found = read_journal(text)

    assert all(item.finished for item in found.bill)
    assert time.process_time() - begun < 5
