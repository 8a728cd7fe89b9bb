"""The interrupt key ends a query that would take hours, in our own words, and the process with it."""

import signal
import subprocess
import sys

from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from tests.unit.examples import ADD

SCHEMA = Schema((Integer("a", (1, 2, 3), Missing.FALLBACK),), True, ADD)
READS = f"""
import sys
from expost.tabular.schema.schema import Schema
from expost.tabular.source.engine import arrow
from expost.tabular.source.reading import read_table

streamed = arrow._streamed

def announced(relation):
    print("running", flush=True)
    return streamed(relation)

arrow._streamed = announced
try:
    read_table(sys.argv[1], Schema.load({SCHEMA.dumps()!r}))
except KeyboardInterrupt as interrupt:
    print(interrupt)
"""
ENDLESS = "(SELECT range AS a FROM range(100_000_000_000_000))"
QUERIES = [f"duckdb:SELECT max(hash(a)) % 3 AS a FROM {ENDLESS}", f"duckdb:SELECT a FROM {ENDLESS}"]


def test_the_interrupt_key_ends_a_query_that_would_take_hours() -> None:
    """Before its first batch, and between two."""
    for query in QUERIES:
        with subprocess.Popen([sys.executable, "-c", READS, query], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            begun = process.stdout.readline()

            process.send_signal(signal.SIGINT)

            told, _ = process.communicate(timeout=60)
            assert (begun, told, process.returncode) == ("running\n", "interrupted while the table was read.\n", 0)
