"""Imports go down, and few modules hold the seal: the contracts hold, and each of them can be broken."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")

Run = subprocess.CompletedProcess[str]


def lint(source: Path) -> Run:
    command = [str(LINTER), "--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    return subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)


def test_the_contracts_hold() -> None:
    run = lint(ROOT / "src")

    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("ladder.py", "from expost._seal import SEAL", "only private, release and odometer hold the seal"),
        ("mechanisms/gaussian.py", "import expost._seal", "only private, release and odometer hold the seal"),
        ("protocols.py", "from expost._seal import SEAL", "only private, release and odometer hold the seal"),
        ("release.py", "from expost.search import search", "imports go down the layers"),
        (
            "search.py",
            "from expost.accounting.statement import stated",
            "only who keeps a pledge states what was spent",
        ),
        ("mechanisms/laplace.py", "import expost.checks.question", "imports go down the layers"),
        ("tabular/table.py", "import pyspark", "only tabular.spark imports pyspark"),
        ("accounting/curve.py", "from expost.noise import SystemNoise", "accounting is maths: no data, no noise"),
    ],
)
def test_a_forbidden_import_breaks_its_contract(tmp_path: Path, module: str, line: str, contract: str) -> None:
    shutil.copytree(ROOT / "src/expost", tmp_path / "expost", ignore=shutil.ignore_patterns("__pycache__"))
    offender = tmp_path / "expost" / module
    offender.write_text(f"{offender.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")

    run = lint(tmp_path)

    assert run.returncode == 1
    assert f"{contract} BROKEN" in run.stdout


def test_every_module_has_its_layer() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")

    placed = {name.strip() for layer in layers for name in layer.split("|")}

    modules = {path.stem for path in (ROOT / "src/expost").glob("*.py")}
    packages = {path.parent.name for path in (ROOT / "src/expost").glob("*/__init__.py")}
    assert placed == {f"expost.{name}" for name in (modules | packages) - {"__init__"}}
