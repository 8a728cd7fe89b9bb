"""SQL, last step: from the tree of a SELECT to a query for each of its aggregates."""

from fractions import Fraction

from sqlglot import exp

from expost.errors import InvalidValue
from expost.jobs.asking.levels import level_in
from expost.jobs.asking.query import Count, Mean, Measure, Persons, Quantile, Query, Share, Sum
from expost.jobs.asking.sql_statement import EXAMPLE, REFUSED
from expost.jobs.asking.sql_where import Table, require_only, shown
from expost.tabular.schema.sentences import Condition, Relation

CLAUSES = {
    "distinct": REFUSED["DISTINCT"],
    "order": REFUSED["ORDER BY"],
    "joins": "several tables are named after FROM, and a bound is about one; join them into one table beforehand.",
}
ONE, NOUGHT = exp.Literal.number(1), exp.Literal.number(0)


def queries_of(select: exp.Select, *, unit: str | None) -> tuple[Query, ...]:
    """A query for each aggregate."""
    for clause, refusal in CLAUSES.items():
        if select.args.get(clause):
            raise InvalidValue(refusal)
    require_only(select, "expressions", "from_", "where", "group")
    table = _table(select)
    where = select.args.get("where")
    rows = () if where is None else table.conditions(where.this)
    by = _groups(select, table)
    asked = [
        _measured(each, table, unit) for each in map(_unnamed, select.expressions) if not _is_group(each, table, by)
    ]
    if not asked:
        raise InvalidValue(f"the SELECT asks for no number; add an aggregate, as in {EXAMPLE}.")
    return tuple(Query(measure, by, (*rows, *more)) for measure, more in asked)


def _table(select: exp.Select) -> Table:
    source = select.args.get("from_")
    if source is None:
        raise InvalidValue(f"the SELECT has no FROM; name the table in any way, as in {EXAMPLE}.")
    found = source.this
    if not (isinstance(found, exp.Table) and isinstance(found.this, exp.Identifier)):
        raise InvalidValue(f"{shown(found)} after FROM is not a table; name the table in any way, as in {EXAMPLE}.")
    if found.args.get("joins"):
        raise InvalidValue(CLAUSES["joins"])
    require_only(found, "this", "alias", "db", "catalog")
    return Table(frozenset({found.name, found.alias} - {""}))


def _unnamed(node: exp.Expr) -> exp.Expr:
    """What is selected, without the name that it is given."""
    found = node.this if isinstance(node, exp.Alias) else node
    if isinstance(found, exp.Star) or (isinstance(found, exp.Column) and isinstance(found.this, exp.Star)):
        raise InvalidValue(f"SELECT * would show records; ask for aggregates, as in {EXAMPLE}.")
    return found  # type: ignore[no-any-return]  what a node holds has no type


def _is_group(node: exp.Expr, table: Table, by: tuple[str, ...]) -> bool:
    """Whether it is a column that is grouped by; one that is not is refused."""
    if not isinstance(node, exp.Column):
        return False
    name = table.column(node)
    if name not in by:
        raise InvalidValue(
            f"{name} is selected, but is not after GROUP BY; add it there, or ask for an aggregate of it."
        )
    return True


def _groups(select: exp.Select, table: Table) -> tuple[str, ...]:
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
            raise InvalidValue(f"GROUP BY {column} is a name given to {shown(meant)}; group by the column itself.")
        found.append(column)
    return tuple(found)


def _selected(place: exp.Literal, select: exp.Select) -> exp.Expr:
    """What a number after GROUP BY stands for."""
    told = "" if place.is_string else place.name
    if not (told.isdecimal() and len(told) < 6 and 1 <= int(told) <= len(select.expressions)):
        raise InvalidValue(f"GROUP BY {shown(place)} is not the place of a selected column; name the column.")
    return _unnamed(select.expressions[int(told) - 1])


def _measured(node: exp.Expr, table: Table, unit: str | None) -> tuple[Measure, tuple[Condition, ...]]:
    """What an aggregate measures, and which rows it leaves out."""
    match node:
        case exp.Count(this=exp.Column() as counted):
            require_only(node, "this", "big_int")
            return Count(), (Condition(table.column(counted), Relation.PRESENT),)
        case exp.Count():
            require_only(node, "this", "big_int")
            return _counted(node.this, table, unit), ()
        case exp.Avg(this=exp.Case() as case):
            return _share(case, table), ()
        case exp.Sum() | exp.Avg() | exp.Median():
            require_only(node, "this")
            column = _argument(node.this, table)
            return _of_column(type(node), column), ()
        case exp.Anonymous() if node.name.lower() == "mean" and len(node.expressions) == 1:
            return Mean(_argument(node.expressions[0], table)), ()
        case (
            exp.PercentileCont(expression=exp.Literal() as level)
            | exp.Quantile(quantile=exp.Literal() as level)
            | exp.ApproxQuantile(quantile=exp.Literal() as level)
        ):
            require_only(node, "this", "expression", "quantile")
            return Quantile(_argument(node.this, table), level_in(level.name)), ()
        case exp.WithinGroup(this=exp.PercentileCont(this=exp.Literal() as level), expression=exp.Order() as order):
            return Quantile(_ordered(order, table), level_in(level.name)), ()
    raise InvalidValue(
        f"{shown(node)} is not answered; ask for count(*), count, sum, avg, median or quantile_cont of a column."
    )


def _of_column(kind: type[exp.Expr], column: str) -> Measure:
    if kind is exp.Median:
        return Quantile(column, Fraction(1, 2))
    return Sum(column) if kind is exp.Sum else Mean(column)


def _argument(node: object, table: Table) -> str:
    """The column of an aggregate."""
    if isinstance(node, exp.Distinct):
        raise InvalidValue("DISTINCT is answered only as count(DISTINCT the schema's unit); leave it out.")
    return table.column(node)


def _counted(node: object, table: Table, unit: str | None) -> Count | Persons:
    if isinstance(node, exp.Star):
        require_only(node)
        return Count()
    if not isinstance(node, exp.Distinct):
        raise InvalidValue(f"count({shown(node)}) is not answered; ask for count(*), or for count of a column.")
    require_only(node, "expressions")
    names = [table.column(each) for each in node.expressions]
    if unit is None:
        raise InvalidValue(
            "count(DISTINCT …) counts persons, and the schema does not say whose row it is; name that column as its unit."
        )
    if names != [unit]:
        raise InvalidValue(f"count(DISTINCT …) counts persons, whom {unit} tells apart; say count(DISTINCT {unit}).")
    return Persons()


def _share(case: exp.Case, table: Table) -> Share:
    """The share that avg(CASE WHEN … THEN 1 ELSE 0 END) is."""
    branches = case.args["ifs"]
    plain = case.args.get("this") is None and len(branches) == 1
    if not (plain and branches[0].args.get("true") == ONE and case.args.get("default") == NOUGHT):
        raise InvalidValue(
            f"avg({shown(case)}) is not a share; say avg(CASE WHEN condition THEN 1 ELSE 0 END), or avg of a column."
        )
    return Share(table.conditions(branches[0].this))


def _ordered(order: exp.Order, table: Table) -> str:
    """The column of WITHIN GROUP (ORDER BY column)."""
    ordered = order.expressions
    if len(ordered) != 1 or ordered[0].args.get("desc"):
        raise InvalidValue("WITHIN GROUP is answered for one column in rising order; say (ORDER BY column).")
    require_only(ordered[0], "this", "desc", "nulls_first")
    return table.column(ordered[0].this)
