"""Rows in pieces: the same sums as in one, coins that stay with their records, and nothing left behind."""

import gc
import resource
import stat
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import expost
from expost.checks.question import CentredSum
from expost.errors import Unreadable
from expost.keyed import Keyed
from expost.noise import SeededNoise
from expost.private import Neighbours, Private, split
from expost.statistic import Statistic
from expost.tabular.marginals import Marginals
from expost.tabular.one_row import OneRowEach
from expost.tabular.persons import Grouped, rows_per_person
from expost.tabular.pieced import AnyPieces, PiecedRows
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source import files, frames, stored, storing
from expost.tabular.source import room as rooms
from expost.tabular.source.reading import read_pieces, read_records
from expost.tabular.source.room import Room
from expost.tabular.source.shelf import Shelf
from expost.tabular.source.stored import StoredRows
from expost.tabular.table import Table

ROWS = 1000
ROOMY, CRAMPED = Room(10**9), Room(0)
COLUMNS = (
    Categorical("ward", ("a", "b", "c"), missing=Missing.CATEGORY),
    Integer("days", tuple(range(300)), missing=Missing.DROP),
)
SCHEMA = Schema(COLUMNS, True, Neighbours.ADD_REMOVE)
OF_PERSONS = Schema(COLUMNS, True, Neighbours.ADD_REMOVE_PERSON, unit="who")
ASKED = Marginals(SCHEMA.domain, (("ward",), ("ward", "days")), Neighbours.ADD_REMOVE)
ASKED_OF_PERSONS = Marginals(SCHEMA.domain, (("ward",), ("ward", "days")), Neighbours.ADD_REMOVE_PERSON)


def frame(rows: int = ROWS) -> pl.DataFrame:
    """Rows of persons with up to nine each, far apart; some cells and some identifiers are missing."""
    places = np.arange(rows)
    return pl.DataFrame(
        {
            "ward": [["a", "b", "c", None][place * place % 7 % 4] for place in places],
            "days": [None if place % 13 == 0 else int(place * 31 % 300) for place in places],
            "who": [None if place % 50 == 0 else f"p{place * place % 211}" for place in places],
        }
    )


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of about 64 rows."""
    monkeypatch.setattr(rooms, "PIECE", 64)
    for module in (files, frames):
        monkeypatch.setattr(module, "CHUNK", 30)


@pytest.fixture(params=[ROOMY, CRAMPED], ids=["memory", "disk"])
def room(request: pytest.FixtureRequest) -> Room:
    """Where the codes are kept."""
    kept: Room = request.param
    return kept


def pieces(schema: Schema, room: Room, table: Any = None) -> StoredRows:
    """The frame in pieces."""
    found = read_pieces(frame() if table is None else table, schema, room, SeededNoise(1), lambda text: None)
    assert isinstance(found, StoredRows)
    assert isinstance(found, PiecedRows)
    return found


def whole(rows: AnyPieces) -> list[tuple[int, ...]]:
    """All rows, sorted."""
    assert isinstance(rows, StoredRows)
    together = [rows.joined(lambda piece, name=name: _table(piece).codes(name)) for name in rows.schema.names]  # type: ignore[misc]
    return sorted(zip(*(each.tolist() for each in together), strict=True))


def _table(rows: Table | Grouped) -> Table:
    return rows.table if isinstance(rows, Grouped) else rows


def _parts(rows: Any) -> Iterator[Any]:
    kept: list[Any] = []

    def keep(piece: Any) -> NDArray[np.int64]:
        kept.append(piece)
        return np.zeros(1, np.int64)

    rows.joined(keep)
    yield from kept


NUMBER, WORD = 4242424242424242, "zq-canary-zq"


def kept_bytes(table: pl.DataFrame, schema: Schema, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """All that is put on a shelf while the table is read, where every shelf is on the disk."""
    seen, put = list[bytes](), Shelf.put

    def noted(self: Shelf, arrays: Any) -> Any:
        kept = put(self, arrays)
        assert kept._file is not None
        seen.append(kept._file.read_bytes())
        return kept

    monkeypatch.setattr(Shelf, "put", noted)
    pieces(schema, CRAMPED, table).close()
    return b"".join(seen)


SPELLED: dict[str, Callable[[int], Any]] = {
    "numbers": lambda person: NUMBER + person,
    "texts": lambda person: f"{WORD}{person}",
}


@pytest.mark.parametrize("spelled", SPELLED.values(), ids=SPELLED)
def test_no_identifier_is_on_the_disk_while_persons_are_put_together(
    spelled: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = frame().with_columns(pl.Series("who", [spelled(place % 211) for place in range(ROWS)]))

    found = kept_bytes(table, OF_PERSONS, monkeypatch)

    assert len(found) > ROWS
    assert WORD.encode() not in found
    for person in range(211):
        assert str(NUMBER + person).encode() not in found
        assert (NUMBER + person).to_bytes(8, "little") not in found


def test_codes_are_on_the_disk_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: what is there is seen."""
    assert bytes([2] * 20) in kept_bytes(frame().with_columns(pl.lit("c").alias("ward")), OF_PERSONS, monkeypatch)


