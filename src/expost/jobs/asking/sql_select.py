"""SQL, last step: from the tree of a SELECT to a query for each of its aggregates."""

from fractions import Fraction

from sqlglot import exp

from expost.errors import InvalidValue
from expost.jobs.asking.levels import level_in
from expost.jobs.asking.query import Count, Mean, Measure, Persons, Quantile, Query, Share, Sum
from expost.jobs.asking.sql_statement import EXAMPLE, REFUSED
from expost.jobs.asking.sql_where import OneTable, excerpt, require_only
from expost.tabular.schema.sentences import Condition, Relation

CLAUSES = {
    "distinct": REFUSED["DISTINCT"],
    "order": REFUSED["ORDER BY"],
    "joins": "several tables are named after FROM, and a bound is about one; join them into one table beforehand.",
}
ONE, NOUGHT = exp.Literal.number(1), exp.Literal.number(0)


def queries_of(select: exp.Select, *, unit: str | None, gaps: frozenset[str]) -> tuple[Query, ...]:
    """A query for each aggregate."""
    for clause, refusal in CLAUSES.items():
        if select.args.get(clause):
            raise InvalidValue(refusal)
    require_only(select, "expressions", "from_", "where", "group")
    table = _table(select, gaps)
    where = select.args.get("where")
    rows = () if where is None else table.conditions(where.this)
    by = _groups(select, table)
    asked = [
        _measured(each, table, unit) for each in map(_unnamed, select.expressions) if not _is_group(each, table, by)
    ]
    if not asked:
        raise InvalidValue(f"the SELECT asks for no number; add an aggregate, as in {EXAMPLE}.")
    return tuple(Query(measure, by, (*rows, *more)) for measure, more in asked)


def _table(select: exp.Select, gaps: frozenset[str]) -> OneTable:
    source = select.args.get("from_")
    if source is None:
        raise InvalidValue(f"the SELECT has no FROM; name the table in any way, as in {EXAMPLE}.")
    found = source.this
    if not (isinstance(found, exp.Table) and isinstance(found.this, exp.Identifier)):
        raise InvalidValue(f"{excerpt(found)} after FROM is not a table; name the table in any way, as in {EXAMPLE}.")
    if found.args.get("joins"):
        raise InvalidValue(CLAUSES["joins"])
    require_only(found, "this", "alias", "db", "catalog")
    if (alias := found.args.get("alias")) is not None:
        require_only(alias, "this")  # another name of the table is harmless, other names of its columns are not
    return OneTable(frozenset({found.name, found.alias} - {""}), gaps)


def _unnamed(node: exp.Expr) -> exp.Expr:
    """What is selected, without the name that it is given."""
    found = node.this if isinstance(node, exp.Alias) else node
    if isinstance(found, exp.Star) or (isinstance(found, exp.Column) and isinstance(found.this, exp.Star)):
        raise InvalidValue(f"SELECT * would show records; ask for aggregates, as in {EXAMPLE}.")
    return found


def _is_group(node: exp.Expr, table: OneTable, by: tuple[str, ...]) -> bool:
    """Whether it is a column that is grouped by; one that is not is refused."""
    if not isinstance(node, exp.Column):
        return False
    name = table.column(node)
    if name not in by:
        raise InvalidValue(
            f"{name} is selected, but is not after GROUP BY; add it there, or ask for an aggregate of it."
        )
    return True


def _groups(select: exp.Select, table: OneTable) -> tuple[str, ...]:
    group = select.args.get("group")
    if group is None:
        return ()
    require_only(group, "expressions")
    named = {each.alias: each.this for each in select.expressions if isinstance(each, exp.Alias)}
    found = []
    for each in group.expressions:
        column = table.column(_selected(each, select) if isinstance(each, exp.Literal) else each)
        meant = named.get(column) if isinstance(each, exp.Column) else None
        if meant is not None and not (isinstance(meant, exp.Column) and meant.name == column):
            raise InvalidValue(f"GROUP BY {column} is a name given to {excerpt(meant)}; group by the column itself.")
        found.append(column)
    return tuple(found)


def _selected(place: exp.Literal, select: exp.Select) -> exp.Expr:
    """What a number after GROUP BY stands for."""
    told = "" if place.is_string else place.name
    if not (told.isdecimal() and len(told) < 6 and 1 <= int(told) <= len(select.expressions)):
        raise InvalidValue(f"GROUP BY {excerpt(place)} is not the place of a selected column; name the column.")
    return _unnamed(select.expressions[int(told) - 1])


