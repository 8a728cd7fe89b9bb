"""What the receipt of an answer says, taken apart into values of ours: nothing is believed here."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.accounting.pledge import Pledge
from expost.bill import Item
from expost.errors import Unreadable
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.query import Query
from expost.jobs.asking.question import MOST_QUERIES, Targeted
from expost.jobs.asking.receipt import PARTS, target_out
from expost.jobs.asking.sharing import measurable
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import Above, Compare, Target, Top, WithinDistance, WithinShare
from expost.private import Neighbours
from expost.receipts.costs import MU, item_in, pledge_in
from expost.receipts.notation import MOST_COUNT, MOST_ENTRY, fraction, items, number, record, table, text, truth, whole
from expost.receipts.testimony import HASH, MOST_ENTRIES, STATEMENT, OnLedger, bounded
from expost.receipts.untrusted import require_modest
from expost.text import Json

ASKED = ("questions", "confidence", "together", "max epsilon", "fewer than", "rows per person", "schema")
ANSWER = ("question", "groups", "settled", "few", "open", "fewer than")
MOST_REFINED = 100
FILES = {"answers.csv", "answers.parquet", "schema.toml"}
DAY = re.compile(r"(\d{4}-\d{2}-\d{2})?")


@final
@dataclass(frozen=True, slots=True)
class GroupsTold:
    """How many groups of a question there are, and what became of them."""

    question: str
    groups: int
    settled: int
    few: int
    still_open: int
    size: int


@final
@dataclass(frozen=True, slots=True)
class PersonsCut:
    """About which share of all persons has more than counts in full, and how far noise may have moved that."""

    share: float
    std: float


@final
@dataclass(frozen=True, slots=True)
class AnswerTestimony:
    """A receipt of an answer, part by part; ``found`` is all of it."""

    found: Mapping[str, Json]
    neighbours: Neighbours
    questions: tuple[Targeted, ...]
    refined: tuple[Target, ...]
    confidence: Fraction
    together: bool
    max_epsilon: float
    fewer_than: int | None
    rows_per_person: int | None
    schema: str
    kind: str
    price: float | None
    pledge: Pledge
    reached: bool
    answers: tuple[GroupsTold, ...]
    width: float
    bounds: Mapping[str, int]
    cuts: Mapping[str, PersonsCut]
    recalled: bool
    bill: tuple[Item, ...]

    @classmethod
    def of(cls, found: Mapping[str, Json]) -> "AnswerTestimony":
        """The testimony of a receipt; refused if a part of it is missing, malformed or too large."""
        record({**found, "warning": None}, PARTS)
        asked, plan = record(found["asked"], ASKED), record(found["plan"], ("kind", "price"))
        _require_words(found)
        return cls(
            found=found,
            neighbours=Neighbours(text(found["neighbours"])),
            questions=tuple(map(_question, bounded(asked["questions"], MOST_QUERIES))),
            refined=tuple(map(target_in, bounded(found["refined"], MOST_REFINED, least=0))),
            confidence=fraction(asked["confidence"]),
            together=truth(asked["together"]),
            max_epsilon=number(asked["max epsilon"]),
            fewer_than=None if asked["fewer than"] is None else whole(asked["fewer than"], most=MOST_ENTRY),
            rows_per_person=None if asked["rows per person"] is None else whole(asked["rows per person"]),
            schema=_hash(asked["schema"]),
            kind=text(plan["kind"]),
            price=None if plan["price"] is None else number(plan["price"]),
            pledge=pledge_in(found["pledge"]),
            reached=truth(record(found["ended"], ("reached",))["reached"]),
            answers=tuple(map(_answer, bounded(found["answers"], MOST_QUERIES))),
            width=number(found["width"]),
            bounds={text(name): whole(most) for name, most in table(found["bounds"]).items()},
            cuts=_cuts(found["cuts"]),
            recalled=truth(found["recalled"]),
            bill=require_modest([item_in(each) for each in bounded(found["bill"], MOST_ENTRIES, least=0)]),
        )

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """What is measured, each once, in the order of the questions."""
        return tuple(dict.fromkeys(Tally.of(each.query) for each in self.questions))

    @property
    def measurable(self) -> tuple[Tally, ...]:
        """What may be measured for them: others that tell of several, where it is public how far persons move them."""
        bounded = not self.persons or self.rows_per_person is not None
        return measurable(self.tallies) if bounded else self.tallies

    @property
    def persons(self) -> bool:
        """Whether the bound is about persons."""
        return self.neighbours.unit == "person"


def target_in(found: Json) -> Target:
    """The target that ``target_out`` wrote."""
    fields = table(found)
    match sorted(fields):
        case ["within"]:
            target: Target = WithinDistance(fraction(fields["within"]))
        case ["of total", "within share"]:
            target = WithinShare(fraction(fields["within share"]), truth(fields["of total"]))
        case ["above"]:
            target = Above(fraction(fields["above"]))
        case ["top"]:
            target = Top(whole(fields["top"]))
        case ["compare"]:
            first, second = map(text, items(fields["compare"]))
            target = Compare(first, second)
        case _:
            raise Unreadable("the receipt has a target that expost does not know; it was changed.")
    if target_out(target) != dict(fields):
        raise Unreadable("a target of the receipt is not written as expost writes it; it was changed.")
    return target


def _question(found: Json) -> Targeted:
    fields = record(found, ("question", "target"))
    return Targeted(query_told(text(fields["question"])), target_in(fields["target"]))


def query_told(told: str) -> Query:
    """The one query that a text is, refused unless it is written as expost writes it."""
    query, *more = queries_in(told)
    if more or str(query) != told:
        raise Unreadable("a question of the receipt is not written as expost writes it; it was changed.")
    return query


def _answer(found: Json) -> GroupsTold:
    fields = record(found, ANSWER)
    groups, settled, few, still_open = (_count(fields[name]) for name in ANSWER[1:-1])
    size = _count(fields[ANSWER[-1]], most=MOST_ENTRY)  # of groups for which a small share is out of reach
    return GroupsTold(text(fields["question"]), groups, settled, few, still_open, size)


def _cuts(found: Json) -> dict[str, PersonsCut]:
    cuts: dict[str, PersonsCut] = {}
    for each in bounded(found, MOST_QUERIES, least=0):
        fields = record(each, ("of", "share", "std", "lost"))
        share, std = number(fields["share"]), _above_0(fields["std"])
        if text(fields["of"]) in cuts or not (0 <= share <= 1 and 0 <= number(fields["lost"]) <= 1):
            raise Unreadable("the receipt tells twice how persons were cut, or a share that is none.")
        cuts[text(fields["of"])] = PersonsCut(share, std)
    return cuts


def _require_words(found: Mapping[str, Json]) -> None:
    """Refuse what nothing rests on where it is not what a reader takes it for."""
    statement = table(found["statement"])
    record(statement, (*STATEMENT, *([MU] if MU in statement else ())))
    for each in (found["title"], *table(found["versions"]).values()):
        text(each)
    files = table(found["files"])
    if not {*files} <= FILES or "schema.toml" not in files or len(files) != 2:
        raise Unreadable("the receipt does not name just the answers and the schema beside it; it was changed.")
    for each in files.values():
        _hash(each)
    if not DAY.fullmatch(text(found["date"])):
        raise Unreadable("the receipt has something else where a day belongs; it was changed.")
    if found["ledger"] is not None:
        OnLedger.of(found["ledger"])


def _hash(found: Json) -> str:
    if not HASH.fullmatch(text(found)):
        raise Unreadable("the receipt has something else where a SHA-256 belongs; it was changed.")
    return text(found)


def _count(found: Json, *, most: int = MOST_COUNT) -> int:
    return 0 if found == 0 and not isinstance(found, bool) else whole(found, most=most)


def _above_0(found: Json) -> float:
    value = number(found)
    if not 0 < value < math.inf:
        raise Unreadable("the receipt has something else where a number above 0 belongs; it was changed.")
    return value


def files_named(found: Json) -> dict[str, str]:
    """The digest that a receipt has of each file beside it."""
    return {name: text(each) for name, each in table(table(found)["files"]).items()}