def test_few_rows_are_one_table() -> None:
    found = read_pieces(frame(60), SCHEMA, ROOMY, SeededNoise(1), lambda text: None)

    assert isinstance(found, Table)


def test_many_rows_are_counted_as_if_they_were_one_table(room: Room) -> None:
    found = pieces(SCHEMA, room)

    assert len([*_parts(found)]) > 5
    assert np.array_equal(ASKED.statistic.evaluate(found), ASKED.statistic.evaluate(read_records(frame(), SCHEMA)))


def test_persons_in_pieces_are_counted_as_if_they_were_in_one(room: Room) -> None:
    found, together = pieces(OF_PERSONS, room), read_records(frame(), OF_PERSONS)

    statistics: list[Statistic[Any]] = [ASKED_OF_PERSONS.statistic, ASKED_OF_PERSONS.weighed(ASKED_OF_PERSONS.cliques)]

    for each in statistics:
        assert np.array_equal(each.evaluate(found), each.evaluate(together))
    numbers: Statistic[Any] = rows_per_person(Neighbours.ADD_REMOVE_PERSON)
    assert np.array_equal(numbers.evaluate(found), numbers.evaluate(together))


def test_rows_that_wait_for_others_of_their_bucket_are_not_lost(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "BUCKETS", 6)  # ten rows of a bucket are put away together

    found, together = pieces(OF_PERSONS, room), read_records(frame(), OF_PERSONS)

    statistic: Statistic[Any] = rows_per_person(Neighbours.ADD_REMOVE_PERSON)
    assert np.array_equal(statistic.evaluate(found), statistic.evaluate(together))


def test_a_shelf_is_full_by_all_that_it_holds() -> None:
    shelf, rows = Shelf(100), [np.zeros(60, np.uint8)]

    kept, spilled = shelf.put(rows), shelf.put(rows)

    assert [each._file is None for each in (kept, spilled)] == [True, False]
    del kept
    gc.collect()
    assert shelf.put(rows)._file is None
    shelf.close()


def test_a_person_whose_rows_are_in_several_pieces_would_move_more_than_is_claimed() -> None:
    """The negative twin: pieces in the order of the file, each by person."""
    statistic: Statistic[Any] = ASKED_OF_PERSONS.weighed(ASKED_OF_PERSONS.cliques)
    alike = pl.DataFrame({"ward": ["a"] * 200, "days": [1] * 200, "who": ["p"] * 200})
    cut = [read_records(alike[start : start + 50], OF_PERSONS) for start in range(0, 200, 50)]

    claimed = int(statistic.l2_squared)
    moved = [statistic.evaluate(pieces(OF_PERSONS, ROOMY, alike)), sum(statistic.evaluate(each) for each in cut)]

    assert [int((each * each).sum()) <= claimed for each in map(np.asarray, moved)] == [True, False]


