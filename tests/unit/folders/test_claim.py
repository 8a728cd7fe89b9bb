"""A release is made beside its folder and moved there whole; what it replaces goes last, and its receipts never."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from expost.errors import InvalidValue, LedgerConflict, Unreadable
from expost.folders import disk
from expost.folders.claim import Claim, deliver
from expost.folders.disk import lock
from expost.folders.journal import Journal
from expost.folders.place import FRESH, REPLACED
from expost.receipts.journal import is_journal, opening_line, read_journal
from expost.report.facts import Facts
from tests.unit.folders.examples import ENTRY, PRICE, RECEIPT, older_release
from tests.unit.jobs.synthesis.customers import SCHEMA, made
from tests.unit.report.examples import customers

NAMES = {"synthetic.csv", "report.html", "receipt.json"}


@pytest.fixture(scope="module")
def facts() -> Facts:
    """What is told of some run."""
    return made(customers(SCHEMA)).facts


def put(fresh: Path) -> None:
    """The product of a job."""
    (fresh / "synthetic.csv").write_text("new", encoding="utf-8")


def found(here: Path) -> list[str]:
    """Everything in a folder."""
    return [str(path.relative_to(here)) for path in sorted(here.rglob("*"))]


def test_a_release_is_three_files_and_nothing_beside_them(facts: Facts, tmp_path: Path) -> None:
    deliver(tmp_path / "a/b", put, receipt=RECEIPT, report="a page")

    assert {path.name for path in (tmp_path / "a/b").iterdir()} == NAMES
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_the_receipt_is_on_the_disk_before_the_product_is_written(facts: Facts, tmp_path: Path) -> None:
    seen: set[str] = set()

    deliver(
        tmp_path / "out",
        lambda fresh: seen.update(path.name for path in fresh.iterdir()),
        receipt=RECEIPT,
        report="a page",
    )

    assert seen == {"receipt.json", "report.html"}


def test_a_way_over_a_folder_that_is_missing_does_not_lead_to_one_that_is_there(facts: Facts, tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep/precious").touch()

    for overwrite in (False, True):
        with pytest.raises(InvalidValue):
            deliver(tmp_path / "missing/../keep", put, receipt=RECEIPT, report="a page", overwrite=overwrite)

    assert found(tmp_path) == ["keep", "keep/precious"]


def test_every_receipt_is_kept_however_often_a_release_is_replaced(facts: Facts, tmp_path: Path) -> None:
    folder = older_release(tmp_path / "out")
    for _ in range(3):
        deliver(folder, put, receipt=RECEIPT, report="a page", overwrite=True)

    kept = [json.loads((folder / f"earlier/receipt-{number}.json").read_bytes()) for number in (1, 2, 3)]

    assert kept[0] == json.loads(RECEIPT)
    assert kept[1] == kept[2] == json.loads((folder / "receipt.json").read_bytes())
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_a_release_that_cannot_be_moved_into_place_leaves_the_old_one(
    failure: type[BaseException], facts: Facts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, rename = older_release(tmp_path / "out"), Path.rename

    def fails(path: Path, target: Path) -> Path:
        if path.name == FRESH:
            raise failure
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(failure):
        deliver(folder, put, receipt=RECEIPT, report="a page", overwrite=True)

    assert found(tmp_path) == ["out", "out/receipt.json", "out/synthetic.csv"]


def test_a_stranger_that_comes_while_a_release_is_made_is_not_replaced(facts: Facts, tmp_path: Path) -> None:
    folder = older_release(tmp_path / "out")

    def late(fresh: Path) -> None:
        (folder / "precious").touch()

    with pytest.raises(InvalidValue):
        deliver(folder, late, receipt=RECEIPT, report="a page", overwrite=True)

    assert found(tmp_path) == ["out", "out/precious", "out/receipt.json", "out/synthetic.csv"]


def test_a_product_that_nobody_would_recognise_is_a_mistake_of_ours(facts: Facts, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        deliver(tmp_path / "out", lambda fresh: (fresh / "weights").touch(), receipt=RECEIPT, report="a page")


def left(here: Path, *, placed: bool) -> Path:
    """What a run leaves that is killed as it replaces a release: before the new one is in place, or after."""
    folder, made = older_release(here / "out"), here / ".out-expost-abcdefgh"
    made.mkdir()
    older_release(made / FRESH)
    (made / FRESH / "earlier").mkdir()
    shutil.copyfile(folder / "receipt.json", made / FRESH / "earlier/receipt-1.json")
    folder.rename(made / REPLACED)
    if placed:
        (made / FRESH).rename(folder)
    return folder


def test_a_release_that_a_killed_run_took_away_is_put_back_by_the_next(tmp_path: Path) -> None:
    folder = left(tmp_path, placed=False)

    with Claim(folder, overwrite=True):
        pass

    assert found(tmp_path) == ["out", "out/receipt.json", "out/synthetic.csv"]


def test_a_release_that_was_put_back_is_not_replaced_unless_that_is_asked(tmp_path: Path) -> None:
    folder = left(tmp_path, placed=False)

    with pytest.raises(InvalidValue), Claim(folder):
        pass

    assert found(tmp_path) == ["out", "out/receipt.json", "out/synthetic.csv"]


def test_what_a_killed_run_has_replaced_is_removed_by_the_next(tmp_path: Path) -> None:
    folder = left(tmp_path, placed=True)

    with Claim(folder, overwrite=True):
        pass

    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_was_replaced_stays_where_its_receipt_is_not_kept(tmp_path: Path) -> None:
    folder = left(tmp_path, placed=True)
    (folder / "earlier/receipt-1.json").unlink()

    with Claim(folder, overwrite=True):
        pass

    assert (tmp_path / ".out-expost-abcdefgh" / REPLACED / "receipt.json").exists()


def test_a_hidden_folder_that_is_not_ours_stays(tmp_path: Path) -> None:
    names = [".out-backup12", ".out-expost-", ".out-expost-toolongtobeours", ".output-expost-abcdefgh"]
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / ".out-expost-abcdefgh").mkdir()
    (tmp_path / ".out-expost-abcdefgh/precious").touch()

    with Claim(tmp_path / "out"):
        pass

    assert {path.name for path in tmp_path.iterdir()} == {*names, ".out-expost-abcdefgh"}


def test_a_folder_is_claimed_by_one_at_a_time(tmp_path: Path) -> None:
    with Claim(tmp_path / "out"), pytest.raises(LedgerConflict), Claim(tmp_path / "a/../out"):
        pass

    with Claim(tmp_path / "out"):
        pass
    assert found(tmp_path) == []


def test_a_claim_whose_folder_vanished_does_not_take_away_that_of_another_run(tmp_path: Path) -> None:
    with Claim(tmp_path / "inner/out"):
        shutil.rmtree(tmp_path / "inner")
        other = Claim(tmp_path / "inner/out").__enter__()

    assert found(tmp_path) == ["inner", "inner/out.journal"]
    other.__exit__(None, None, None)


def test_a_claim_that_is_refused_leaves_no_folder_behind(tmp_path: Path) -> None:
    with Claim(tmp_path / "a/b/out"):
        assert (tmp_path / "a/b").is_dir()

    assert found(tmp_path) == []


@pytest.mark.parametrize("text", ["\n", "mine", '{"format": "mine"}\n', '{"format": "expost jour'])
def test_a_file_where_the_journal_belongs_is_refused_and_left_alone(text: str, tmp_path: Path) -> None:
    (tmp_path / "out.journal").write_text(text, encoding="utf-8")

    with pytest.raises(Unreadable), Claim(tmp_path / "out"):
        pass

    assert (tmp_path / "out.journal").read_text(encoding="utf-8") == text


def test_an_empty_file_is_a_journal_that_a_killed_run_made_and_wrote_nothing_to(tmp_path: Path) -> None:
    (tmp_path / "out.journal").touch()

    with Claim(tmp_path / "out") as claim:
        begun = (tmp_path / "out.journal").read_text(encoding="utf-8")

    assert is_journal(begun)
    assert claim.left is None
    assert found(tmp_path) == []


def test_a_damaged_journal_is_kept_though_nothing_on_it_can_be_read(tmp_path: Path) -> None:
    """The negative twin: a file that is not empty may have said what was spent."""
    (tmp_path / "out.journal").write_text(f"{json.dumps(opening_line())}\n\x00\n", encoding="utf-8")

    with Claim(tmp_path / "out"):
        pass

    assert found(tmp_path) == ["out-1.journal"]


@pytest.mark.parametrize(
    "begin", [lambda path: Claim(path / "out").__enter__(), lambda path: Journal.at(path / "out.journal")]
)
def test_a_run_whose_empty_journal_was_taken_before_it_was_locked_is_refused(
    begin: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else two runs would fill one folder, and the journal of one would be a file without a name."""
    others: list[Claim] = []

    def late(file: int) -> None:
        monkeypatch.undo()
        others.append(Claim(tmp_path / "out").__enter__())
        lock(file)

    monkeypatch.setattr(disk, "lock", late)
    with pytest.raises(LedgerConflict):
        begin(tmp_path)

    assert found(tmp_path) == ["out.journal"]
    others[0].journal.hold(ENTRY, PRICE)
    assert len(read_journal((tmp_path / "out.journal").read_text(encoding="utf-8")).bill) == 1
    others[0].give_up()


def test_a_link_where_the_journal_belongs_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out.journal").symlink_to(tmp_path / "precious")

    with pytest.raises(Unreadable), Claim(tmp_path / "out"):
        pass

    assert not (tmp_path / "precious").exists()


def test_a_process_that_dies_gives_up_its_claim(tmp_path: Path) -> None:
    program = (
        f"import os; from pathlib import Path; from expost.folders.claim import Claim; "
        f"Claim(Path({str(tmp_path / 'out')!r})).__enter__(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert found(tmp_path) == ["out.journal"]

    with Claim(tmp_path / "out"):
        pass

    assert found(tmp_path) == []
