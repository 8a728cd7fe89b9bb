"""Synthetic tables: what a report says of them, and of no other job."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from expost.accounting.claim import Budget
from expost.jobs.synthesis.declared import CHECKED, Field
from expost.jobs.synthesis.kept import KeptTable, kept_section
from expost.jobs.synthesis.persons import FIRST_COUNTED, PersonsCounted, persons_section
from expost.receipts.costs import budget_out
from expost.receipts.notation import table
from expost.report import arrangement, words
from expost.report.charts import safe
from expost.report.facts import Facts
from expost.report.markup import bins_note, html_table, prose, row, section
from expost.report.page import covered_section, method_section
from expost.report.shares import asked_for
from expost.report.units import OF_PERSONS, by_row, by_unit
from expost.tabular.marginals import Clique
from expost.tabular.measures import TargetAccuracy
from expost.tabular.teaching import MOST_TAUGHT
from expost.text import Json

OPEN = "Open to anyone: the synthetic table, and all noisy counts that were released on the way."
KEPT = (
    "Every synthetic row keeps these rules, which are as public as the rest of the schema. Records that break one were "
    "counted like all others; how many there are is told by nothing but the noisy counts."
)
SIZED = (
    "All records were counted with noise first, and no more of them held out than the check needs. The count is on the "
    "bill."
)
WHOSE = "This column says whose row it is. It was read, and is not written anywhere."
PUBLIC_ROW = "A person among those records was judged by one of their rows, which was drawn at random."
TRIED = (
    "Tried, not proved: that each held-out record was scored by itself. Before the run, and again on every rung, "
    "made-up records had to score the same alone, together, in another order and a second time."
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TableJob:
    """A synthetic table beside what was released of the real one."""

    target: str
    targets: tuple[str, ...]
    unpaired: str
    rows: int
    kept: KeptTable
    schema: tuple[Field, ...]
    rules: tuple[str, ...]
    unit: str | None
    reviewed: bool
    checked: bool
    schema_digest: str
    counts_digest: str
    selection: Budget
    measured: tuple[Clique, ...]
    grown: tuple[tuple[Clique, ...], ...]
    alone: Mapping[str, float]
    edges: Mapping[str, Json] | None
    overlooked: float | None
    sizing: Budget | None
    judged: tuple[str, ...]
    persons: PersonsCounted | None = None
    kind: ClassVar[str] = "Synthetic data"
    rung: ClassVar[str] = "rung"
    lines: ClassVar[Mapping[str, str]] = {
        "Gaussian": "noisy counts of records, or of each column",
        "SpanningTree": "which pairs of columns to count",
        "Growing": "noisy counts of the pairs, refined, and of more pairs or triples",
    }
    covered: ClassVar[str] = (
        "The bound covers the whole procedure: choosing what to measure, every noisy count and the decision to stop."
    )

    @property
    def cut(self) -> str:
        """That rows of a person count for less, where that is known."""
        return "" if self.persons is None else self.persons.cut

    def passed(self, facts: Facts) -> str:
        """A classifier of the target stands for the table."""
        where = f"{words.held_out(facts)} that were not used to make them" if facts.divided else "public records"
        if facts.several:
            listed = "; ".join(goal.words for goal in facts.goals)
            return f"The {self.rows:,} synthetic rows passed the check of all that was asked for ({listed}) on {where}."
        if not self.targets:
            return f"The {self.rows:,} synthetic rows passed the check of {facts.goals[0].words} on {where}."
        taught = f"A classifier trained on {self._taught} to predict {self.target} passed the check"
        if facts.measure == TargetAccuracy.name:
            return f"{taught} at {asked_for(facts)} on {where}."
        return f"{taught} of {facts.goals[0].words} on {where}."

    @property
    def _taught(self) -> str:
        """The rows that a classifier was trained on."""
        if self.rows <= MOST_TAUGHT:
            return f"the {self.rows:,} synthetic rows"
        return f"{MOST_TAUGHT:,} of the {self.rows:,} synthetic rows"

    @staticmethod
    def _asked(facts: Facts) -> str:
        """Everything that was asked for."""
        *first, last = (goal.words for goal in facts.goals)
        return f"what was asked for ({', '.join(first)} and {last})" if first else f"what was asked for ({last})"

    def name(self, place: int) -> str:
        """Its number."""
        return str(place)

    def tile(self, facts: Facts) -> tuple[str, str, str]:
        """Rows and columns."""
        return "synthetic rows", f"{self.rows:,}", f"{len(self.schema)} columns"

    def sections(self, facts: Facts) -> str:
        """Released counts beside the synthetic table, the procedure, what the bound covers, and the schema."""
        public = (
            "Taken to be public: the schema, with the columns it names and every value"
            f"{' and edge in it' if self.edges is None else ', range and edge that was declared in it'}, "
            f"{self._asked(facts)}, and every other setting. Choosing any of them by looking at "
            f"{by_row('these records', facts.neighbours)} reveals something that is not on the bill."
        )
        tried = [by_row(TRIED, facts.neighbours)] if facts.divided else []
        return "".join(
            (
                kept_section(self.kept),
                persons_section(self.persons) if facts.neighbours in OF_PERSONS else "",
                method_section(self._method(facts)),
                covered_section(facts, OPEN, *tried, public),
                self._schema(facts),
            )
        )

    def _method(self, facts: Facts) -> tuple[str, ...]:
        """Select, count, fit, draw, learn, check."""
        by_person = facts.neighbours in OF_PERSONS
        return (
            *([FIRST_COUNTED if by_person else SIZED] if self.sizing is not None else []),
            *arrangement.parts(facts),
            *self._found(facts.neighbours),
            "Each column was counted with noise. Pairs of columns that belong together were chosen at random, stronger "
            "pairs more often. Both are on the bill.",
            *([self.unpaired] if self.unpaired else []),
            "On each rung the pairs were counted again with fresh integer noise and averaged with the rungs before. "
            f"{self._added()} {self._learnt()}",
            arrangement.checked(facts),
            *([words.ONE_ROW] if words.judged_by_one_row(facts) else []),
            *([PUBLIC_ROW] if by_person and facts.on_public else []),
            *self.judged,
            "The synthetic table was drawn from noisy counts alone: it may be published, copied and analysed at no "
            "further cost.",
        )

    def _found(self, neighbours: str) -> tuple[str, ...]:
        """How edges were found that nobody declared."""
        if self.edges is None or self.overlooked is None:
            return ()
        *first, last = sorted(table(self.edges["cells"]))
        listed = f"{', '.join(first)} and {last}" if first else last
        few = by_unit(f"fewer than about {self.overlooked:,.0f} records", neighbours)
        return (
            f"The bins of {listed} were found: edges were chosen between which "
            f"{by_row('about as many records lie', neighbours)}, by noisy counts on a fine grid that follows from the "
            "declared range. They are on the bill. Noise hides what is rare on that grid: a stretch of the range with "
            f"{few} may have counted as empty. No synthetic value lies there then, and means and extremes of {listed} "
            "may be far off, however well the bins agree.",
        )

    def _learnt(self) -> str:
        """From counts to a candidate."""
        drawn = "A model was fitted to the noisy counts, and a table was drawn from it"
        if not self.targets:
            return f"{drawn}."
        listed = " and ".join(self.targets)
        trained = "a classifier that predicts" if len(self.targets) == 1 else "classifiers that predict"
        return f"{drawn}; {trained} {listed} {'was' if len(self.targets) == 1 else 'were'} trained on that table."

    def _added(self) -> str:
        """What the rungs added to the first pairs."""
        added = [clique for rung in self.grown for clique in rung]
        pairs = sum(len(clique) == 2 for clique in added)
        triples = len(added) - pairs
        told = []
        if pairs or not triples:
            told.append(_told(pairs))
        if triples:
            scored = "By noisy scores of three columns together, which are on the bill too"
            told.append(f"{scored}, 1 triple was" if triples == 1 else f"{scored}, {triples} triples were")
            told[-1] += " counted once noise in the pairs was small."
        return " ".join(told)

    def _schema(self, facts: Facts) -> str:
        rows = [row(each.name, each.kind, str(each.size), each.domain, each.missing) for each in self.schema]
        rules = "".join(f"<li>{safe(each)}</li>" for each in self.rules)
        reviewed = "Declared and reviewed by the owner of the data." if self.reviewed else "NOT reviewed by the owner."
        return section(
            "The schema",
            f"<p>{reviewed} Everything in it is public. {CHECKED[self.checked]}</p>",
            "" if self.unit is None else f"<p>The unit is {safe(self.unit)}. {WHOSE}</p>",
            html_table(("column", "kind", "values", "domain", "where a value is missing"), rows, stacked=True),
            bins_note(label for each in self.schema for label in each.labels),
            *([f"<h3>Rules</h3><p>{prose(by_row(KEPT, facts.neighbours))}</p><ul>{rules}</ul>"] if rules else []),
        )

    def receipt(self) -> Mapping[str, Json]:
        """The rows, their schema, what each step of the selection might spend, and what was measured and counted."""
        columns, sizes = [each.name for each in self.schema], [each.size for each in self.schema]
        return {
            "rows": self.rows,
            "schema": {
                "sha256": self.schema_digest,
                "columns": columns,
                "sizes": sizes,
                "checked": self.checked,
            },
            "selection": budget_out(self.selection),
            "measured": [list(clique) for clique in self.measured],
            "grown": [[list(clique) for clique in added] for added in self.grown],
            "counted": dict(self.alone),
            "counts": {"sha256": self.counts_digest},
            "edges": None if self.edges is None else dict(self.edges),
            "sizing": None if self.sizing is None else budget_out(self.sizing),
            "persons": None if self.persons is None else self.persons.out(),
        }


def _told(pairs: int) -> str:
    if not pairs:
        return "No rung added pairs to these: none was worth the noise that it would have brought."
    counted = "1 pair that fitted badly was" if pairs == 1 else f"{pairs} pairs that fitted badly were"
    return f"By noisy scores of the other pairs, which are on the bill, {counted} counted as well."
