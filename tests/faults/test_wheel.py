"""What we hand out works away from the checkout: the wheel, in an environment that has nothing else of ours."""

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from expost.jobs import audit as check

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sources alone."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel, beside which its dependencies are found but not the checkout."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False)
    places = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder / "bin/python")]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    # A path in a .pth file is searched for packages, but its own .pth files, that of the checkout too, are not read.
    (Path(places["purelib"]) / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder / "bin"


def ran(program: Path, *words: str, here: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([program, *words], cwd=here, env=clean, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_wheel_runs_the_demo_away_from_the_checkout(empty: Path, tmp_path: Path) -> None:
    where = ran(empty / "python", "-c", "import expost; print(expost.__file__)", here=tmp_path)
    assert Path(where.strip()).is_relative_to(empty.parent)

    ran(empty / "expost", "demo", "--seed", "7", here=tmp_path)

    assert {path.name for path in (tmp_path / "expost-demo").iterdir()} >= {
        "synthetic.csv",
        "counts.csv",
        "schema.toml",
        "report.html",
        "receipt.json",
    }
    assert check(json.loads((tmp_path / "expost-demo/receipt.json").read_text(encoding="utf-8"))).matches


def test_the_wheel_says_that_it_is_typed_and_brings_its_licence(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    assert "expost/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not {name for name in names if name.startswith(("tests", "paper", "benchmarks", "mutants"))}


def test_what_cites_us_names_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
