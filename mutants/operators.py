"""Faults: every small change of a module's source that this tool knows how to make, one at a time.

What only words a refusal is left alone: messages, annotations, docstrings, assertions and bodies of protocols. A mutant
is named by its module, the function it is in, what was there and what is there now; never by a line number.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias, final

Change: TypeAlias = tuple[ast.expr | ast.stmt, str]
"""A node, and the source that takes its place."""

BOUNDARIES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip
SWAPS = {
    "min": "max", "max": "min", "up": "down", "down": "up", "any": "all", "all": "any", "minimum": "maximum",
    "maximum": "minimum", "floor": "ceil", "ceil": "floor", "beside": "__add__", "highest": "total", "total": "highest",
    "positive": "exact", "non_negative": "exact", "passed": "failed", "failed": "passed",
}  # fmt: skip
AROUND = ast.expr | ast.Return | ast.Assign | ast.AnnAssign | ast.AugAssign
"""What a number or a name is told with."""
SILENT_CALLS = ("TypeVar", "NewType", "ClassVar", "field", "dataclass")


@final
@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault, and the whole source that has it.

    ``function`` is where it is and ``outer`` the outermost function around it, both empty outside of functions.
    """

    module: str
    function: str
    outer: str
    change: str
    source: bytes

    @property
    def name(self) -> str:
        """What it is called wherever it is told of."""
        return f"{self.module} {self.function or 'module'}: {self.change}"


def mutants_of(module: str, source: str) -> list[Mutant]:
    """All faults of a module, in the order of its source; equal ones in a function are numbered."""
    text, found = source.encode(), list[Mutant]()
    starts = list(accumulate((len(line) for line in text.splitlines(keepends=True)), initial=0))
    seen: Counter[tuple[str, str]] = Counter()
    for place in _Walk().places(ast.parse(source)):
        for node, replacement in _changes(place.node, place.parent):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            change = _described(node, replacement, place.parent)
            seen[place.function, change] += 1
            number = f" #{seen[place.function, change]}" if seen[place.function, change] > 1 else ""
            mutated = text[:begin] + replacement.encode() + text[end:]
            found.append(Mutant(module, place.function, place.outer, change + number, mutated))
    return found


def _described(node: ast.expr | ast.stmt, replacement: str, parent: ast.AST) -> str:
    """What was there and what is there now: a name or a number in the expression around it, a refusal by its kind."""
    if isinstance(node, ast.Raise):
        return f"raise {_named(node.exc.func) if isinstance(node.exc, ast.Call) else 'again'} → pass"
    if not isinstance(node, ast.Constant | ast.Name | ast.Attribute) or not isinstance(parent, AROUND):
        return f"{_short(ast.unparse(node))} → {_short(replacement)}"
    before, now = ast.unparse(parent), ast.parse(replacement, mode="eval").body
    for name, value in ast.iter_fields(parent):
        if value is node:
            setattr(parent, name, now)
            after = ast.unparse(parent)
            setattr(parent, name, node)
        elif isinstance(value, list) and any(each is node for each in value):
            setattr(parent, name, [now if each is node else each for each in value])
            after = ast.unparse(parent)
            setattr(parent, name, value)
    return f"{_short(before)} → {_short(after)}"


def _short(code: str) -> str:
    """Source on one line."""
    return " ".join(code.split())


@final
@dataclass(frozen=True, slots=True)
class _Place:
    """A node, the one above it, and the functions around it."""

    node: ast.AST
    parent: ast.AST
    function: str
    outer: str


@final
class _Walk:
    """Goes through a module and knows which function it is in."""

    def __init__(self) -> None:
        self._stack: list[str] = []
        self._outer = ""

    def places(self, node: ast.AST, parent: ast.AST | None = None) -> Iterator[_Place]:
        """The node and all below it that may be changed."""
        if isinstance(node, ast.ClassDef) and any(_named(base) == "Protocol" for base in node.bases):
            return
        outer = self._outer
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            self._stack.append(node.name)
        if isinstance(node, ast.FunctionDef) and not self._outer:
            self._outer = ".".join(self._stack)
        yield _Place(node, parent or node, ".".join(self._stack) if self._outer else "", self._outer)
        for child in _children(node):
            yield from self.places(child, node)
        self._outer = outer
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            self._stack.pop()


