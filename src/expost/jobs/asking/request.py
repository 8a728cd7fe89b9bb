"""Requests: all that is asked at once, by which two are told apart, and one is known to ask no more than another."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.targets import WithinDistance
from expost.receipts.notation import fraction, items, record, table, text, truth
from expost.text import Json

FIELDS = ("questions", "distances", "confidence", "together", "rows per person", "schema", "spending")


@final
@dataclass(frozen=True)
class Request:
    """All that is asked, under which schema; ``distances`` are those of questions that one release answers.

    Two requests are the same if all of it is. ``spending`` is what bounds the price and the size of small groups.
    """

    questions: tuple[str, ...]
    distances: Mapping[str, Fraction]
    confidence: Fraction
    together: bool
    rows_per_person: Json
    schema: str
    spending: tuple[Json, ...]

    @classmethod
    def of(cls, recipe: AskRecipe) -> "Request":
        """What a recipe asks."""
        precise = [(str(each.query), each.target) for each in recipe.questions] if recipe.priced else []
        return cls(
            questions=(*map(str, recipe.questions),),
            distances={name: target.distance for name, target in precise if isinstance(target, WithinDistance)},
            confidence=recipe.confidence,
            together=recipe.together,
            rows_per_person=recipe.rows_per_person,
            schema=hashlib.sha256(recipe.schema.dumps().encode()).hexdigest(),
            spending=(recipe.fewer_than, recipe.max_epsilon, recipe.delta),
        )

    @classmethod
    def loads(cls, kept: str) -> "Request":
        """The request that ``dumps`` wrote; refused unless it is one."""
        fields = record(json.loads(kept), FIELDS)
        return cls(
            questions=(*map(text, items(fields["questions"])),),
            distances={name: fraction(each) for name, each in table(fields["distances"]).items()},
            confidence=fraction(fields["confidence"]),
            together=truth(fields["together"]),
            rows_per_person=fields["rows per person"],
            schema=text(fields["schema"]),
            spending=(*items(fields["spending"]),),
        )

    def dumps(self) -> str:
        """A text that it can be read from again."""
        values = (
            [*self.questions],
            {name: str(distance) for name, distance in self.distances.items()},
            str(self.confidence),
            self.together,
            self.rows_per_person,
            self.schema,
            [*self.spending],
        )
        return json.dumps(dict(zip(FIELDS, values, strict=True)))

    def asks_no_more_than(self, earlier: "Request") -> bool:
        """Whether the one release that answered the same questions is as near as this one asks for.

        How short its error bars are was known beforehand. Of a run that stopped by what it saw this is never said: its
        answer would be taken where its noise made it precise enough, and error bars that are chosen so hold less often.
        """
        return (
            len(self.questions) == len(self.distances)
            and self.distances.keys() == earlier.distances.keys()
            and all(earlier.distances[name] <= distance for name, distance in self.distances.items())
            and earlier.confidence >= self.confidence
            and earlier.together >= self.together
            and (earlier.rows_per_person, earlier.schema) == (self.rows_per_person, self.schema)
        )
