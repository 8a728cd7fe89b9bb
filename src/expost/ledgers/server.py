"""Sessions with a PostgreSQL server: what is set for them, the tables that they find, and what its failures mean."""

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import tuple_row

from expost.errors import LedgerConflict
from expost.ledgers.home import Row
from expost.ledgers.tables import MIGRATIONS
from expost.text import is_unicode

SCHEMA = "expost"
"""Where our tables are in a database; it has one ledger."""
MIGRATING = 0x65787073
"""The lock that lets one process at a time make or change tables."""
NONE = "is not there; make one with `expost ledger init`"
ADDRESS = "the address of the ledger cannot be read; write it as postgresql://role@host/database, without a password."
BY_STATE = {
    "55P03": "is in use by another program that does not let go; try again, or end that program",
    "57014": "did not answer in time; try again, or see to the server",
    "53100": "cannot grow, because the disk of its server is full; make room there",
    "53": "is on a server that has no room for more; try again, or see to the server",
    "25006": "is read-only; name the server that takes changes, and a role that may write",
    "40": "was changed by another program at the same moment; try again",
    "23505": "was changed by another program at the same moment; try again",
    "23": "refused an entry that breaks its own rules; the tables were changed by another program",
    "42501": "does not let this role read and write its tables; grant it the right to",
    "42P01": NONE,
    "42P07": "has tables of another program in its schema `expost`; name another database",
}
"""What went wrong on a server and what to do, by how PostgreSQL's code for it begins."""
BY_WORDS = {
    "password": "refuses the role or its password; correct them",
    "authentication": "refuses the role or its password; correct them",
    "does not exist": "is not there; make its database or role first, or correct the name",
    "too many": "is on a server that has no room for more; try again, or see to the server",
}
"""Why no connection was made, by what the server says: libpq keeps no code for it."""

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # it would print what we tell in a sentence of our own


def session(url: str, wait: float) -> psycopg.Connection[Row]:
    """A connection whose commits are on the disk when they return, and which waits for nothing for ever."""
    patience = str(math.ceil(1000 * wait))
    connection: psycopg.Connection[Row] = psycopg.connect(
        url, autocommit=True, row_factory=tuple_row, client_encoding="utf8", application_name="expost",
        connect_timeout=max(2, math.ceil(wait)), tcp_user_timeout=patience,
    )  # fmt: skip
    settings = {
        "search_path": SCHEMA,
        "default_transaction_isolation": "read committed",
        "lock_timeout": patience,
        "statement_timeout": str(2 * int(patience)),
        "idle_in_transaction_session_timeout": patience,
        # Entries are looked for from the last one back, by their index; of short runs, the server would read them all.
        "enable_seqscan": "off",
        "enable_bitmapscan": "off",
    }
    for setting, value in settings.items():
        connection.execute("SELECT set_config(%s, %s, false)", (setting, value))
    (durable,) = connection.execute(
        "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') "
        "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false), current_setting('fsync')"
    )
    if durable[1] != "on":
        connection.close()
        raise LedgerConflict(f"the server of {address(url)} does not write to its disk; set fsync = on there.")
    return connection


def version_of(connection: psycopg.Connection[Row]) -> int:
    """How many migrations the ledger went through; none if there is no ledger."""
    ((there,),) = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.migrations",))
    ((number,),) = connection.execute("SELECT max(number) FROM migrations") if there else [(0,)]
    return int(number or 0)


def migrate(connection: psycopg.Connection[Row]) -> None:
    """Make the tables that are missing, one process at a time."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
        version = version_of(connection)
        if version == 0:
            ((there,),) = connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", (SCHEMA,))
            if not there:  # or it was made for a role that may not make one
                connection.execute(f"CREATE SCHEMA {SCHEMA}")
            connection.execute("CREATE TABLE migrations (number INTEGER PRIMARY KEY)")
        for number, migration in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in migration:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations VALUES (%s)", (number,))


def address(url: str) -> str:
    """What a person calls it: role, host and database, and never the password.

    One whose password is not spelled as addresses are is refused: a part of it would be taken for the host or the rest.
    """
    if "\0" in url or not is_unicode(url):
        raise LedgerConflict(ADDRESS)
    try:
        found = conninfo_to_dict(url)
    except psycopg.Error:
        raise LedgerConflict(ADDRESS) from None
    role, host, port, name = (str(found.get(key) or "") for key in ("user", "host", "port", "dbname"))
    if "@" in host[1:] + name or port.strip("0123456789,"):
        raise LedgerConflict(ADDRESS)
    return f"postgresql://{f'{role}@' if role else ''}{host}{f':{port}' if port else ''}/{name}"


@contextmanager
def told(name: str) -> Iterator[None]:
    """What PostgreSQL says, in a sentence of ours."""
    try:
        yield
    except psycopg.Error as failure:
        raise server_conflict(name, failure, committing=False) from None


def server_conflict(name: str, failure: psycopg.Error, *, committing: bool) -> LedgerConflict:
    """The sentence for a failure; its own text may show more than it should."""
    state = failure.sqlstate or ""
    if committing and (not state or state.startswith("57P")):
        return LedgerConflict(
            f"the connection to the ledger {name} was lost during a commit, so that nobody knows whether it is on "
            "record; nothing is released, and what was held stays held."
        )
    reason = next((told for start, told in BY_STATE.items() if state.startswith(start)), None)
    if not state:
        reason = next((told for part, told in BY_WORDS.items() if part in str(failure)), None)
    unreachable = "cannot be reached; see that its server runs and that the address is right"
    return LedgerConflict(f"the ledger {name} {reason or (f'cannot be used ({state})' if state else unreachable)}.")
