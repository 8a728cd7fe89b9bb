"""Tables of any number of rows: Parquet files with the columns of a census, and a schema beside them."""

from hashlib import sha256
from pathlib import Path

import duckdb

TARGET = "income"
NUMBERS = {
    "age": "17 + (hash({i}, 1) % 37 + hash({i}, 2) % 37)::INTEGER",
    "hours": "(1 + hash({i}, 3) % 20 + hash({i}, 4) % 20 + hash({i}, 5) % 59)::INTEGER",
    "gain": "CASE WHEN hash({i}, 6) % 10 < 9 THEN 0.0 ELSE exp(4 + (hash({i}, 7) % 600) / 100.0) END",
    "weight": "40 + (hash({i}, 8) % 8000) / 100.0",
}
BINS = {
    "age": 'kind = "integer"\nedges = [17, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 91]\nclosed = "left"',
    "hours": 'kind = "integer"\nedges = [1, 20, 30, 40, 45, 50, 60, 99]\nclosed = "left"',
    "gain": 'kind = "numeric"\nedges = [0, 1, 100, 500, 1000, 5000, 10000, inf]\nclosed = "left"',
    "weight": 'kind = "numeric"\nedges = [40, 50, 60, 70, 80, 90, 100, 110, 120]\nclosed = "left"',
}
SIZES = (2, 4, 5, 6, 7, 8, 14, 16)
"""Values of the columns of text, in turn."""
SEED = "(i * 7919 + 13)"


def write_table(folder: Path, rows: int, columns: int = 13) -> tuple[Path, Path]:
    """A Parquet file of this size, with a schema that was reviewed; the same rows whenever it is made."""
    query = f"SELECT {', '.join(_expressions(columns))} FROM range({rows}) AS t(i)"
    named = f"rows-{rows}-{columns}-{sha256(query.encode()).hexdigest()[:8]}"  # one of other contents is made anew
    file, schema = folder / f"{named}.parquet", folder / f"rows-{columns}.toml"
    schema.write_text(schema_text(columns))
    if not file.exists():
        begun = folder / f"{named}.begun"  # what was interrupted is not taken for the table
        with duckdb.connect() as home:
            home.execute("SET enable_progress_bar = false")
            home.execute("SET preserve_insertion_order = true")
            home.execute(f"COPY ({query}) TO '{begun}' (FORMAT parquet, COMPRESSION zstd)")
        begun.replace(file)
    return file, schema


def schema_text(columns: int) -> str:
    """The schema of a table with this number of columns, the last of which is the target."""
    told = ["reviewed = true", 'neighbours = "add-remove"', f'target = "{TARGET}"']
    told += [f'[[column]]\nname = "{name}"\n{BINS[name]}\nmissing = false' for name in NUMBERS]
    for place in range(_texts(columns)):
        values = ", ".join(f'"{_value(place, each)}"' for each in range(SIZES[place % len(SIZES)]))
        told.append(f'[[column]]\nname = "{_name(place)}"\nkind = "categorical"\nvalues = [{values}]\nmissing = false')
    told.append(f'[[column]]\nname = "{TARGET}"\nkind = "categorical"\nvalues = ["low", "high"]\nmissing = false')
    return "\n".join(told) + "\n"


def columns_of(columns: int) -> list[str]:
    """The names of all columns."""
    return [*NUMBERS, *(_name(place) for place in range(_texts(columns))), TARGET]


def _expressions(columns: int) -> list[str]:
    """Each column as an expression of the row's number; some texts are alike, and the target depends on several."""
    made = [f"{sql.format(i=SEED)} AS {name}" for name, sql in NUMBERS.items()]
    drawn = "(hash({i}, 20) % {size})"
    for place in range(_texts(columns)):
        size = SIZES[place % len(SIZES)]
        fresh = f"(hash({SEED}, {20 + place}) % {size})"
        before = f"(hash({SEED}, {19 + place}) % {size})" if place else drawn.format(i=SEED, size=size)
        mixed = f"CASE WHEN hash({SEED}, {500 + place}) % 10 < 4 THEN {before} ELSE {fresh} END"
        made.append(f"'{_name(place)} ' || ({mixed}) AS {_name(place)}")
    chance = f"20 + 30 * ((hash({SEED}, 1) % 37 + hash({SEED}, 2) % 37) > 40)::INTEGER + 30 * (hash({SEED}, 20) % 2)"
    made.append(f"CASE WHEN hash({SEED}, 900) % 100 < {chance} THEN 'high' ELSE 'low' END AS {TARGET}")
    return made


def _texts(columns: int) -> int:
    return columns - len(NUMBERS) - 1


def _name(place: int) -> str:
    return f"c{place}"


def _value(place: int, value: int) -> str:
    return f"{_name(place)} {value}"
