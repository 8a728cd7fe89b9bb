"""A pytest plugin that notes for each test how long it took and which functions of the package it called."""

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from types import FrameType

import pytest

Calls = dict[str, tuple[float, list[str]]]
"""For each test its seconds and the functions it called, as ``module.py:Class.method``."""

PACKAGE = str(Path("src/expost").resolve()) + os.sep


LONGEST = 1.0
"""Seconds after which a test goes on untraced: by then it has called what it calls, and tracing is slow."""


def outermost(qualname: str) -> str:
    """The function around a nested one, as the source names it."""
    return qualname.partition(".<locals>")[0]


class Trace:
    """Collects calls while tests run, and writes them at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._calls: Calls = {}
        self._seen: set[str] = set()
        self._until = 0.0
        self._failed: list[str] = []

    def _called(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code.co_filename.startswith(PACKAGE):
            self._seen.add(f"{code.co_filename.removeprefix(PACKAGE)}:{outermost(code.co_qualname)}")
            if process_time() > self._until:
                sys.settrace(None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Trace one test with its fixtures."""
        self._seen = set()
        threading.settrace(self._called)
        sys.settrace(self._called)
        start = process_time()
        self._until = start + LONGEST
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self._calls[item.nodeid] = (process_time() - start, sorted(self._seen))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Some tests watch the interpreter and fail when they are traced: they take no part."""
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write what was noted."""
        for name in self._failed:
            self._calls.pop(name, None)
        self._path.write_text(json.dumps(self._calls))


def pytest_configure(config: pytest.Config) -> None:
    """Begin, where a path is given to write to."""
    config.pluginmanager.register(Trace(Path(os.environ["MUTANTS_TRACE"])))
