"""A European file: days before months, decimal commas, points between thousands, words of another language."""

from pathlib import Path

from expost.noise import SeededNoise

NAIVE = """\
reviewed = true
neighbours = "add-remove"

[[column]]
name = "geboren"
kind = "date"
edges = [1900-01-01, 1950-01-01, 1975-01-01, 2025-01-01]
closed = "left"
missing = false

[[column]]
name = "gewicht"
kind = "numeric"
edges = [0, 60, 80, 200]
closed = "left"
missing = false

[[column]]
name = "umsatz"
kind = "numeric"
edges = [0, 1000, 5000, inf]
closed = "left"
missing = false

[[column]]
name = "raucher"
kind = "boolean"
missing = false
"""

DECLARED = (
    NAIVE.replace("2025-01-01]\n", '2025-01-01]\nformat = "%d.%m.%Y"\n')
    .replace("[0, 60, 80, 200]\n", '[0, 60, 80, 200]\ndecimal = ","\n')
    .replace("5000, inf]\n", '5000, inf]\ndecimal = ","\nthousands = "."\n')
    .replace('"boolean"\n', '"boolean"\ntrue = ["ja"]\nfalse = ["nein"]\n')
)


def european(folder: Path, count: int = 900) -> Path:
    """The file, in which the young smoke."""
    shares, path = SeededNoise(1).uniform(5 * count).reshape(count, 5), folder / "patienten.csv"
    lines = ["patient;geboren;gewicht;umsatz;raucher"]
    for number, (born, heavy, rich, when, doubt) in enumerate(shares.tolist()):
        year = (1931, 1960, 1990)[int(3 * born)]
        smokes = "ja" if (year == 1990) != (doubt < 0.1) else "nein"
        day = f"{1 + int(28 * when):02}.{1 + int(12 * when):02}.{year}"
        weight, money = f"{(55, 70, 90)[int(3 * heavy)]},{int(10 * when)}", f"{int(999 * when):03},5"
        lines.append(f"{number};{day};{weight};{('', '2.', '7.')[int(3 * rich)]}{money};{smokes}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
