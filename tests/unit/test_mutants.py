"""The mutation tool: which faults it makes, that it notices and misses what it should, and when its verb fails."""

import json
from pathlib import Path
from textwrap import dedent
from types import FunctionType

import pytest
from mutants import ledger
from mutants.kill import KILLED, SURVIVED, Trial, in_turn, objects_of
from mutants.ledger import equivalents, judged
from mutants.operators import Mutant, mutants_of
from mutants.suite import MODULES, suite_of

from tests.architecture.package import PACKAGE, TRUSTED

SOURCE = '''
"""A module."""
LIMIT: int = 4


def price(cost: int, seeded: bool, held: bool) -> float:
    """A price."""
    if cost >= LIMIT:
        raise ValueError(f"cost is {cost + 1}; the limit is {LIMIT}.")
    register(cost)
    return min(cost, 3.0) * 2 if seeded or held else -cost
'''


def changes(source: str) -> list[str]:
    """What is changed, in order."""
    return [mutant.change for mutant in mutants_of("m.py", dedent(source))]


def test_every_kind_of_fault_is_made() -> None:
    assert set(changes(SOURCE)) == {
        "LIMIT: int = 4 → LIMIT: int = 5",
        "LIMIT: int = 4 → LIMIT: int = 3",
        "LIMIT: int = 4 → LIMIT: int = 8",
        "cost >= LIMIT → (not (cost >= LIMIT))",
        "cost >= LIMIT → (cost > LIMIT)",
        "raise ValueError → pass",
        "register(cost) → pass",
        "return min(cost, 3.0) * 2 if seeded or held else -cost → return None",
        "min(cost, 3.0) * 2 if seeded or held else -cost → (min(cost, 3.0) * 2)",
        "min(cost, 3.0) * 2 if seeded or held else -cost → (-cost)",
        "min(cost, 3.0) * 2 → (min(cost, 3.0) / 2)",
        "min(cost, 3.0) * 2 → min(cost, 3.0) * 3",
        "min(cost, 3.0) * 2 → min(cost, 3.0) * 1",
        "min(cost, 3.0) → max(cost, 3.0)",
        "min(cost, 3.0) → min(cost, 6.0)",
        "min(cost, 3.0) → min(cost, 1.5)",
        "seeded or held → (seeded and held)",
        "seeded or held → (held)",
        "seeded or held → (seeded)",
        "-cost → (cost)",
    }


def test_a_mutant_is_the_source_with_one_change() -> None:
    (mutant,) = mutants_of("m.py", "ρ = 1 - α\n")[:1]

    assert mutant == Mutant("m.py", "", "", "1 - α → (1 + α)", "ρ = (1 + α)\n".encode())


def test_equal_faults_of_a_function_are_numbered() -> None:
    assert changes("def f(x):\n    return x > 1, x > 1\n").count("x > 1 → (x >= 1) #2") == 1


def test_a_fault_is_named_after_the_function_it_is_in() -> None:
    nested = "class A:\n    def f(self):\n        def g():\n            return -self\n        return g\n"

    assert {(each.function, each.outer) for each in mutants_of("m.py", nested)} == {("A.f.g", "A.f"), ("A.f", "A.f")}


@pytest.mark.parametrize("module", MODULES)
def test_all_faults_of_a_module_have_names_of_their_own(module: str) -> None:
    found = mutants_of(module, (PACKAGE / module).read_text(encoding="utf-8"))

    assert len({mutant.name for mutant in found}) == len(found)


@pytest.mark.parametrize("module", ["odometer.py", "checks/question.py", "accounting/curve.py"])
def test_all_faults_of_a_module_are_programs(module: str) -> None:
    found = mutants_of(module, (PACKAGE / module).read_text(encoding="utf-8"))

    assert all(compile(mutant.source, module, "exec") for mutant in found)


def test_the_whole_trusted_base_is_mutated() -> None:
    """But for packages' own files, and errors, which hold no code."""
    assert {name for name in TRUSTED if not name.endswith("__init__.py")} - {"errors.py"} <= set(MODULES)


def test_every_test_that_mutants_are_tried_on_is_there() -> None:
    assert all((PACKAGE.parents[1] / path).exists() for module in MODULES for path in suite_of(module))


def test_a_trial_that_never_ends_counts_as_noticed() -> None:
    codes: dict[str, int] = {}
    trials = [Trial(Mutant("m.py", "", "", name, b""), (), -1.8) for name in ("ends", "fails", "hangs")]

    def run(trial: Trial) -> int:
        while trial.mutant.change == "hangs":
            pass
        return SURVIVED if trial.mutant.change == "ends" else KILLED

    in_turn(trials, run, 2, lambda trial, code, seconds: codes.update({trial.mutant.change: code}))

    assert codes["ends"] == SURVIVED
    assert codes["fails"] == KILLED
    assert codes["hangs"] != SURVIVED


FATES = {"m.py f: a": True, "m.py f: b": False, "m.py f: c": False}


class Touchy:
    """Torch has such an object: it fails when it is asked for its class."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise FutureWarning


def test_objects_that_fail_when_they_are_asked_for_their_class_kill_no_mutant() -> None:
    touchy = Touchy()
    with pytest.raises(FutureWarning):
        isinstance(touchy, dict)

    assert test_objects_that_fail_when_they_are_asked_for_their_class_kill_no_mutant in objects_of(FunctionType)
    assert any(each is touchy for each in objects_of(Touchy))


def test_a_survivor_that_is_not_listed_fails_the_verb() -> None:
    verdict = judged("m.py", FATES, {"m.py f: b"})

    assert (verdict.mutants, verdict.killed, verdict.equivalent) == (3, 1, 1)
    assert verdict.survivors == ("m.py f: c",)
    assert not verdict.sound


@pytest.mark.parametrize("mistaken", ["m.py f: a", "m.py f: gone"])
def test_a_listed_mutant_that_dies_or_is_gone_fails_the_verb(mistaken: str) -> None:
    verdict = judged("m.py", FATES, {"m.py f: b", "m.py f: c", mistaken})

    assert verdict.mistaken == (mistaken,)
    assert not verdict.sound


def test_a_module_whose_survivors_are_all_listed_is_sound() -> None:
    assert judged("m.py", FATES, {"m.py f: b", "m.py f: c", "other.py f: d"}).sound


def test_every_equivalent_on_file_has_a_reason_and_is_still_there() -> None:
    there = {
        mutant.name
        for module in MODULES
        for mutant in mutants_of(module, (PACKAGE / module).read_text(encoding="utf-8"))
    }

    assert [name for name, reason in equivalents().items() if name not in there or not reason.endswith(".")] == []


def test_what_survived_and_is_noticed_by_now_is_taken_off_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(ledger, "equivalents", lambda: {"m.py f: a → b": "no caller sees it"})
    alive = {"m.py f: a → b": False, "m.py f: c → d": False, "m.py f: e → f": False, "m.py f: g → h": True}
    ledger.record("m.py", ledger.judged("m.py", alive, ()), commit="old", seconds=1.0)

    again = ledger.judged("m.py", {"m.py f: c → d": True, "m.py f: e → f": False}, ())
    ledger.amend("m.py", again, commit="new")

    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["m.py"]
    assert found["survivors"] == ["m.py f: e → f"]
    assert (found["mutants"], found["killed"], found["equivalent"]) == (4, 2, 1)
    assert (found["commit"], found["amended"]) == ("old", "new")
