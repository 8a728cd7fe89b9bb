"""The package stays small enough to be read: short modules, a small trusted base, one home of randomness."""

import ast
import io
import re
import tokenize

import pytest

from tests.architecture.package import MODULES, OF_CONFIDENCE, OF_TRAINING, TRUSTED

LONGEST_MODULE = 250
LARGEST_BASE = 3478
LARGEST_OF_TRAINING = 487
LARGEST_OF_CONFIDENCE = 226

SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
PRINTS = re.compile(r"(?<![\w.])print\(")
DRAWS = re.compile(
    r"\b(np|numpy)\.random\b|\burandom\b|\bRAND_bytes\b|\bdefault_rng\b|^\s*(import|from) (random|secrets)\b"
)


def code(text: str) -> list[str]:
    """The lines that hold code: no blank line, comment or docstring, nor a string that describes a constant."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return [line for number, line in enumerate(text.splitlines(), start=1) if number in lines]


def holds(pattern: re.Pattern[str], text: str) -> bool:
    return any(pattern.search(line) for line in code(text))


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_short(name: str) -> None:
    assert len(MODULES[name].splitlines()) <= LONGEST_MODULE


def test_the_trusted_base_is_small() -> None:
    assert sum(len(code(text)) for text in TRUSTED.values()) <= LARGEST_BASE


def test_the_accounting_of_training_is_small() -> None:
    assert sum(len(code(MODULES[name])) for name in OF_TRAINING) <= LARGEST_OF_TRAINING


def test_what_a_confidence_rests_on_is_small() -> None:
    assert sum(len(code(MODULES[name])) for name in OF_CONFIDENCE) <= LARGEST_OF_CONFIDENCE


def test_only_the_command_line_prints() -> None:
    assert [
        name for name, text in MODULES.items() if holds(PRINTS, text) and not name.startswith(("cli.py", "terminal/"))
    ] == []


def test_randomness_has_one_home() -> None:
    assert [name for name, text in MODULES.items() if holds(DRAWS, text)] == ["noise.py"]


def test_a_line_of_code_is_not_blank_not_a_comment_and_not_a_docstring() -> None:
    page = '"""A page.\n\nMore.\n"""\n\n# why\nX = 3\n"""A constant."""\n'
    function = 'def f(\n    x,\n):\n    """F."""\n    return x\n'

    assert code(page + function) == ["X = 3", "def f(", "    x,", "):", "    return x"]


@pytest.mark.parametrize(
    "line",
    [
        "import random",
        "from random import gauss",
        "from secrets import randbits",
        "key = os.urandom(8)",
        "key = ssl.RAND_bytes(8)",
        "rng = np.random.default_rng()",
        "rng = default_rng(3)",
    ],
)
def test_a_generator_elsewhere_is_noticed(line: str) -> None:
    assert holds(DRAWS, f"{line}\n")


@pytest.mark.parametrize(("line", "found"), [("print(3)", True), ("console.print(3)", False), ("# print(3)", False)])
def test_a_print_is_told_from_what_only_looks_like_one(line: str, found: bool) -> None:
    assert holds(PRINTS, f"{line}\n") is found
