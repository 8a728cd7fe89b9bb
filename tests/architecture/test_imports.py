"""No test module imports another: what several tests share is in a module that holds no tests."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SHARED = re.compile(
    r"^\s*(?:from tests[\w.]*\.test_\w+ import|from tests[\w.]* import .*\btest_|import tests[\w.]*\.test_)"
)
"""Also in a program that a test gives to another process."""


def borrowed(text: str) -> list[str]:
    """The lines that import a test module, or from one."""
    return [line.strip() for line in text.splitlines() if SHARED.match(line)]


def test_no_test_module_imports_another() -> None:
    found = {str(path.relative_to(TESTS)): borrowed(path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py")}

    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "from tests.unit.test_cli import here",
        "    from tests.unit.jobs.test_saving import made",
        "from tests.unit import test_cli",
        "from tests.unit import commands, test_cli as cli",
        "import tests.unit.test_cli",
    ],
)
def test_such_an_import_would_be_noticed(line: str) -> None:
    assert borrowed(f"import re\n{line}\n") == [line.strip()]


@pytest.mark.parametrize("line", ["from tests.unit.examples import line", "import tests.unit.examples", "test_cli = 3"])
def test_what_is_shared_may_be_imported(line: str) -> None:
    assert borrowed(f"{line}\n") == []
