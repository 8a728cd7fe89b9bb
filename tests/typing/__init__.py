# ruff: noqa: A005 -- a package of tests hides no module of the standard library
