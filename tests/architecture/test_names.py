"""One word, one thing: a public name at the top of a module stands at the top of no other."""

import ast
from collections import defaultdict

from tests.architecture.package import MODULES


def public_names(source: str) -> set[str]:
    """The classes and functions that a module defines for others."""
    return {
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    }


def test_no_public_name_stands_in_two_modules() -> None:
    homes = defaultdict[str, list[str]](list)
    for module, source in MODULES.items():
        for name in public_names(source):
            homes[name].append(module)

    assert {name for name, modules in homes.items() if len(modules) > 1} == set()


def test_what_is_private_or_inside_a_class_is_nobodys_name() -> None:
    assert public_names("class A:\n    def b(self): ...\ndef _c(): ...\ndef d(): ...\nE = 1") == {"A", "d"}
