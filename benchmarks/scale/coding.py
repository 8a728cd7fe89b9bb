"""Reading and coding a table, beside the floor: DuckDB's own scan and cast of the same columns, fetched and let go.

Each reading has a fresh connection. What is compared is time on the clock, and besides it the time of the processors,
which a busy machine changes less. Of CSV ours includes the strict check, and the floor is told all types.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from duckdb import DuckDBPyRelation

from benchmarks.harness import Progress, seconds
from benchmarks.scale.tables import columns_of, write_table
from expost.tabular.schema.schema import Schema
from expost.tabular.source.coding import coded_chunks
from expost.tabular.source.engine.arrow import batches
from expost.tabular.source.home import connection
from expost.tabular.source.reading import opened

ROWS, REPEATS = 10**6, 5


def coding(progress: Progress, rows: int = ROWS) -> dict[str, float]:
    """Seconds for a million rows of 13 columns, and how many times those of the floor they are."""
    figures: dict[str, float] = {}
    with TemporaryDirectory(prefix="expost-scale-") as folder:
        parquet, declared = write_table(Path(folder), rows)
        csv, schema = parquet.with_suffix(".csv"), Schema.load(declared).fine
        with connection() as home:
            home.read_parquet(str(parquet)).write_csv(str(csv))
            kinds = dict(zip(columns_of(13), map(str, home.read_parquet(str(parquet)).types), strict=True))
        scans: dict[str, Callable[[], DuckDBPyRelation]] = {
            "": lambda: connection().read_parquet(str(parquet)),
            ".csv": lambda: connection().sql(
                f"FROM read_csv('{csv}', header = true, auto_detect = false, columns = {kinds})"
            ),
        }
        for file, (kind, scan) in zip((parquet, csv), scans.items(), strict=True):
            progress(f"coding {rows:,} rows of {file.suffix.removeprefix('.')}")
            ours, floor = _coded(file, schema), drained(scan)
            wall, cpu = seconds(ours, floor, repeats=REPEATS), (_processors(ours), _processors(floor))
            figures |= {
                f"scale.code_seconds{kind}": wall[0],
                f"scale.code_over_scan{kind}": wall[0] / wall[1],
                f"scale.code_over_scan_cpu{kind}": cpu[0] / cpu[1],
            }
    return figures


def _coded(file: Path, schema: Schema) -> Callable[[], object]:
    def run() -> None:
        for _ in coded_chunks(opened(file), schema):
            pass

    return run


def drained(scan: Callable[[], DuckDBPyRelation]) -> Callable[[], object]:
    """The floor: all rows fetched and let go."""

    def run() -> None:
        for _ in batches(scan()):
            pass

    return run


def _processors(run: Callable[[], object]) -> float:
    """Seconds of all processors."""
    begun = process_time()
    run()
    return process_time() - begun
