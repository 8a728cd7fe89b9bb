"""The schema: which columns a table has and their public domains, declared in TOML and reviewed by the data's owner."""

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

from expost.errors import SchemaMismatch, Unreadable
from expost.private import Neighbours
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.declaration import Fields, column, toml
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.rules import Rule, rules_in
from expost.tabular.schema.spelling import SPELLINGS
from expost.text import bounded_text, is_missing, toml_in

MOST_BYTES = 2**21
"""Of a schema: a hundred thousand values, which take a second to read."""
RELATIONS = {"add-remove": Neighbours.ADD_REMOVE, "replace-one": Neighbours.REPLACE_ONE}


@final
@dataclass(frozen=True, slots=True)
class Schema:
    """The columns a table is read by; columns of the table that are not here are ignored.

    Everything in it is public. ``reviewed`` says that the owner has made sure of that; data is read under no other.
    ``missing_marks`` are texts that stand for a missing value, besides the empty one. ``rules`` are sentences that
    every synthetic row keeps; ``constraints`` is what they say of the columns' codes. ``unit`` is the column that says
    whose row it is, where a person may have several; it is read, but not a column of the schema, and never written.

    >>> schema = Schema.load('''
    ... reviewed = true
    ... neighbours = "add-remove"
    ... [[column]]
    ... name = "age"
    ... kind = "integer"
    ... edges = [0, 18, 65, inf]
    ... closed = "left"
    ... missing = false
    ... ''')
    >>> schema["age"].labels
    ('[0, 18)', '[18, 65)', '[65, ∞)')
    >>> schema.domain
    {'age': 3}
    """

    columns: tuple[Column, ...]
    reviewed: bool
    neighbours: Neighbours
    target: str | None = None
    missing_marks: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    unit: str | None = None
    constraints: tuple[Rule, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = self.names
        if not names:
            raise SchemaMismatch("the schema has no columns; declare at least one.")
        twice = sorted(name for name, times in Counter(names).items() if times > 1)
        if twice:
            raise SchemaMismatch(f"the schema declares {', '.join(twice)} twice; each column has one domain.")
        if not all(names):
            raise SchemaMismatch("the schema has a column without a name; name each as in the table.")
        if self.target is not None and self.target not in names:
            raise SchemaMismatch(f"the target {self.target} is not a column of the schema; declare it or correct it.")
        dropping = [each.name for each in self.columns if each.missing is Missing.DROP]
        if dropping and self.neighbours.replaces:
            raise SchemaMismatch(
                f"column {dropping[0]} drops records, whose number counts as public where one record replaces another; "
                'say missing = true, or neighbours = "add-remove".'
            )
        self._require_unit()
        constraints = rules_in(self.rules, self.columns)
        object.__setattr__(self, "constraints", constraints)
        object.__setattr__(self, "rules", tuple(each.sentence for each in constraints))

    @classmethod
    def load(cls, source: Path | str) -> "Schema":
        """The schema in a file, or in a text of more than one line."""
        text = source if isinstance(source, str) and "\n" in source else _content(Path(source))
        try:
            table = toml_in(text)
        except tomllib.TOMLDecodeError as error:
            raise Unreadable(f"the schema is not TOML: {str(error).removesuffix('.')}.") from None
        except ValueError:  # a number of thousands of digits, or brackets or keys as deep
            raise Unreadable("the schema has a number too long or lists too deep to be read; correct it.") from None
        fields = Fields(table, "the schema")
        neighbours = fields.choice("neighbours", RELATIONS)
        reviewed = fields.optional("reviewed", bool) or False
        target = fields.optional("target", str)
        marks = fields.texts("missing_marks") if "missing_marks" in table else ()
        rules = fields.texts("rules") if "rules" in table else ()
        columns = tuple(column(table) for table in fields.take("column", list))
        unit = fields.optional("unit", str)
        fields.finish()
        relation = neighbours if unit is None else neighbours.of_persons
        return cls(columns, reviewed, relation, target, marks, rules, unit)

    def dumps(self) -> str:
        """The schema as TOML, which loads as an equal schema."""
        head = heading(
            self.neighbours, reviewed=self.reviewed, target=self.target, missing_marks=self.missing_marks,
            unit=self.unit,
        )  # fmt: skip
        ruled = "".join(f"    {toml(each)},\n" for each in self.rules)
        return "\n".join([head + (f"rules = [\n{ruled}]\n" if ruled else ""), *map(declared, self.columns)])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(each.name for each in self.columns)

    @property
    def domain(self) -> dict[str, int]:
        """How many codes each column has."""
        return {each.name: each.size for each in self.columns}

    @property
    def fine(self) -> "Schema":
        """The schema that a table is read under: where edges are to be found, on the grid they are found on."""
        return replace(
            self, columns=tuple(each.fine if isinstance(each, PrivateBins) else each for each in self.columns)
        )

    @property
    def tied(self) -> tuple[tuple[str, ...], ...]:
        """The columns that each rule names."""
        return tuple(each.columns for each in self.constraints)

    @property
    def spelled(self) -> bool:
        """Whether some column declares how a table of text writes its values."""
        return any(SPELLINGS & each.settings.keys() for each in self.columns)

    @property
    def has_commas(self) -> bool:
        """Whether some column's numbers are written with a comma, which then had better not part fields as well."""
        return any(each.settings.get("decimal") == "," for each in self.columns)

    def _require_unit(self) -> None:
        """Refuse a unit that cannot be one, and a relation that is not about it."""
        if self.unit in self.names:
            raise SchemaMismatch(f"the unit {self.unit} is declared as a column; whose row it is, is never written.")
        if self.unit is not None and not self.unit:
            raise SchemaMismatch("the unit has no name; name the column that says whose row it is, or leave it out.")
        if (self.unit is None) != (self.neighbours.unit == "record"):
            raise SchemaMismatch("neighbours that differ in a person go with a unit, and a unit with such neighbours.")

    def __getitem__(self, name: str) -> Column:
        for each in self.columns:
            if each.name == name:
                return each
        raise SchemaMismatch(f"the schema has no column {name}; it has {', '.join(self.names)}.")


def heading(
    neighbours: Neighbours, *, reviewed: bool, target: str | None = None, missing_marks: tuple[str, ...] = (),
    unit: str | None = None,
) -> str:  # fmt: skip
    """What a schema file says before its columns."""
    (word,) = (word for word, meant in RELATIONS.items() if neighbours in (meant, meant.of_persons))
    head: dict[str, object] = {"reviewed": reviewed, "neighbours": word}
    if unit is not None:
        head["unit"] = unit
    if target is not None:
        head["target"] = target
    if missing_marks:
        head["missing_marks"] = missing_marks
    return _lines(head)


def declared(column: Column) -> str:
    """One column as a table of a schema file."""
    policy = {Missing.CATEGORY: True, Missing.DROP: "drop", Missing.FALLBACK: False}[column.missing]
    return "[[column]]\n" + _lines({"name": column.name} | dict(column.settings) | {"missing": policy})


def _lines(settings: Mapping[str, object]) -> str:
    return "".join(f"{key} = {toml(value)}\n" for key, value in settings.items())


def _content(path: Path) -> str:
    try:
        return bounded_text(path, MOST_BYTES)
    except (OSError, ValueError):
        if is_missing(path):
            raise Unreadable(f"there is no schema {path}; check its name.") from None
        raise Unreadable(
            f"the schema {path} is not a readable UTF-8 file of at most {MOST_BYTES:,} bytes; check what it is."
        ) from None
