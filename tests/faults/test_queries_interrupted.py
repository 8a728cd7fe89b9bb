"""The interrupt key ends a query that would take hours, in our own words, and the process with it."""

import signal
import subprocess
import sys
from time import monotonic

import pytest

from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from tests.unit.examples import ADD

SCHEMA = Schema((Integer("a", (1, 2, 3), Missing.FALLBACK),), True, ADD)
READS = f"""
import sys
from expost.tabular.drafts.draft import draft
from expost.tabular.inspection import check_table
from expost.tabular.schema.schema import Schema
from expost.tabular.source.engine import ahead
from expost.tabular.source.reading import read_table

read = ahead._Reader._read

def announced(reader):
    print("running", flush=True)
    return read(reader)

ahead._Reader._read = announced
schema = Schema.load({SCHEMA.dumps()!r})
jobs = {{
    "read": lambda source: read_table(source, schema), "check": lambda source: check_table(source, schema),
    "draft": draft,
}}
try:
    jobs[sys.argv[1]](sys.argv[2])
except KeyboardInterrupt as interrupt:
    print(interrupt)
"""
AT_ONCE = 10.0
"""Seconds that an interrupt may take. It takes a tenth of one where nothing else runs."""

ENDLESS = "(SELECT range AS a FROM range(100_000_000_000_000))"
BEFORE_A_BATCH, BETWEEN_TWO = f"max(hash(a)) % 3 FROM {ENDLESS}", f"a % 3 FROM {ENDLESS}"
OF_NUMBERS, OF_LISTS, OF_INTERVALS = "SELECT {} AS a", "SELECT [{}] AS a", "SELECT to_days(({})::INTEGER) AS a"


def query(cell: str, what: str) -> str:
    """A query that would take hours, of cells of this kind."""
    value, _, rest = what.partition(" FROM ")
    return f"duckdb:{cell.format(value)} FROM {rest}"


@pytest.mark.parametrize("what", [BEFORE_A_BATCH, BETWEEN_TWO], ids=["before a batch", "between two"])
@pytest.mark.parametrize(
    ("job", "cell"),
    [("read", OF_NUMBERS), ("read", OF_LISTS), ("read", OF_INTERVALS), ("check", OF_NUMBERS), ("draft", OF_NUMBERS)],
)
def test_the_interrupt_key_ends_a_query_that_would_take_hours(job: str, cell: str, what: str) -> None:
    """Whether DuckDB codes the column or Python takes its values: for lists and intervals, a check and a draft."""
    command = [sys.executable, "-c", READS, job, query(cell, what)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        begun = process.stdout.readline()

        process.send_signal(signal.SIGINT)
        pressed = monotonic()
        told, errors = process.communicate(timeout=60)

    assert (begun, told, errors) == ("running\n", "interrupted while the table was read.\n", "")
    assert process.returncode == 0
    assert monotonic() - pressed < AT_ONCE