def test_every_record_is_on_one_side_of_a_division(room: Room) -> None:
    found = pieces(SCHEMA, room)
    before = whole(found)

    train, held = found.divided(Fraction(1, 5), SeededNoise(2))

    assert sorted(whole(train) + whole(held)) == before
    assert 0.1 < len(whole(held)) / len(before) < 0.3
    assert whole(found) == before


def test_the_side_of_a_record_follows_from_its_place_and_a_key() -> None:
    more, fewer = pieces(SCHEMA, ROOMY), pieces(SCHEMA, CRAMPED, frame(ROWS - 1))

    sides = [each.divided(Fraction(1, 5), SeededNoise(2)) for each in (more, fewer)]

    for long, short in zip(*sides, strict=True):
        extra = [*whole(long)]
        for each in whole(short):
            extra.remove(each)
        assert len(extra) <= 1


def test_no_two_records_share_a_coin(room: Room) -> None:
    """A coin is by the number of its record among those of all pieces: counted anew in each, coins would repeat."""
    found = pieces(SCHEMA, room)
    wards, days = (found.joined(lambda piece, name=name: piece.codes(name)) for name in SCHEMA.names)  # type: ignore[misc]
    coins = Keyed(SeededNoise(2).key(), "sides").coins(Fraction(1, 5), 0, len(wards))

    _, held = found.divided(Fraction(1, 5), SeededNoise(2))

    assert whole(held) == sorted(zip(wards[coins].tolist(), days[coins].tolist(), strict=True))


def test_no_two_persons_share_a_draw(room: Room) -> None:
    found = pieces(OF_PERSONS, room)
    sizes = np.concatenate([piece.sizes for piece in _parts(found)])

    drawn = np.concatenate([piece.people.chosen for piece in _parts(found.drawn(SeededNoise(3)))])

    assert np.array_equal(drawn, Keyed(SeededNoise(3).key(), "rows of persons").below(sizes, 0))


def test_persons_are_divided_with_all_their_rows(room: Room) -> None:
    found = pieces(OF_PERSONS, room)
    persons = [tuple(sorted(_rows_of(piece))) for piece in _parts(found)]
    everybody = sorted(each for piece in persons for each in piece)

    train, held = found.divided(Fraction(1, 2), SeededNoise(2))

    sides = [sorted(each for piece in _parts(side) for each in _rows_of(piece)) for side in (train, held)]
    assert sorted(sides[0] + sides[1]) == everybody
    assert min(map(len, sides)) > 0


def _rows_of(persons: Grouped) -> list[tuple[tuple[int, ...], ...]]:
    """The rows of each person."""
    rows = list(zip(*(persons.table.codes(name).tolist() for name in persons.schema.names), strict=True))
    ends = np.cumsum(persons.sizes)
    return [tuple(sorted(rows[end - size : end])) for end, size in zip(ends, persons.sizes, strict=True)]


def test_the_row_drawn_for_a_person_is_the_same_in_every_pass(room: Room) -> None:
    found = pieces(OF_PERSONS, room).drawn(SeededNoise(3))
    question: OneRowEach[None] = OneRowEach(
        CentredSum(lambda candidate, rows: rows.codes("days") / 300, Fraction(1, 2), Neighbours.ADD_REMOVE_PERSON)
    )

    assert question.ask(None, found) == question.ask(None, found)
    drawn = [piece.people.chosen for piece in _parts(found)]
    assert all((chosen < piece.sizes).all() for chosen, piece in zip(drawn, _parts(found), strict=True))
    assert any(chosen.any() for chosen in drawn)


def test_rows_written_anew_are_so_in_every_piece(room: Room) -> None:
    found = pieces(SCHEMA, room)

    turned = found.recoded(lambda table: Table(SCHEMA, {**table.columns, "days": 299 - table.codes("days")}))

    assert whole(turned) == sorted((ward, 299 - days) for ward, days in whole(found))


