"""SQL, first step: from a text to the tree of one SELECT, in which only words occur that a question may have.

Words are looked at before the text is parsed: parsing takes about twice as long with each JOIN, and thirty of them
would take hours.
"""

from sqlglot import Token, TokenType, exp, tokenize
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError

from expost.errors import InvalidValue

DEEPEST = 12
"""Parentheses within each other."""
DIALECT = "duckdb"
FAULTS = (SqlglotError, ValueError, TypeError, AttributeError, LookupError)
"""What the parser may raise: an error of its own or, of a text that nobody thought of, one of Python's."""
EXAMPLE = "SELECT ward, count(*) FROM visits WHERE emergency GROUP BY ward"
AFTERWARDS = "ask for all groups and choose afterwards"
TABLE = "ask about one table, as it is"
REFUSED = {
    "HAVING": f"HAVING would decide by records which groups are shown; {AFTERWARDS}.",
    "QUALIFY": f"QUALIFY would decide by records which groups are shown; {AFTERWARDS}.",
    "LIMIT": f"LIMIT would show some of the groups; {AFTERWARDS}.",
    "OFFSET": f"OFFSET would show some of the groups; {AFTERWARDS}.",
    "FETCH": f"FETCH would show some of the groups; {AFTERWARDS}.",
    "ORDER BY": "ORDER BY is not answered, because groups come in the order of the schema; sort them afterwards.",
    "DISTINCT": "SELECT DISTINCT would show which values occur; ask for count(*) with GROUP BY instead.",
    "JOIN": "JOIN reads a second table, and a bound is about one; join them into one table beforehand.",
    "LATERAL": f"LATERAL reads a second table, and a bound is about one; {TABLE}.",
    "UNION": f"UNION asks two questions in one; {TABLE}, with one SELECT.",
    "INTERSECT": f"INTERSECT asks two questions in one; {TABLE}, with one SELECT.",
    "EXCEPT": f"EXCEPT asks two questions in one; {TABLE}, with one SELECT.",
    "WITH": f"WITH makes a table of its own; {TABLE}, with one SELECT.",
    "VALUES": f"VALUES makes a table of its own; {TABLE}.",
    "PIVOT": f"PIVOT makes a table of its own; {TABLE}, with GROUP BY.",
    "UNPIVOT": f"UNPIVOT makes a table of its own; {TABLE}, with GROUP BY.",
    "TABLESAMPLE": f"TABLESAMPLE would read some of the records; {TABLE}.",
    "OVER": "OVER, a window, sets records beside each other; ask for an aggregate with GROUP BY.",
    "WINDOW": "WINDOW sets records beside each other; ask for an aggregate with GROUP BY.",
    "FILTER": "FILTER is for one aggregate alone; put its condition into WHERE, and ask each in a SELECT of its own.",
    "ROLLUP": "ROLLUP asks for groups of several kinds; ask for each kind in a SELECT of its own.",
    "CUBE": "CUBE asks for groups of several kinds; ask for each kind in a SELECT of its own.",
    "GROUPING SETS": "GROUPING SETS asks for groups of several kinds; ask for each in a SELECT of its own.",
    "ALL": "ALL does not say which columns are meant; name each of them.",
    "INTO": "INTO would write a table; leave it out, and the answer is shown.",
    "LIKE": "LIKE looks inside values; name them, as in ward IN ('A1', 'A2').",
    "ILIKE": "ILIKE looks inside values; name them, as in ward IN ('A1', 'A2').",
    "EXISTS": f"EXISTS asks a second question inside the first; {TABLE}.",
}
"""Clauses by their first words, and what is said of them."""
KNOWN = frozenset(
    {
        TokenType.SELECT, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.ALIAS,
        TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA, TokenType.DOT, TokenType.STAR, TokenType.DASH,
        TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE,
        TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.IN, TokenType.BETWEEN, TokenType.IS, TokenType.NULL,
        TokenType.TRUE, TokenType.FALSE, TokenType.CASE, TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.END,
        TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.DISTINCT, TokenType.ASC,
        TokenType.DESC,
    }
)  # fmt: skip


def statement_of(text: str) -> exp.Select:
    """The tree of a text that is one SELECT."""
    try:
        tokens = _checked(tokenize(text, dialect=DIALECT))
        (found,) = DuckDB().parser().parse(tokens, text)
    except InvalidValue:
        raise
    except FAULTS:
        raise InvalidValue(f"the SQL cannot be read; ask, for example, {EXAMPLE}.") from None
    if not isinstance(found, exp.Select):
        raise InvalidValue(f"the SQL is not one SELECT; ask, for example, {EXAMPLE}.")
    return found


def _checked(tokens: list[Token]) -> list[Token]:
    """The words, refused where one has no place in a question; those that may be names are read as names."""
    if tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens = tokens[:-1]
    depth, found = 0, []
    for place, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth > DEEPEST:
            raise RecursionError
        after = tokens[place + 1].token_type if place + 1 < len(tokens) else None
        found.append(_checked_word(token, after, first=not place))
    return found


def _checked_word(token: Token, after: TokenType | None, *, first: bool) -> Token:
    kind, word = token.token_type, token.text.upper()
    if kind is TokenType.SEMICOLON:
        raise InvalidValue("a semicolon parts two statements; ask one SELECT at a time.")
    if kind is TokenType.SELECT and not first:
        raise InvalidValue(f"a second SELECT, a subquery, asks a question inside the first; {TABLE}.")
    if word in REFUSED and kind not in KNOWN:
        raise InvalidValue(REFUSED[word])
    if kind in KNOWN or (kind is TokenType.DATE and after is TokenType.STRING):
        return token
    if kind in DuckDB.Parser.ID_VAR_TOKENS and word.isidentifier():
        return Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)
    raise InvalidValue(
        f"{token.text[:40]} has no place in what can be answered; ask for columns and aggregates of columns, as in "
        f"{EXAMPLE}."
    )
