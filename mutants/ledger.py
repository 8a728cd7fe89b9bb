"""What is kept of mutation runs: mutants that no test can tell from the original, with reasons, and the last result."""

import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

HERE = Path(__file__).parent
EQUIVALENTS, RESULTS = HERE / "equivalents.toml", HERE / "results.json"


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says of one module: how many mutants died, and whose fate is not as it is on file."""

    mutants: int
    killed: int
    equivalent: int
    survivors: tuple[str, ...]
    mistaken: tuple[str, ...]
    """Listed as equivalent, but killed, or no longer there."""

    @property
    def sound(self) -> bool:
        """Whether every mutant was noticed or is known to be equivalent."""
        return not self.survivors and not self.mistaken


def judged(module: str, killed: Mapping[str, bool], listed: Collection[str]) -> Verdict:
    """The fate of the module's mutants, by name, held against the list of equivalents."""
    alive = [name for name, dead in killed.items() if not dead]
    known = [name for name in listed if name.partition(" ")[0] == module]
    return Verdict(
        mutants=len(killed),
        killed=len(killed) - len(alive),
        equivalent=sum(name in listed for name in alive),
        survivors=tuple(name for name in alive if name not in listed),
        mistaken=tuple(name for name in known if killed.get(name, True)),
    )


def equivalents() -> dict[str, str]:
    """Why each mutant on file cannot be noticed."""
    stored = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8")) if EQUIVALENTS.exists() else {}
    return {name: each["reason"] for each in stored.get("equivalent", []) for name in each["mutants"]}


def survivors(module: str) -> tuple[str, ...]:
    """What survived the last recorded run of a module."""
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return tuple(results.get(module, {}).get("survivors", ()))


def record(module: str, verdict: Verdict, *, commit: str, seconds: float) -> None:
    """Put a module's result in place of its last one."""
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    results[module] = {
        "commit": commit,
        "seconds": round(seconds),
        "mutants": verdict.mutants,
        "killed": verdict.killed,
        "equivalent": verdict.equivalent,
        "survivors": list(verdict.survivors),
    }
    RESULTS.write_text(json.dumps(dict(sorted(results.items())), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def amend(module: str, verdict: Verdict, *, commit: str) -> None:
    """Take off a module's result what survived its last run and is noticed, or known to be equivalent, by now."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    last, listed = results[module], equivalents()
    alive = {name for name in last["survivors"] if name in verdict.survivors}
    known = sum(name in listed for name in last["survivors"])
    last |= {
        "killed": last["killed"] + len(last["survivors"]) - len(alive) - known,
        "equivalent": last["equivalent"] + known,
        "survivors": [name for name in last["survivors"] if name in alive],
        "amended": commit,
    }
    RESULTS.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
