"""The answer: a table with error bars and a bill, which can be made finer at the price of the increment."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

from expost.accounting.curve import AdpEpsilon
from expost.bill import billed
from expost.errors import InvalidValue, LedgerConflict
from expost.folders.claim import Claim, deliver
from expost.folders.place import SCHEMA
from expost.jobs.asking.climb import AnswerLook, looked_at, next_place, refine
from expost.jobs.asking.contribution import Cut
from expost.jobs.asking.estimates import shorter_bars
from expost.jobs.asking.facts import AnswerFacts, Heading
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.planning import beside, stop_at
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.receipt import answer_receipt
from expost.jobs.asking.report import answer_fragment, answer_page
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import Precision, precision_of
from expost.jobs.asking.told import Answered, QuestionTold, answers_in, columns_of
from expost.jobs.asking.worded import closing_words
from expost.jobs.job import say_nothing
from expost.numerics import Real
from expost.receipts.receipt import receipt_text
from expost.recorded import Booked, ReadableLedger
from expost.report.outcomes import versions
from expost.report.spending import Spending
from expost.tabular.native import native_frame
from expost.tabular.source.frames import Format, write_table
from expost.tabular.table import Kind


@final
class Answer:
    """Answers with their error bars and their bill, which can be made finer at the price of the increment."""

    __slots__ = ("_files", "_heading", "_kind", "_ledger", "_measuring", "_outcome", "_plan", "_spending")

    def __init__(
        self,
        outcome: Answered,
        measuring: Measuring,
        kind: Kind,
        ledger: ReadableLedger,
        heading: Heading,
    ) -> None:
        self._outcome, self._measuring, self._kind, self._ledger = outcome, measuring, kind, ledger
        self._heading, self._plan = heading, heading.pledged.plan
        self._spending = Spending(billed(ledger), self._plan.pledge)
        self._files: Mapping[str, bytes] | None = None

    @property
    def table(self) -> Any:
        """Group, estimate, low, high and settled, as the same kind of frame as the input."""
        return native_frame(self._kind, columns_of(self.told))

    @property
    def told(self) -> tuple[QuestionTold, ...]:
        """The answers, question by question."""
        return self._outcome.release.value

    @property
    def outcome(self) -> Answered:
        """All that is known of the run."""
        return self._outcome

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of the pledged (ε, δ) statement, for everything so far."""
        return self._outcome.epsilon

    @property
    def delta(self) -> float:
        """The δ of the statement."""
        return self._outcome.recipe.delta

    @property
    def passed(self) -> bool:
        """Whether every group of every question is settled."""
        return self._outcome.look.reached

    def price(self, within: Precision | Real | str) -> AdpEpsilon:
        """The ε of all of it after ``refine``; it follows from releases, so that asking is free."""
        recipe = _finer(self._outcome.recipe, within)
        if looked_at(recipe, self._outcome.look).reached:
            return self.epsilon
        with self._measuring.lock:
            self._measuring.recipe = recipe
            place, _ = next_place(self._plan, self._measuring, self._measuring.share)
        return self._plan.pledge.epsilon(stop_at(beside(self._plan.levels[place])))

    def refine(self, within: Precision | Real | str) -> "Answer":
        """The same questions, more precisely; the increment is paid, and earlier error bars stay valid.

        What is precise enough already costs nothing. All error bars of an answer hold together, so that the shorter of
        two may be taken; those of later measurements are somewhat wider for that.
        """
        if not self._outcome.measured:
            raise InvalidValue("this answer was known already; ask for the finer one anew, which uses what is known.")
        recipe, before = _finer(self._outcome.recipe, within), self._outcome.look
        heading = replace(self._heading, refined=(*self._heading.refined, precision_of(within)))
        with self._measuring.lock:
            self._measuring.recipe, found = recipe, looked_at(recipe, before)
            if not found.reached:
                later = refine(self._plan, self._measuring, tell=say_nothing)
                shorter = tuple(shorter_bars(*each) for each in zip(before.bars, later.bars, strict=True))
                found = looked_at(recipe, replace(later, bars=shorter))
            outcome = answered(recipe, self._measuring, found, self._outcome.cuts)
            return Answer(outcome, self._measuring, self._kind, self._ledger, heading)

    @property
    def facts(self) -> AnswerFacts:
        """What a report and a receipt tell."""
        outcome, spending = self._outcome, self._spending
        if spending.spent != outcome.spent:
            raise LedgerConflict("the ledger holds more than this answer; give each question a ledger of its own.")
        persons = outcome.recipe.schema.unit is not None
        return AnswerFacts(
            heading=self._heading,
            told=self.told,
            width=outcome.look.width,
            bounds={tally: self._measuring.most[tally] for tally in outcome.recipe.tallies} if persons else {},
            cuts=outcome.cuts,
            recalled=bool(self._measuring.before) or not outcome.measured,
            spending=spending,
            seeded=outcome.release.seeded,
            floating=outcome.release.floating,
            booking=self._ledger.booking() if isinstance(self._ledger, Booked) and outcome.measured else None,
            versions=versions(),
        )

    @property
    def receipt(self) -> str:
        """The receipt, as the text of its file; until the answers are saved, as it will be beside a CSV file."""
        return receipt_text(answer_receipt(self.facts, self._files or self._written(Format.CSV)))

    @property
    def closing(self) -> tuple[str, ...]:
        """How it ended and what was spent, a paragraph each."""
        return closing_words(self.facts)

    def save(self, folder: str | Path | Claim, *, format: str | None = None, overwrite: bool = False) -> None:  # noqa: A002  the word for it
        """Write the answers, the report and the receipt into a new folder, all or nothing."""
        if format not in (None, *(each.value for each in Format)):
            raise InvalidValue(f"format is {format}; answers are written as csv or parquet.")
        files, facts = self._written(Format.CSV if format is None else Format(format)), self.facts

        def put(fresh: Path) -> None:
            for name, content in files.items():
                (fresh / name).write_bytes(content)

        where = Path(folder) if isinstance(folder, str) else folder
        receipt, report = receipt_text(answer_receipt(facts, files)), answer_page(facts)
        deliver(where, put, receipt=receipt, report=report, overwrite=overwrite)
        self._files = files

    def _written(self, format: Format) -> dict[str, bytes]:  # noqa: A002
        """What goes beside the receipt, by name."""
        with TemporaryDirectory(prefix="expost-") as made:
            path = Path(made) / f"answers.{format.value}"
            write_table(path, columns_of(self.told), format)
            return {path.name: path.read_bytes(), SCHEMA: self._outcome.recipe.schema.dumps().encode()}

    def _repr_html_(self) -> str:
        return answer_fragment(self.facts)

    def __repr__(self) -> str:
        asked = "; ".join(map(str, self._outcome.recipe.questions))
        return f"Answer({asked}; ε = {self.epsilon:.4g}, δ = {self.delta:g})"


def answered(recipe: AskRecipe, measuring: Measuring, found: AnswerLook, cuts: Mapping[Tally, Cut]) -> Answered:
    """What a look comes to, with the bill of everything that led to it."""
    release = measuring.past.joint().map(lambda _: answers_in(recipe, found))
    return Answered(recipe, release, found, cuts)


def _finer(recipe: AskRecipe, within: Precision | Real | str) -> AskRecipe:
    if recipe.decision is not None:
        raise InvalidValue("a decision has no precision to refine; ask for its numbers by within.")
    target = precision_of(within)
    return replace(recipe, questions=tuple(Targeted(each.query, target) for each in recipe.questions))
