"""A PostgreSQL server of the tests' own: started from the system's packages, stopped at once, and started again."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import final

PACKAGES = Path("/usr/lib/postgresql")
MEMORY, ROOM = Path("/dev/shm"), 2**29
"""A folder in memory, and the bytes that two servers take with room to spare."""
ROLE, LOCKED, PASSWORD = "expost", "locked", "the-password-of-locked"
ACCESS = f"local all {LOCKED} scram-sha-256\nlocal all all trust\n"
SETTINGS = {"listen_addresses": "", "max_connections": "40", "client_min_messages": "warning", "shared_buffers": "32MB"}
SECONDS = 60


class NoServer(Exception):
    """Why there is none."""


@final
class Server:
    """A server in a folder of its own, which it is reached by."""

    def __init__(self, programs: Path, folder: Path, user: str | None) -> None:
        self._programs, self._folder, self._user = programs, folder, user
        self._numbers = count(1)

    def start(self) -> None:
        """Let it run; what was committed before it was stopped is there again."""
        options = " ".join(f"-c {name}='{value}'" for name, value in SETTINGS.items())
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", f"{options} -k {self._folder}", "start")

    def stop(self, how: str = "immediate") -> None:
        """End it, by default as a machine that loses its power does."""
        self._run("pg_ctl", "-D", "data", "-m", how, "-w", "stop")

    def prepare(self) -> None:
        """Make what a server keeps on its disk."""
        self._run(
            "initdb",
            "-D",
            "data",
            "-U",
            ROLE,
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
            "--wal-segsize=1",
        )
        access = self._folder / "data/pg_hba.conf"
        access.write_text(ACCESS, encoding="utf-8")

    def database(self) -> str:
        """The address of a new database."""
        name = f"ledger{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def emptied(self) -> str:
        """The address of a database without a ledger, which is always the same one."""
        self.execute("DROP SCHEMA IF EXISTS expost CASCADE")
        return self.url("postgres")

    def url(self, database: str, *, role: str = ROLE, password: str | None = None) -> str:
        """The address of a database."""
        secret = "" if password is None else f":{password}"
        return f"postgresql://{role}{secret}@/{database}?host={self._folder}"

    def execute(self, sql: str, database: str = "postgres") -> None:
        """Do something as the server's owner."""
        import psycopg  # noqa: PLC0415  optional

        try:
            with psycopg.connect(self.url(database), autocommit=True) as connection:
                connection.execute(sql.encode())
        except psycopg.Error as error:
            raise NoServer(f"the server says: {error}") from None

    def _run(self, program: str, *words: str) -> None:
        command = [str(self._programs / program), *words]
        done = subprocess.run(
            command, cwd=self._folder, user=self._user, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        if done.returncode:
            raise NoServer(f"{program} says: {done.stderr.strip()}")


def memory() -> Path | None:
    """Where a server need not wait for a disk, if it may write there: it loses no more by being stopped there."""
    return MEMORY if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM else None


@contextmanager
def server(place: Path | None = None) -> Iterator[Server]:
    """One that runs as long as the block, in a temporary folder there or where those usually are."""
    folder = Path(tempfile.mkdtemp(prefix="expost-postgres-", dir=place))
    try:
        found = Server(_programs(), folder, _user(folder))
        found.prepare()
        found.start()
        try:
            found.execute(f"CREATE ROLE {LOCKED} LOGIN PASSWORD '{PASSWORD}'")
            yield found
        finally:
            found.stop()
    finally:
        shutil.rmtree(folder)


def _programs() -> Path:
    """The latest of Debian's packages, or wherever the path leads."""
    debian = [each.parent for each in PACKAGES.glob("*/bin/initdb")]
    if debian:
        return max(debian, key=lambda each: int(each.parent.name))
    if (found := shutil.which("initdb")) is None:
        raise NoServer("PostgreSQL is not installed; install Debian's package `postgresql`.")
    return Path(found).resolve().parent


def _user(folder: Path) -> str | None:
    """Whom it runs as: it refuses root."""
    if os.geteuid():
        return None
    known = {each.pw_name for each in pwd.getpwall()}
    user = next((name for name in ("postgres", "nobody") if name in known), None)
    if user is None:
        raise NoServer("PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody`.")
    shutil.chown(folder, user)
    return user
