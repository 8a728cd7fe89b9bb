"""Commands on a lasting ledger, whatever ends them: what they captured and what they still hold is counted, exactly."""

import json
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any, final

import pytest

from expost.accounting.claim import NOTHING, Spent
from expost.bill import bill_total, joined
from expost.ledgers.amounts import Amount, plus, summed
from expost.ledgers.book import init_ledger, open_ledger
from expost.ledgers.overview import Overview, overviews
from expost.ledgers.proof import verify_ledger
from expost.ledgers.settling import settle, unsettled
from expost.ledgers.terms import Terms, epsilon_terms, order_terms
from expost.receipts.costs import curve_in, item_in
from expost.report.digits import price
from tests.faults.conftest import Setting
from tests.faults.jobs import FINETUNE, JOBS, SYNTH, Job
from tests.faults.phases import REACHED
from tests.faults.processes import Scene, begun
from tests.unit.commands import run

ROOMY, NAMES = epsilon_terms(30, 1e-6), ("--ledger", "ledger.db", "--dataset", "people")
SIGNALS = (signal.SIGINT, signal.SIGTERM)
CLIMBING = (SYNTH, FINETUNE)
"""Jobs that may climb all planned stops; a question knows its one, and is not paid for twice."""


@final
class Kept:
    """A ledger in the folder of a scene, as it is on the disk."""

    def __init__(self, scene: Scene, terms: Terms = ROOMY) -> None:
        self.path, self.terms = scene.here / "ledger.db", terms
        init_ledger(self.path, "people", terms).home.close()

    @property
    def found(self) -> Overview:
        with open_ledger(self.path) as book:
            assert verify_ledger(book.home).holds
            return overviews(book.home)[0]

    @property
    def spent(self) -> Amount:
        return self.found.account.spent

    @property
    def committed(self) -> Amount:
        return self.found.account.committed

    def entries(self, kind: str) -> list[dict[str, Any]]:
        with sqlite3.connect(self.path) as connection:
            rows = connection.execute("SELECT body FROM entries WHERE kind = ? ORDER BY number", (kind,)).fetchall()
        connection.close()
        return [json.loads(body) for (body,) in rows]

    def amount(self, curve: Any) -> Amount:
        return self.terms.amount(Spent(curve_in(curve)))


def billed(folder: Path, terms: Terms) -> Amount:
    """What the bill of a receipt comes to, in the measures of a ledger."""
    receipt = json.loads((folder / "receipt.json").read_text(encoding="utf-8"))
    return terms.amount(bill_total([item_in(line) for line in receipt["bill"]]))


