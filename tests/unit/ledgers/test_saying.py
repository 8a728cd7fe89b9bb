"""What entries say is the JSON that a general encoder would make of it, whatever names and facts a step has."""

import hashlib
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.accounting.claim import Promise
from expost.accounting.curve import Curve, Highest, Linear, Tabulated
from expost.ledger import Entry, Hold
from expost.ledgers.chain import spelled
from expost.ledgers.saying import Sayings
from expost.receipts.costs import curve_out

CURVES: dict[str, Curve] = {
    "a line": Linear(Fraction(1, 7), Fraction(2, 3)),
    "a Gaussian": Linear(Fraction(0), Fraction(1, 10**12), Fraction(3, 10**12)),
    "lines that cross": Highest((Linear(Fraction(2), Fraction(1)), Linear(Fraction(0), Fraction(3, 2)))),
    "a table": Tabulated.of([2.0, 4.0], [0.1, float("inf")]),
}
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
facts = st.dictionaries(texts, texts | st.integers() | st.booleans(), max_size=3)
entries = st.builds(
    Entry, what=texts, part=texts, neighbours=texts, seeded=st.just(False), floating=st.booleans(), facts=facts
)


def inside(fields: dict[str, object]) -> str:
    """The inside of a table, by the general encoder."""
    return spelled(fields)[1:-1]


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@given(entry=entries, payload=st.none() | texts, finished=st.booleans())
def test_a_hold_and_its_capture_are_spelled_as_a_general_encoder_would(
    curve: Curve, entry: Entry, payload: str | None, finished: bool
) -> None:
    says, promise = Sayings(), Promise(curve)
    step: dict[str, object] = {"what": entry.what, "part": entry.part, "neighbours": entry.neighbours}
    stored = None if payload is None else hashlib.sha256(payload.encode()).hexdigest()

    held = says.hold(entry, promise)
    captured = says.capture(Hold(entry, promise), promise.as_spent(), payload, finished=finished)

    assert held == inside({**step, "curve": curve_out(curve)})
    assert captured == inside({
        **step, "floating": entry.floating, "facts": entry.facts, "curve": curve_out(curve), "finished": finished,
        "stored": stored,
    })  # fmt: skip


@pytest.mark.parametrize("neighbours", [None, 'differ in one "record"'])
def test_a_reserve_says_the_most_and_the_neighbours_if_they_are_known(neighbours: str | None) -> None:
    curve = CURVES["a line"]

    said = Sayings().reserve(Promise(curve), neighbours)

    assert json.loads(f"{{{said}}}") == {"reserve": curve_out(curve), "neighbours": neighbours}


def test_each_curve_is_spelled_anew_where_it_is_another_one() -> None:
    """The last curve is remembered as an object: a step that costs less than its promise says what it cost."""
    says, entry = Sayings(), Entry("gaussian", "data", "differ in one record", seeded=False, floating=False)
    promise, spent = Promise(CURVES["a Gaussian"]), Promise(CURVES["a line"]).as_spent()

    says.hold(entry, promise)
    captured = json.loads(f"{{{says.capture(Hold(entry, promise), spent, None, finished=True)}}}")

    assert captured["curve"] == curve_out(spent.curve)
