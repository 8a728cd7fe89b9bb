"""The tables of a ledger, in SQL that SQLite and PostgreSQL both read, as numbered migrations.

A migration is never changed once it was published: a change is one more.
"""

import re

from expost.errors import LedgerConflict

TABLE, RULE = re.compile(r"CREATE TABLE (\w+)"), re.compile("PRIMARY KEY|UNIQUE|CHECK|REFERENCES")
FIRST = (
    """CREATE TABLE datasets (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        terms TEXT NOT NULL,
        unit TEXT NOT NULL,
        neighbours TEXT,
        secret TEXT NOT NULL,
        spent TEXT NOT NULL,
        committed TEXT NOT NULL,
        room TEXT NOT NULL CHECK (room NOT LIKE '-%'),
        entries BIGINT NOT NULL,
        head TEXT NOT NULL CHECK (length(head) = 64),
        latest TEXT NOT NULL
    )""",
    """CREATE TABLE analysts (
        id TEXT PRIMARY KEY,
        dataset INTEGER NOT NULL REFERENCES datasets (id),
        name TEXT NOT NULL,
        token TEXT NOT NULL CHECK (length(token) = 64),
        terms TEXT NOT NULL,
        spent TEXT NOT NULL,
        committed TEXT NOT NULL,
        room TEXT NOT NULL CHECK (room NOT LIKE '-%'),
        UNIQUE (dataset, name)
    )""",
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        dataset INTEGER NOT NULL REFERENCES datasets (id),
        analyst TEXT REFERENCES analysts (id),
        what TEXT NOT NULL,
        split TEXT,
        idempotency TEXT,
        request TEXT,
        opened TEXT NOT NULL,
        begun BIGINT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'settled')),
        payload TEXT,
        UNIQUE (dataset, idempotency)
    )""",
    "CREATE INDEX open_runs ON runs (dataset, state) WHERE state = 'open'",
    """CREATE TABLE splits (
        dataset INTEGER NOT NULL REFERENCES datasets (id),
        name TEXT NOT NULL,
        because TEXT NOT NULL,
        train_spent TEXT NOT NULL,
        train_committed TEXT NOT NULL,
        held_spent TEXT NOT NULL,
        held_committed TEXT NOT NULL,
        PRIMARY KEY (dataset, name)
    )""",
    """CREATE TABLE entries (
        dataset INTEGER NOT NULL,
        number BIGINT NOT NULL CHECK (number > 0),
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        run TEXT,
        body TEXT NOT NULL,
        hash TEXT NOT NULL CHECK (length(hash) = 64),
        PRIMARY KEY (dataset, number)
    )""",
    """CREATE TABLE releases (
        id TEXT PRIMARY KEY,
        dataset INTEGER NOT NULL REFERENCES datasets (id),
        name TEXT NOT NULL,
        request TEXT NOT NULL,
        digest TEXT NOT NULL,
        refining TEXT REFERENCES runs (id),
        UNIQUE (dataset, name)
    )""",
    """CREATE TABLE views (
        release TEXT NOT NULL REFERENCES releases (id),
        level TEXT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (release, level)
    )""",
    """CREATE TABLE seen (
        release TEXT NOT NULL REFERENCES releases (id),
        analyst TEXT NOT NULL REFERENCES analysts (id),
        level TEXT NOT NULL,
        PRIMARY KEY (release, analyst)
    )""",
)
MIGRATIONS = (FIRST,)
"""The version of a ledger is how many of them it went through."""
INTO = "INSERT INTO entries (dataset, number, at, kind, run, body, hash) "
ENTER = f"{INTO}VALUES (?, ?, ?, ?, ?, ?, ?)"
"""One more entry; should its number be taken, it is refused."""


def rules_of_tables() -> dict[str, int]:
    """How many keys, checks and references each table has."""
    made = [(TABLE.match(statement), statement) for migration in MIGRATIONS for statement in migration]
    return {table[1]: len(RULE.findall(statement)) for table, statement in made if table is not None}


def require_version(version: int, name: str) -> None:
    """Refuse a place without a ledger, and a ledger of a later expost, whose tables mean something else."""
    if version < 1:
        raise LedgerConflict(f"the ledger {name} is not there; make one with `expost ledger init`.")
    if version > len(MIGRATIONS):
        raise LedgerConflict(f"the ledger {name} was written by a later expost; update expost to use it.")
