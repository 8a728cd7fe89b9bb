"""SQL, conditions: comparisons of a column with values, all of which must hold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

from sqlglot import exp

from expost.errors import InvalidValue
from expost.jobs.asking.sql_statement import DIALECT, FAULTS
from expost.tabular.schema.sentences import Condition, Relation

RELATIONS: Mapping[type[exp.Expr], Relation] = {
    exp.EQ: Relation.EQUAL,
    exp.NEQ: Relation.UNEQUAL,
    exp.LT: Relation.BELOW,
    exp.LTE: Relation.UP_TO,
    exp.GT: Relation.ABOVE,
    exp.GTE: Relation.FROM,
}
SHOWN = 40
"""Characters of a part that a message shows."""


@final
@dataclass(frozen=True, slots=True)
class OneTable:
    """What the one table is called, and which of its columns have missing values."""

    names: frozenset[str]
    gaps: frozenset[str]

    def column(self, node: object) -> str:
        """The column that a part names, refused where it is anything else."""
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            raise InvalidValue(
                f"{excerpt(node)} is not a column; name columns as the schema does, in double quotes where they are "
                "words of SQL."
            )
        require_only(node, "this", "table")
        table = node.args.get("table")
        if table is not None and table.name not in self.names:
            raise InvalidValue(f"{excerpt(node)} is of another table than the one after FROM; ask about one table.")
        return node.name

    def conditions(self, node: exp.Expr) -> tuple[Condition, ...]:
        """The conditions that are joined by AND."""
        return tuple(found for part in _parts(node, exp.And) for found in self._condition(part))

    def _condition(self, node: exp.Expr) -> Iterator[Condition]:
        match node:
            case exp.Or():
                yield self._any(node)
            case exp.Column():
                yield Condition(self.column(node), Relation.EQUAL, ("true",))
            case exp.Not():
                yield from self._negated(_bare(node.this))
            case exp.In():
                require_only(node, "this", "expressions")
                yield Condition(self.column(node.this), Relation.AMONG, tuple(map(_value, node.expressions)))
            case exp.Between():
                require_only(node, "this", "low", "high")
                column = self.column(node.this)
                yield Condition(column, Relation.FROM, (_value(node.args["low"]),))
                yield Condition(column, Relation.UP_TO, (_value(node.args["high"]),))
            case exp.Is(expression=exp.Null()):
                yield Condition(self.column(node.this), Relation.ABSENT)
            case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
                yield Condition(self.column(node.this), RELATIONS[type(node)], (_value(node.expression),))
            case _:
                raise _unanswered(node)

    def _negated(self, node: exp.Expr) -> Iterator[Condition]:
        """What NOT says of a column that is true or false, of a list, and of a missing value."""
        match node:
            case exp.Column():
                yield Condition(self.column(node), Relation.EQUAL, ("false",))
            case exp.Is(expression=exp.Null()):
                yield Condition(self.column(node.this), Relation.PRESENT)
            case exp.In():
                (among,) = self._condition(node)
                yield from (Condition(among.column, Relation.UNEQUAL, (value,)) for value in among.values)
            case _:
                raise InvalidValue(
                    f"NOT {excerpt(node)} is not answered; turn it round, or put NOT before a column that is "
                    "true or false."
                )

    def _any(self, node: exp.Expr) -> Condition:
        """OR of equalities of one column, which is a list of values."""
        parts = _parts(node, exp.Or)
        if not all(isinstance(part, exp.EQ) for part in parts):
            raise InvalidValue("OR is answered only between equalities of one column, as in ward IN ('A1', 'A2').")
        equal = [found for part in parts for found in self._condition(part)]
        column = equal[0].column
        if any(each.column != column for each in equal):
            raise InvalidValue(
                f"OR joins {column} with another column; it is answered only for one, as in ward IN ('A1', 'A2')."
            )
        return Condition(column, Relation.AMONG, tuple(value for each in equal for value in each.values))


def require_only(node: exp.Expr, *known: str) -> None:
    """Refuse a part that says more than it should."""
    more = [name for name, value in node.args.items() if name not in known and value not in (None, False, [])]
    if more:
        raise InvalidValue(
            f"{more[0].strip('_').replace('_', ' ').upper()} is not answered in {excerpt(node)}; leave it out."
        )


def excerpt(node: object) -> str:
    """A part as it is written, for a message."""
    try:
        text = " ".join((node.sql(dialect=DIALECT) if isinstance(node, exp.Expr) else "").split())
    except FAULTS:
        text = type(node).__name__.upper()
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _parts(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """What is joined by AND or by OR, from left to right, without parentheses around it."""
    waiting, found = [node], []
    while waiting:
        each = _bare(waiting.pop())
        if isinstance(each, kind):
            waiting += [each.expression, each.this]
        else:
            found.append(each)
    return found


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _value(node: object) -> str:
    """A value as it is written; a number keeps its digits."""
    match node:
        case exp.Literal():
            return str(node.this)
        case exp.Neg(this=exp.Literal(is_string=False)):
            return f"-{node.this.this}"
        case exp.Boolean():
            return "true" if node.this else "false"
        case exp.Cast(this=exp.Literal(is_string=True)) if node.to.is_type("date") and type(node) is exp.Cast:
            return str(node.this.this)
        case exp.Null():
            raise InvalidValue("a comparison with NULL never holds; say IS NULL or IS NOT NULL.")
    raise InvalidValue(
        f"{excerpt(node)} is not a value; compare a column with a value, the column first, as in age >= 18."
    )


def _unanswered(node: exp.Expr) -> InvalidValue:
    return InvalidValue(
        f"{excerpt(node)} is not a condition that is answered; compare columns with values by =, <>, <, <=, >, >=, IN, "
        "BETWEEN or IS NULL."
    )
