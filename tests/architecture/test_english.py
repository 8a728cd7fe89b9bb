"""What people read is English: phrases that we once carried over from elsewhere do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READ = [*sorted((ROOT / "src").rglob("*.py")), *sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
PHRASES = {
    "at least one": re.compile(r"\bone at least\b"),
    "is not a": re.compile(r"(?<!here )\b(?:is|are) no\b(?! (?:longer|more|other|evidence|reason))", re.IGNORECASE),
    "this number of": re.compile(r"\bso many\b(?! \w+ that)"),
    "per": re.compile(
        r"\b(?:a|one) (?:row|line|rung|release|column|look|record) a (?:row|record|rung|class|release|person)\b"
    ),
}


@pytest.mark.parametrize("path", READ, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_reads_as_if_translated(path: Path) -> None:
    text = " ".join(path.read_text(encoding="utf-8").split())
    found = [(better, match[0]) for better, phrase in PHRASES.items() for match in phrase.finditer(text)]

    assert found == []


@pytest.mark.parametrize(
    "text",
    ["is no readable file", "there must be one at least", "so many steps", "a row a record", "one line a rung"],
)
def test_what_reads_so_is_found(text: str) -> None:
    assert any(phrase.search(text) for phrase in PHRASES.values())


@pytest.mark.parametrize(
    "text", ["there is no table", "is no longer there", "so many values that none fits", "a row per record"]
)
def test_what_reads_well_is_not(text: str) -> None:
    assert not any(phrase.search(text) for phrase in PHRASES.values())