@pytest.mark.parametrize("job", CLIMBING, ids=lambda job: job.name)
def test_what_is_on_the_ledger_is_the_sum_of_the_bills_to_the_last_unit(job: Job, setting: Setting) -> None:
    scene = setting(job)
    kept = Kept(scene)
    first = scene.run(*NAMES, out="one")
    alone = kept.spent
    second = scene.run(*NAMES, out="two")
    bills = [billed(scene.here / out, ROOMY) for out in ("one", "two")]

    assert kept.spent == kept.committed == summed(bills, ROOMY.width)
    assert alone == bills[0]
    assert "people: nothing is spent yet; with this run at most ε = " in first.output
    assert f"people: ε = {price(ROOMY.stated(alone))} at δ = 1e-6 is spent; with this run at most ε" in second.output
    assert f"ε = {price(ROOMY.stated(kept.spent))} of 30 at δ = 1e-6 is spent." in " ".join(second.output.split())


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_the_audit_finds_the_bill_on_the_ledger(job: Job, setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = setting(job)
    Kept(scene)
    scene.run(*NAMES, out="one")
    monkeypatch.chdir(scene.here)

    found = run("audit", "one/receipt.json", "--ledger", "ledger.db")

    assert found.exit_code == 0
    assert "the ledger ledger.db has the same lines, captured by the same run." in found.stdout


@pytest.mark.parametrize("job", CLIMBING, ids=lambda job: job.name)
def test_a_run_that_is_killed_leaves_its_whole_hold_and_nothing_else(job: Job, setting: Setting) -> None:
    scene = setting(job)
    kept = Kept(scene)
    scene.run(*NAMES, out="one")
    before = kept.spent
    running = scene.begin(*NAMES, names=("rung 1",))
    running.reach()
    os.kill(running.process.pid, signal.SIGKILL)
    running.end()

    planned, held = kept.entries("begin")[-1]["pledge"]["stops"], [e for e in kept.entries("hold") if "reserve" in e]
    captured = [each for each in kept.entries("capture")[len(_bill(scene.here / "one")) :] if each["finished"]]
    assert kept.committed == plus(before, kept.amount(planned[-1])) == plus(before, kept.amount(held[-1]["reserve"]))
    assert kept.spent == plus(before, ROOMY.amount(_joined(captured)))
    assert kept.found.open_runs == 1
    assert scene.is_old()
    assert scene.left == {"one", "out.journal", "ledger.db"}


def _joined(captured: list[dict[str, Any]]) -> Spent:
    """What was captured, as one bill."""
    parts: dict[str, Spent] = {}
    for each in captured:
        spent = Spent(curve_in(each["curve"]))
        parts[each["part"]] = parts[each["part"]] + spent if each["part"] in parts else spent
    return joined(parts) if parts else NOTHING.as_spent()


def _bill(folder: Path) -> list[int]:
    """A line for each step."""
    receipt = json.loads((folder / "receipt.json").read_text(encoding="utf-8"))
    return [1 for line in receipt["bill"] for _ in range(line["count"])]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_an_interrupted_run_returns_what_it_still_held_and_pays_the_step_under_way_in_full(
    job: Job, number: int, setting: Setting
) -> None:
    scene = setting(job)
    kept = Kept(scene)
    running = scene.begin(*NAMES, names=("rung 1",))
    running.reach()
    os.kill(running.process.pid, number)
    ended = running.end()

    last = kept.entries("capture")[-1]
    assert ended.status == 128 + number
    assert last["finished"] is False
    assert kept.amount(last["curve"]) > ROOMY.nothing
    assert kept.found.open_runs == 0
    assert kept.spent == kept.committed
    assert kept.committed < kept.amount(kept.entries("begin")[-1]["pledge"]["stops"][-1])
    said = ended.sentence
    assert said.endswith(f" returned; ε = {price(ROOMY.stated(kept.spent))} of 30 at δ = 1e-6 is spent.")


@pytest.mark.parametrize("fault", ["memory runs out", "a fault of ours", "a step fails"])
def test_a_run_that_fails_is_closed(fault: str, setting: Setting) -> None:
    scene = setting(SYNTH)
    kept = Kept(scene)
    ended = scene.run(*NAMES, names=(fault,))

    assert ended.status != 0
    assert kept.found.open_runs == 0
    assert kept.spent == kept.committed > ROOMY.nothing
    assert " of 30 at δ = 1e-6 is spent." in ended.errors


@pytest.mark.parametrize("job", CLIMBING, ids=lambda job: job.name)
def test_without_room_a_run_is_refused_before_its_records_are_opened(job: Job, setting: Setting) -> None:
    scene = setting(job)
    free = scene.run(out="free")
    plan = json.loads((scene.here / "free/receipt.json").read_text(encoding="utf-8"))["pledge"]["stops"]
    most, first = (Spent(curve_in(each)).at(8) for each in (plan[-1], plan[0]))
    kept = Kept(scene, order_terms(most + first / 2, alpha=8))
    running = scene.begin(*NAMES, names=("rung 1",))
    running.reach()
    os.kill(running.process.pid, signal.SIGKILL)
    running.end()
    (scene.here / REACHED).unlink()
    source = scene.here / job.words[1]
    source.unlink()
    os.mkfifo(source)  # whoever opens it waits for a writer that never comes

    ended = scene.run(*NAMES, out="two")

    assert free.status in (0, 3)
    assert ended.status == 2
    assert "and the most that fits is a run stated as ε = " in ended.sentence
    assert ended.output == ""
    assert kept.found.open_runs == 1
    assert not (scene.here / "two").exists()
    looked = scene.begin(names=("reading",), out="three")  # and a run off the ledger does look for them
    looked.reach()
    assert (scene.here / REACHED).exists()
    os.kill(looked.process.pid, signal.SIGKILL)
    looked.end()


IN_THE_WAY = (
    "INSERT INTO entries SELECT id, entries + 1, latest, 'in the way', NULL, '{}', head FROM datasets "
    "WHERE name = 'people'"
)
"""Takes the place of the next entry."""


def test_a_ledger_that_cannot_be_written_any_more_withholds_the_value_and_keeps_the_hold(setting: Setting) -> None:
    scene = setting(SYNTH)
    kept = Kept(scene)
    running = scene.begin(*NAMES, names=("rung 1",))
    running.reach()
    before = kept.spent
    with sqlite3.connect(kept.path) as connection:
        connection.execute(IN_THE_WAY)
    ended = running.end()
    with sqlite3.connect(kept.path) as connection:
        connection.execute("DELETE FROM entries WHERE kind = 'in the way'")
    connection.close()

    assert ended.status == 2
    assert "rung: 1" not in ended.output
    assert "What the run still holds on the ledger was not returned: the ledger ledger.db " in ended.sentence
    assert kept.spent == before
    assert kept.found.open_runs == 1


@pytest.mark.parametrize("statement", ["it seemed dead", None], ids=["returned", "in full"])
def test_a_run_that_was_settled_under_its_hands_says_so_and_releases_nothing_more(
    setting: Setting, statement: str | None
) -> None:
    scene = setting(SYNTH)
    kept = Kept(scene)
    running = scene.begin(*NAMES, names=("rung 1",))
    running.reach()
    with open_ledger(kept.path) as book:
        settle(book, unsettled(book)[0].id, statement=statement)
    before = kept.spent
    ended = running.end()

    assert ended.status == 2
    assert "rung: 1" not in ended.output
    assert "was not returned" not in ended.sentence
    assert ended.sentence.endswith("Somebody has settled the run, and with it what it still held.")
    assert kept.spent == kept.committed == before


def test_a_data_set_may_be_read_by_the_token_of_an_analyst(setting: Setting) -> None:
    scene = setting(SYNTH)
    kept = Kept(scene)
    with open_ledger(kept.path) as book:
        token = book.add_analyst("people", "ann", 25)
    refused = scene.run(*NAMES, EXPOST_TOKEN="0" * 64)
    scene.run(*NAMES, EXPOST_TOKEN=token)

    assert "not that of an analyst" in refused.sentence
    assert kept.found.analysts["ann"].spent == kept.spent > ROOMY.nothing


def test_the_variable_names_the_ledger(setting: Setting) -> None:
    scene = setting(SYNTH)
    kept = Kept(scene)
    told = begun(
        scene.nursery, scene.here, *SYNTH.words, "--out", "one", "--dataset", "people", EXPOST_LEDGER="ledger.db"
    ).end()

    assert "people: nothing is spent yet" in told.output
    assert kept.spent == billed(scene.here / "one", ROOMY)
