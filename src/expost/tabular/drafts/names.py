"""What the name of a column suggests: an identifier, whoever a row is of, a code, or a place in the calendar."""

import re

WORD = re.compile(r"[^\W\d_]+|[0-9]+")
INNER = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")

IDENTIFIERS = frozenset({"id", "uuid", "guid", "ssn", "iban", "mrn", "email"})
PERSONS = frozenset({
    "patient", "person", "customer", "client", "user", "member", "employee", "subject", "participant", "respondent",
    "student", "pupil", "insured", "donor", "passenger", "patienten", "personen", "kunde", "kunden", "mitglied",
    "mitglieder", "mitarbeiter", "versicherter", "versicherten", "klient", "klienten", "schüler", "paziente", "persona",
    "cliente", "personne", "klant",
})  # fmt: skip
"""Words for whoever a row may be of."""

NUMBERED = ("nr", "nummer", "number", "numero")
CODES = frozenset({
    "code", "codes", "icd", "nace", "naics", "sic", "isco", "isic", "atc", "drg", "cpt", "cpv", "plz", "zip",
    "zipcode", "postcode", "postleitzahl", "postal", "schlüssel", "schluessel",
})  # fmt: skip
YEARS = ("year", "jahr", "jaar", "année", "annee", "anno")

NATURAL: tuple[tuple[frozenset[str], tuple[tuple[int, int], ...]], ...] = (
    (frozenset({"hour", "hours", "stunde", "uhrzeit", "heure", "hora", "ora", "uur"}), ((0, 23), (1, 24))),
    (frozenset({"weekday", "dow", "dayofweek", "wochentag", "weekdag"}), ((0, 6), (1, 7))),
    (frozenset({"month", "monat", "mois", "mes", "mese", "maand"}), ((1, 12), (0, 11))),
    (frozenset({"day", "dom", "dayofmonth", "tag", "jour", "dag"}), ((1, 31),)),
    (frozenset({"quarter", "quartal"}), ((1, 4),)),
)
"""Names of whole numbers in the calendar and on the clock, each with the ranges that they may have."""

BY_ENDS = ((0, 23), (1, 31))
"""Ranges that tell themselves by both of their ends, whatever the name."""

EARLIEST, LATEST = 1800, 2200
"""Whole numbers between these may be years."""


def identifies(name: str) -> bool:
    """Whether the name is that of an identifier."""
    last = (_words(name) or [""])[-1]
    return last in IDENTIFIERS or last.removesuffix("id") in PERSONS - {last} or name.lower().endswith("uuid")


def of_person(name: str) -> bool:
    """Whether the name has a word for whoever a row may be of."""
    return any(word.removesuffix("id") in PERSONS for word in _words(name))


def is_person(name: str) -> bool:
    """Whether the name ends with such a word, and says nothing else of them."""
    return (_words(name) or [""])[-1] in PERSONS


def numbers(name: str) -> bool:
    """Whether the name may be that of a running number."""
    return name.lower().endswith(NUMBERED)


def is_code(name: str) -> bool:
    """Whether the name is that of a code, whose digits are not a quantity."""
    return bool(CODES & set(_words(name))) or name.lower().endswith(("code", "plz", "schlüssel", "schluessel"))


def natural_range(name: str, low: float, high: float) -> tuple[int, int] | None:
    """The range of the calendar or the clock that whole numbers from ``low`` to ``high`` of this name have."""
    words = set(_words(name))
    if {"day", "week"} <= words:
        words = {"weekday"}
    for names, ranges in NATURAL:
        for first, last in ranges if names & words else ():
            if first <= low and high <= last:
                return first, last
    return (int(low), int(high)) if (low, high) in BY_ENDS else None


def in_years(name: str, low: float, high: float) -> bool:
    """Whether whole numbers of this name are years."""
    named = any(word.endswith(YEARS) for word in _words(name))
    return named and low >= EARLIEST and high <= LATEST


def _words(name: str) -> list[str]:
    return [word.lower() for word in WORD.findall(INNER.sub(" ", name))]
