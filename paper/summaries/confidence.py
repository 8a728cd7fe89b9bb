"""The confidence that checks are given, and what a check is called that has it."""

from fractions import Fraction

LEVEL = Fraction(95, 100)


def confident(name: str) -> str:
    """What a check is called once it has a confidence."""
    return f"{name}, {100 * LEVEL} % confidence"
