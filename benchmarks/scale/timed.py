"""``expost`` itself, with the times written down at which it told what it was doing.

``python -P benchmarks/scale/timed.py FILE synth …``. Nothing else of a run is changed: what a terminal would show of it
is also written to the file, a line for each, after the seconds of the clock that all processes of the machine share.
The last line is the most memory that it held. Linux tells whoever waits for a process of no less than was held by the
one that began it, which may have measured something larger before.
"""

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Final, ParamSpec, TypeVar
from unittest.mock import patch

from expost.cli import main
from expost.tabular.teaching import learn
from expost.terminal.screen import Screen

P = ParamSpec("P")
T = TypeVar("T")

BEGUN: Final = {
    "pledged": "reading",
    "reading": "reading",
    "selecting": "counting",
    "fitting": "fitting",
    "drawing": "drawing",
    "learning": "learning",
    "learnt": "scoring",
    "rung": "counting",
}
"""The phase that begins with what is told, by its first word: a rung that is not the last is followed by counting."""
WITHIN: Final = ("bringing", "dividing", "passing")
"""How a phase gets on, and no phase of its own."""
HELD: Final = "held"
"""What is told of memory."""
PHASES: Final = ("starting", *dict.fromkeys(BEGUN.values()), "writing")


def phases(begun: float, told: str, ended: float) -> dict[str, float]:
    """Seconds of each phase, which together are those of the process, from what was written down."""
    lines = (line.split()[:2] for line in told.splitlines())
    marks = [(float(at), BEGUN[what]) for at, what in lines if what not in (*WITHIN, HELD)]
    marks[-1] = (marks[-1][0], "writing")  # what follows the last rung
    taken = dict.fromkeys(PHASES, 0.0)
    for (start, phase), (end, _) in pairwise([(begun, "starting"), *marks, (ended, "")]):
        taken[phase] += end - start
    return taken


def rungs(told: str) -> int:
    """How many were climbed."""
    return sum(line.split()[1] == "rung" for line in told.splitlines())


def held(told: str) -> int:
    """Bytes that were held at most."""
    return next(int(line.split()[2]) for line in told.splitlines() if line.split()[1] == HELD)


def run(file: Path, words: list[str]) -> None:
    """The command, which ends the process."""
    with file.open("x") as out:

        def note(what: str) -> None:
            print(f"{monotonic():.6f} {what}", file=out, flush=True)

        def first(what: Callable[P, str], f: Callable[P, T]) -> Callable[P, T]:
            def noted(*args: P.args, **kwargs: P.kwargs) -> T:
                note(what(*args, **kwargs))
                return f(*args, **kwargs)

            return noted

        def then(what: str, f: Callable[P, T]) -> Callable[P, T]:
            def noted(*args: P.args, **kwargs: P.kwargs) -> T:
                done = f(*args, **kwargs)
                note(what)
                return done

            return noted

        with (
            patch.object(Screen, "announce", first(lambda *_: "pledged", Screen.announce)),
            patch.object(Screen, "tell", first(lambda self, text: text, Screen.tell)),
            patch.object(Screen, "add", first(lambda *_, keep: "rung", Screen.add)),
            patch("expost.jobs.synthesis.procedure.learn", then("learnt", learn)),
            patch.object(sys, "argv", ["expost", *words]),
        ):
            try:
                sys.exit(main())
            finally:
                note(f"{HELD} {_peak()}")


def _peak() -> int:
    """The most that this process held since it began with this program."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2:])