def test_the_same_records_in_any_order_are_the_same(room: Room) -> None:
    found, backwards = pieces(SCHEMA, room), read_records(frame().reverse(), SCHEMA)

    assert found.same_records(backwards)
    assert not found.same_records(read_records(frame(ROWS - 1), SCHEMA))
    assert not found.same_records(read_records(frame(ROWS).with_columns(ward=pl.lit("a")), SCHEMA))


def test_what_is_kept_on_disk_is_private_and_goes_with_the_rows() -> None:
    found = pieces(SCHEMA, CRAMPED)
    folder = found._shelf._folder
    assert folder is not None
    files = [*folder.iterdir()]

    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert len(files) > 5
    found.divided(Fraction(1, 5), SeededNoise(2))
    gc.collect()
    assert not any(each.exists() for each in files)
    found.close()
    assert not folder.exists()
    with pytest.raises(Unreadable, match="read the table again"):
        ASKED.statistic.evaluate(found)


def test_rows_that_nobody_has_any_more_leave_no_file() -> None:
    found = pieces(SCHEMA, CRAMPED)
    folder = found._shelf._folder
    assert folder is not None

    del found
    gc.collect()

    assert not folder.exists()


def test_a_division_that_did_not_finish_leaves_no_part_to_be_taken_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    found, taken = pieces(SCHEMA, ROOMY), stored.Gathering.add

    def interrupted(gathering: stored.Gathering, rows: Table) -> None:
        taken(gathering, rows)
        if len(gathering._made) > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(stored.Gathering, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        found.divided(Fraction(1, 5), SeededNoise(2))

    with pytest.raises(Unreadable, match="let go of"):
        ASKED.statistic.evaluate(found)


def test_a_full_disk_is_told_and_names_no_number() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(Unreadable, match="no room for it in the folder for temporary files") as told:
            pieces(SCHEMA, CRAMPED)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not any(letter.isdigit() for letter in str(told.value))


@pytest.mark.parametrize("harm", [Path.unlink, lambda file: file.write_bytes(b"")], ids=["gone", "emptied"])
def test_a_piece_that_was_taken_away_or_cut_is_never_counted_as_it_is(harm: Callable[[Path], object]) -> None:
    found = pieces(SCHEMA, CRAMPED)
    assert found._shelf._folder is not None
    for file in found._shelf._folder.iterdir():
        harm(file)

    with pytest.raises(Unreadable, match="is gone or was cut"):
        found.added(lambda rows: np.array([len(rows)]))


def test_rows_in_pieces_show_nothing_of_themselves() -> None:
    found = pieces(SCHEMA, ROOMY)

    assert repr(found) == "StoredRows(ward, days)"
    assert repr(split(Private(found, Neighbours.ADD_REMOVE), Fraction(1, 5), SeededNoise(2)).train).count("1") == 0


def test_answers_are_the_same_whether_rows_are_in_pieces_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> Any:
        return expost.ask(
            frame(), "count by ward", "mean days", schema=SCHEMA, within="20%", noise=SeededNoise(5), max_epsilon=20
        ).table

    in_pieces = asked()
    monkeypatch.setattr(rooms, "PIECE", 10**6)

    assert str(in_pieces) == str(asked())


def test_a_source_that_changes_after_it_was_read_changes_nothing(tmp_path: Path) -> None:
    frame().write_parquet(tmp_path / "rows.parquet")
    found = pieces(SCHEMA, CRAMPED, tmp_path / "rows.parquet")
    before = ASKED.statistic.evaluate(found)

    frame().with_columns(ward=pl.lit("a")).write_parquet(tmp_path / "rows.parquet")

    assert np.array_equal(ASKED.statistic.evaluate(found), before)


def test_sides_are_in_the_order_of_the_records_however_large_the_pieces_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its place in a side a record is divided again, or a row is drawn of it."""
    found = []
    for size in (64, 200):
        monkeypatch.setattr(rooms, "PIECE", size)
        side = pieces(SCHEMA, ROOMY).divided(Fraction(1, 5), SeededNoise(3))[0]
        found.append(side.joined(lambda rows: rows.codes("days")).tolist())

    assert found[0] == found[1]
