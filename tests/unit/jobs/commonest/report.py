"""What a report says of the commonest code."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from expost.report import arrangement
from expost.report.facts import Facts
from expost.report.page import covered_section, method_section
from expost.report.shares import asked_for
from expost.text import Json


@final
@dataclass(frozen=True)
class CommonestJob:
    """A code, of so many that there are."""

    codes: int
    kind: ClassVar[str] = "The commonest code"
    target: ClassVar[str] = "the code"
    rung: ClassVar[str] = "rung"
    lines: ClassVar[Mapping[str, str]] = {"Brownian": "noisy counts of the codes, refined"}
    covered: ClassVar[str] = "The bound covers every count and the decision to stop."

    def passed(self, facts: Facts) -> str:
        return f"The commonest code passed the check at {asked_for(facts)} on held-out records."

    def name(self, place: int) -> str:
        return str(place)

    def tile(self, facts: Facts) -> tuple[str, str, str]:
        return "codes", str(self.codes), "counted on every rung"

    def sections(self, facts: Facts) -> str:
        told = (
            *arrangement.parts(facts),
            "The codes were counted with noise, rung by rung.",
            arrangement.checked(facts),
        )
        return f"{method_section(told)}{covered_section(facts)}"

    def receipt(self) -> Mapping[str, Json]:
        return {"codes": self.codes}
