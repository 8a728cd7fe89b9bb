"""Runs the tests of one mutant after another, each in a process of its own.

Two ways. ``Patched`` forks a process in which all tests are collected already and puts the changed function in place of
the old one: a few milliseconds a mutant. What was computed while tests were collected is not mutated, though, and what
is outside of functions cannot be put in place; so what survives there, and what could not be tried, is tried again
``afresh``: in a new process that imports the mutated source.
"""

import gc
import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import _lru_cache_wrapper
from pathlib import Path
from types import CodeType, FunctionType
from typing import TypeAlias, TypeVar, final

import pytest

from mutants.operators import Mutant
from mutants.tracing import PACKAGE

T = TypeVar("T")

KILLED, SURVIVED, UNTRIED = 1, 0, 3
"""How a process ends that tried a mutant."""
SLOWER = 5
"""How many times the processor's time of the right program a mutant gets before it counts as noticed."""
LEAST, WAIT = 10, 30
"""Seconds of processor time that every mutant gets, and how many times as long it may take on a busy machine."""
NOTHING = Mutant("", "", "", "nothing is changed", b"")
"""A mutant that is none."""
ROOM = 8 * 2**30
"""Bytes a mutant may ask for: some ask for all there are."""


@final
@dataclass(frozen=True, slots=True)
class Trial:
    """A mutant, and the tests to try it on with the seconds they take."""

    mutant: Mutant
    tests: tuple[str, ...]
    seconds: float


Tell: TypeAlias = Callable[[Trial, int, float], None]
"""Hears of a trial that has ended, how, and after how many seconds."""


@final
class Patched:
    """A pytest plugin that, once tests are collected, tries each mutant on its tests instead of running them all."""

    def __init__(self, trials: Sequence[Trial], jobs: int, tell: Tell) -> None:
        self._trials, self._jobs, self._tell = trials, jobs, tell
        self._unfit = Path("unfit.txt")
        self._trying = False

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own loop."""
        items = {item.nodeid: item for item in session.items}
        tests = tuple(sorted({name for trial in self._trials for name in trial.tests}))
        self._unfit.write_text("")
        codes = list[int]()
        in_turn(
            [Trial(NOTHING, tests, 60.0)], lambda trial: _run(trial, items), 1, lambda *ended: codes.append(ended[1])
        )
        if codes != [SURVIVED]:
            pytest.exit("the tests do not come to an end when nothing is changed", returncode=KILLED)
        unfit, self._trying = set(self._unfit.read_text().splitlines()), True
        fit = [replace(trial, tests=tuple(each for each in trial.tests if each not in unfit)) for trial in self._trials]
        in_turn(fit, lambda trial: _patch_and_run(trial, items), self._jobs, self._tell)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End the process with the first test that notices a mutant; a test that fails without one takes no part.

        Some do in a forked process, for instance those that hold an odometer since they were collected.
        """
        if report.failed and self._trying:
            os._exit(KILLED)
        if report.failed:
            with self._unfit.open("a") as file:
                file.write(report.nodeid + "\n")


def in_turn(trials: Sequence[Trial], run: Callable[[Trial], int], jobs: int, tell: Tell) -> None:
    """Each trial in a process of its own, some at a time, told of as it ends; one that takes too long is noticed."""
    running: dict[int, tuple[Trial, float]] = {}
    waiting = list(reversed(trials))
    while waiting or running:
        while waiting and len(running) < jobs:
            trial = waiting.pop()
            running[_forked(trial, run)] = trial, time.monotonic()
        for process, (trial, begun) in list(running.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                del running[process]
                tell(trial, os.waitstatus_to_exitcode(status), time.monotonic() - begun)
            elif time.monotonic() - begun > WAIT * _limit(trial):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.005)


def _limit(trial: Trial) -> int:
    return LEAST + int(SLOWER * trial.seconds)


def _forked(trial: Trial, run: Callable[[Trial], int]) -> int:
    process = os.fork()
    if process:
        return process
    code = KILLED
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (_limit(trial), _limit(trial)))
        resource.setrlimit(resource.RLIMIT_DATA, (ROOM, ROOM))
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        code = run(trial)
    finally:
        os._exit(code)


def _patch_and_run(trial: Trial, items: dict[str, pytest.Item]) -> int:
    """Put the mutated function in place and run the tests."""
    if not _put_in_place(trial.mutant):
        return UNTRIED
    return _run(trial, items)


def _run(trial: Trial, items: dict[str, pytest.Item]) -> int:
    """Run the tests, with nothing remembered from collecting them."""
    for cached in objects_of(_lru_cache_wrapper):
        cached.cache_clear()
    for name in trial.tests:
        items[name].config.hook.pytest_runtest_protocol(item=items[name], nextitem=None)
    return SURVIVED


def objects_of(kind: type[T]) -> list[T]:
    """All objects of a type that are alive; none is asked for its class, since some warn or fail when they are."""
    return [each for each in gc.get_objects() if issubclass(type(each), kind)]


def _put_in_place(mutant: Mutant) -> bool:
    """Give every function that has the old code the new one; False where there is none, or it does not fit."""
    path = PACKAGE + mutant.module
    try:
        codes = {code.co_qualname: code for code in _functions(compile(mutant.source, path, "exec"))}
    except SyntaxError:
        return False
    found = False
    for function in objects_of(FunctionType):
        if function.__code__.co_filename == path and function.__code__.co_qualname == mutant.outer:
            try:
                function.__code__ = codes[mutant.outer]
            except (KeyError, ValueError):
                return False
            found = True
    return found


def _functions(code: CodeType) -> Iterator[CodeType]:
    """The code of a module and of everything defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _functions(constant)


def afresh(trial: Trial) -> int:
    """Import the mutated source and run the tests up to the first that fails; in a process that has none of it yet."""
    with _mutated(trial.mutant):
        arguments = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", *trial.tests]
        return SURVIVED if pytest.main(arguments) == pytest.ExitCode.OK else KILLED


@contextmanager
def _mutated(mutant: Mutant) -> Iterator[None]:
    """The package with one module's source replaced as it is imported; no file is changed."""
    finder = _Finder(mutant)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@final
class _Finder(importlib.abc.MetaPathFinder):
    """Finds the mutated module, and no other."""

    def __init__(self, mutant: Mutant) -> None:
        self._path = PACKAGE + mutant.module
        self._name = "expost." + mutant.module.removesuffix(".py").replace("/", ".")
        self._source = mutant.source

    def find_spec(self, fullname: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """The specification with the mutated source, or None for other modules."""
        if fullname != self._name:
            return None
        loader = _Loader(self._name, self._path, self._source)
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


@final
class _Loader(importlib.machinery.SourceFileLoader):
    """Loads the given source as if it were the file's, and leaves no bytecode behind."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        """The code of the given source."""
        return compile(self._source, self.path, "exec")
