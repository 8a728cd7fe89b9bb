"""SQL: the few statements that ask for numbers of groups, read into queries; all others are refused in a sentence."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from expost.errors import InvalidValue
from expost.jobs.asking.query import Query

LONGEST = 10_000
"""Characters of a question."""


def queries_in_sql(text: str, *, unit: str | None = None, gaps: frozenset[str] = frozenset()) -> tuple[Query, ...]:
    """A query for each aggregate of a SELECT, in their order; ``unit`` is the column that tells persons apart.

    ``gaps`` are the columns whose values may be missing: ELSE takes the rows for which WHEN is not known, too.
    Names of columns keep their spelling, in quotes or not; those of functions may be written in any case.
    """
    if len(text) > LONGEST:
        raise InvalidValue(f"the question has more than {LONGEST:,} characters; ask several shorter ones.")
    from expost.jobs.asking.sql_select import queries_of  # noqa: PLC0415  its parser is slow to load
    from expost.jobs.asking.sql_statement import statement_of  # noqa: PLC0415

    try:
        with _silence():
            return queries_of(statement_of(text), unit=unit, gaps=gaps)
    except RecursionError:
        raise InvalidValue("the SQL is nested too deeply; ask with few parentheses, and with NOT once.") from None


@contextmanager
def _silence() -> Iterator[None]:
    """Keep the parser from logging what it thinks of a text that is refused anyway."""
    logger = logging.getLogger("sqlglot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