def _measured(node: exp.Expr, table: OneTable, unit: str | None) -> tuple[Measure, tuple[Condition, ...]]:
    """What an aggregate measures, and which rows it leaves out."""
    if not isinstance(node, exp.Count):
        return _aggregate(node, table), ()
    require_only(node, "this", "big_int")
    if isinstance(node.this, exp.Column):
        return Count(), (Condition(table.column(node.this), Relation.PRESENT),)
    return _counted(node.this, table, unit), ()


def _aggregate(node: exp.Expr, table: OneTable) -> Measure:
    match node:
        case exp.Avg(this=exp.Case() as case):
            return _share(case, table)
        case exp.Sum():
            return Sum(_argument(node, table))
        case exp.Avg():
            return Mean(_argument(node, table))
        case exp.Anonymous(expressions=[of]) if node.name.lower() == "mean":
            return Mean(table.column(of))
        case exp.Median() | exp.PercentileCont() | exp.Quantile() | exp.ApproxQuantile() | exp.WithinGroup():
            return _quantile(node, table)
    raise _unanswered(node)


def _quantile(node: exp.Expr, table: OneTable) -> Quantile:
    level = node.args.get("quantile") or node.args.get("expression")
    match node, level:
        case exp.Median(), None:
            return Quantile(_argument(node, table), Fraction(1, 2))
        case exp.PercentileCont() | exp.Quantile() | exp.ApproxQuantile(), exp.Literal():
            return Quantile(_argument(node, table, "expression", "quantile"), level_in(level.name))
        case exp.WithinGroup(this=exp.PercentileCont(this=exp.Literal() as first, expression=None)), exp.Order():
            return Quantile(_ordered(level, table), level_in(first.name))
    raise _unanswered(node)


def _unanswered(node: exp.Expr) -> InvalidValue:
    return InvalidValue(
        f"{excerpt(node)} is not answered; ask for count(*), count, sum, avg, median or quantile_cont of a column."
    )


def _argument(node: exp.Expr, table: OneTable, *besides: str) -> str:
    """The column of an aggregate that has no other arguments than these."""
    require_only(node, "this", *besides)
    if isinstance(node.this, exp.Distinct):
        raise InvalidValue("DISTINCT is answered only as count(DISTINCT the schema's unit); leave it out.")
    return table.column(node.this)


def _counted(node: object, table: OneTable, unit: str | None) -> Count | Persons:
    if isinstance(node, exp.Star):
        require_only(node)
        return Count()
    if not isinstance(node, exp.Distinct):
        raise InvalidValue(f"count({excerpt(node)}) is not answered; ask for count(*), or for count of a column.")
    require_only(node, "expressions")
    names = [table.column(each) for each in node.expressions]
    if unit is None:
        raise InvalidValue(
            "count(DISTINCT …) counts persons, but the schema does not say whose row it is; name a unit in it."
        )
    if names != [unit]:
        raise InvalidValue(f"count(DISTINCT …) counts persons, whom {unit} tells apart; say count(DISTINCT {unit}).")
    return Persons()


def _share(case: exp.Case, table: OneTable) -> Share:
    """The share that avg(CASE WHEN … THEN 1 ELSE 0 END) is.

    A share leaves out rows for which its condition is not known, and ELSE takes them: they are known to lack a value.
    """
    branches = case.args["ifs"]
    plain = case.args.get("this") is None and len(branches) == 1
    if not (plain and branches[0].args.get("true") == ONE and case.args.get("default") == NOUGHT):
        raise InvalidValue(
            f"avg({excerpt(case)}) is not a share; say avg(CASE WHEN condition THEN 1 ELSE 0 END), or avg of a column."
        )
    conditions = table.conditions(branches[0].this)
    known = (each.column for each in conditions if each.relation not in (Relation.ABSENT, Relation.PRESENT))
    present = (Condition(name, Relation.PRESENT) for name in dict.fromkeys(known) if name in table.gaps)
    return Share(tuple(dict.fromkeys((*conditions, *present))))


def _ordered(order: exp.Order, table: OneTable) -> str:
    """The column of WITHIN GROUP (ORDER BY column)."""
    ordered = order.expressions
    if len(ordered) != 1 or ordered[0].args.get("desc"):
        raise InvalidValue("WITHIN GROUP is answered for one column in rising order; say (ORDER BY column).")
    require_only(ordered[0], "this", "desc", "nulls_first")
    return table.column(ordered[0].this)
