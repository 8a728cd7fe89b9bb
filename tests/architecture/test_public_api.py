"""What is public is exported by hand, documented, and listed in docs/api.md."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import expost
from expost import errors

API = (Path(__file__).parents[2] / "docs/api.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^\| `(\w+)` \|", API, re.MULTILINE)
SUBMODULES = re.findall(r"^\| `(expost\.[\w.]+)` \|", API, re.MULTILINE)


def test_the_page_lists_every_public_name_once_and_no_other_in_the_order_of_the_tiers() -> None:
    assert expost.__all__ == LISTED
    assert len(set(LISTED)) == len(LISTED)


@pytest.mark.parametrize("name", expost.__all__)
def test_a_public_name_says_what_it_is(name: str) -> None:
    docstring = inspect.getdoc(getattr(expost, name)) or ""

    first = docstring.partition("\n")[0]

    assert first.endswith(".")
    assert not first.startswith(f"{name}(")  # what a dataclass says that was told nothing


@pytest.mark.parametrize("name", expost.__all__)
def test_a_public_name_comes_from_the_package(name: str) -> None:
    value = getattr(expost, name)

    assert (value.__name__ if inspect.ismodule(value) else value.__module__).startswith("expost.")


def test_nothing_is_public_by_accident() -> None:
    submodules = {name for name, value in vars(expost).items() if inspect.ismodule(value)}
    names = {name for name in vars(expost) if not name.startswith("_")}

    assert names - submodules == set(expost.__all__) - {"errors"}


def test_the_page_lists_every_error_and_what_else_it_may_be_caught_as() -> None:
    kinds = [each for each in vars(errors).values() if inspect.isclass(each) and each is not errors.ExpostError]
    builtin = (ValueError, ImportError, TypeError)

    rows = re.findall(r"^\| `errors\.(\w+)` \|.*\| (?:`(\w+)` )?\|$", API, re.MULTILINE)

    caught = {each.__name__: next((kind.__name__ for kind in builtin if issubclass(each, kind)), "") for each in kinds}
    assert dict(rows) == caught


@pytest.mark.parametrize("name", SUBMODULES)
def test_a_submodule_worth_knowing_exists_and_says_what_it_is(name: str) -> None:
    assert inspect.getdoc(importlib.import_module(name))


def test_the_page_names_the_submodules_that_hold_more() -> None:
    known = {"accounting", "baselines", "checks", "mechanisms", "ledger", "noise", "verify"}

    assert {f"expost.{name}" for name in known} <= set(SUBMODULES)