def _named(node: ast.AST) -> str:
    """The last name of a name, an attribute or a subscript of one."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=inner):
            return _named(inner)
    return ""


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What is below a node, less what no test could or should see."""
    match node:
        case ast.FunctionDef():
            yield from (each for each in node.args.defaults + node.args.kw_defaults if each is not None)
            yield from node.body
        case ast.ClassDef():
            yield from node.body
        case ast.AnnAssign():
            yield from [] if node.value is None else [node.value]
        case ast.keyword(arg="strict"):  # of zip: what it would refuse does not happen
            return
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return
        case ast.Call() if _named(node.func) in SILENT_CALLS:
            return
        case ast.Assign(targets=[ast.Name(id="__slots__" | "__all__")]):
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            yield from node.orelse
        case ast.If(test=ast.UnaryOp(operand=ast.Name(id="TYPE_CHECKING"))):
            yield from node.body
        case ast.Subscript() if isinstance(node.ctx, ast.Load) and _generic(node):
            return
        case _:
            yield from ast.iter_child_nodes(node)


def _generic(node: ast.Subscript) -> bool:
    """Whether a subscript is a type: a capital or a built-in container, at something that is no number."""
    name = _named(node.value)
    return (name[:1].isupper() and name.upper() != name) or name in ("list", "dict", "tuple", "type", "set")


def _changes(node: ast.AST, parent: ast.AST) -> Iterator[Change]:
    """The changes of one node."""
    match node:
        case ast.If(test=test) | ast.While(test=test) if not _flips(test):
            yield test, f"(not ({ast.unparse(test)}))"
        case ast.comprehension(ifs=[*tests]):
            yield from ((test, "(True)") for test in tests)
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in SWAPS and _swappable(node, parent):
            yield node, ast.unparse(node).removesuffix(name) + SWAPS[name]
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield node, "pass"
        case ast.Assign(targets=[ast.Attribute()]):
            yield node, "pass"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield node, "return None"
        case ast.expr():
            yield from ((node, f"({each})") for each in _others(node))


def _others(node: ast.expr) -> Iterator[str]:
    """Other expressions for an expression."""
    match node:
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=(int() | float()) as value):
            yield from map(repr, _numbers(value))
        case ast.Compare(ops=[*ops]):
            for place, each in enumerate(ops):
                flipped = [*ops[:place], BOUNDARIES[type(each)](), *ops[place + 1 :]]
                yield ast.unparse(ast.Compare(node.left, flipped, node.comparators))
        case ast.BinOp(op=op) if type(op) in ARITHMETIC and not isinstance(getattr(node.left, "value", 0), str):
            yield ast.unparse(ast.BinOp(node.left, ARITHMETIC[type(op)](), node.right))
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            yield ast.unparse(operand)
        case ast.BoolOp(op=op, values=values):
            yield ast.unparse(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))
            for place in range(len(values)):
                rest = values[:place] + values[place + 1 :]
                yield ast.unparse(ast.BoolOp(op, rest) if len(rest) > 1 else rest[0])
        case ast.IfExp():
            yield from map(ast.unparse, (node.body, node.orelse))


def _swappable(node: ast.AST, parent: ast.AST) -> bool:
    """Whether a name is that of a function that is called, or of one of the two prices of a question."""
    return (isinstance(parent, ast.Call) and parent.func is node) or _named(node) in ("passed", "failed")


def _flips(test: ast.expr) -> bool:
    """Whether a condition is turned round by another change already, or is no condition at run time."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return isinstance(test.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn | ast.Eq | ast.NotEq)
    return any(_named(each) == "TYPE_CHECKING" for each in ast.walk(test)) or isinstance(test, ast.BoolOp)


def _numbers(value: int | float) -> list[int | float]:
    """Other numbers for a number: one more, one less, twice and half."""
    if isinstance(value, float):
        return [2 * value, value / 2] if value else [1.0]
    return [value + 1, value - 1] if value < 3 else [value + 1, value - 1, 2 * value]
