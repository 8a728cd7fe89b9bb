"""However a run is ended, nothing of the user's is lost, ε is stated, and what was paid for is kept where it can be.

Every phase of every job is tried with SIGKILL and SIGTERM. The program answers SIGINT and SIGHUP by the same few lines
as SIGTERM, whatever the job, so that those are tried in every phase of one job, and in what the other has of its own.
"""

import os
import re
import signal
from dataclasses import dataclass
from typing import final

import pytest

from expost.folders.claim import Claim
from expost.terminal import ending
from expost.terminal.ending import ENDINGS
from tests.faults.conftest import Setting
from tests.faults.jobs import ASK, FINETUNE, JOBS, SYNTH, Job
from tests.faults.processes import ROOT, Ended, Scene
from tests.unit.commands import PLEDGED

NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "cut off from its terminal"}

FREE = ("claiming", "claimed", "reading")
"""Phases in which nothing is spent."""
SPENDING = {
    SYNTH: ("opening 1", "billing", "rung 1", "fitting", "checking", "showing", "between rungs"),
    FINETUNE: ("rung 1", "training", "billing", "checking", "showing", "between rungs"),
    ASK: ("rung 1", "billing"),
}
"""Phases in which the first rung is on the bill."""
WRITING = ("receipt written", "writing", "all written", "exchanging")
"""Phases of a release that is not in its place yet."""
WRITTEN = ("exchanged", "delivered")
"""Phases of one that is, with the journal still beside it."""
OWN = {SYNTH: None, FINETUNE: ("reading", "rung 1", "training", "writing"), ASK: ("reading", "rung 1", "writing")}
"""Phases in which a job runs code that no other does, if it is to be tried in those alone."""


@final
@dataclass(frozen=True)
class Case:
    """A signal for a job in a phase."""

    job: Job
    phase: str
    number: signal.Signals

    def __str__(self) -> str:
        return f"{self.job.name}-{self.phase}-{self.number.name}"


def cases(phases: dict[Job, tuple[str, ...]], *numbers: signal.Signals) -> list[Case]:
    """All of them, but for those that would try the same lines again."""
    return [
        Case(job, phase, number)
        for job in JOBS
        for phase in phases[job]
        for number in numbers
        if number in (signal.SIGKILL, signal.SIGTERM) or (own := OWN[job]) is None or phase in own
    ]


def every(*phases: str) -> dict[Job, tuple[str, ...]]:
    """The same phases of every job."""
    return dict.fromkeys(JOBS, phases)


def ended(case: Case, setting: Setting) -> tuple[Scene, Ended]:
    """How the run ended, with nothing lost."""
    scene = setting(case.job)
    end = scene.stopped(case.number, case.phase)
    scene.require_nothing_lost()
    return scene, end


@pytest.mark.parametrize("case", cases(SPENDING, *NAMES), ids=str)
def test_a_signal_in_mid_run_ends_it_with_the_price_on_screen_and_in_the_journal(case: Case, setting: Setting) -> None:
    scene, end = ended(case, setting)

    told = f"nothing was written, and ε = {case.job.first()} is spent, as out.journal says."
    assert end.sentence == f"expost: {NAMES[case.number]}; {told}"
    assert (end.status, end.journal) == (128 + case.number, case.job.first())
    assert PLEDGED.match(end.output)
    assert scene.is_old()
    assert scene.left == {"out.journal"}


@pytest.mark.parametrize("case", cases(every(*FREE, "noting"), *NAMES), ids=str)
def test_a_signal_before_the_first_step_costs_nothing_and_leaves_nothing(case: Case, setting: Setting) -> None:
    """A hold that is only half in the journal is taken back: no data was opened on it."""
    scene, end = ended(case, setting)

    assert end.sentence == f"expost: {NAMES[case.number]}; nothing was written, and ε = 0 is spent."
    assert end.status == 128 + case.number
    assert PLEDGED.fullmatch(end.output)
    assert scene.is_old()
    assert scene.left == set()


@pytest.mark.parametrize("case", cases(every(*WRITING, *WRITTEN, "given up"), *NAMES), ids=str)
def test_a_signal_while_files_are_written_waits_until_the_release_is_whole(case: Case, setting: Setting) -> None:
    scene, end = ended(case, setting)

    told = f"the release is in out, and ε = {case.job.first()} is spent."
    assert end.sentence == f"expost: {NAMES[case.number]}; {told}"
    assert end.status == 128 + case.number
    assert not scene.is_old()
    assert scene.left == set()


@pytest.mark.parametrize("case", cases(every("telling"), *NAMES), ids=str)
def test_a_signal_while_the_end_is_told_does_not_cut_it_short(case: Case, setting: Setting) -> None:
    scene, end = ended(case, setting)

    assert (end.status, end.errors) == (0, "")
    assert end.output.endswith("\nWritten to out/\n")
    assert not scene.is_old()
    assert scene.left == set()


@pytest.mark.parametrize("case", cases(every("beginning"), *NAMES), ids=str)
def test_a_signal_before_there_is_a_claim_ends_a_process_that_has_done_nothing(case: Case, setting: Setting) -> None:
    """SIGTERM and SIGHUP are the system's until then; a shell says 128 and their number too."""
    scene, end = ended(case, setting)

    interrupted = (128 + signal.SIGINT, "\nexpost: interrupted.\n")
    assert (end.status, end.errors) == (interrupted if case.number == signal.SIGINT else (-case.number, ""))
    assert end.output == ""
    assert scene.is_old()
    assert scene.left == set()


def killed(case: Case, setting: Setting) -> tuple[Scene, str | None]:
    """What is left of a run that was killed, which the next one clears, and what its journal states."""
    scene, end = ended(case, setting)
    assert end.status == -signal.SIGKILL
    assert end.errors == ""
    stated = end.journal
    with Claim(scene.here / "out", overwrite=True):
        pass
    scene.require_nothing_lost()
    return scene, stated


@pytest.mark.parametrize("case", cases(every("beginning", *FREE, "noting"), signal.SIGKILL), ids=str)
def test_a_run_that_is_killed_before_it_spends_leaves_a_journal_that_says_nothing(case: Case, setting: Setting) -> None:
    scene, stated = killed(case, setting)

    assert stated == (None if case.phase == "beginning" else "0")
    assert scene.is_old()
    assert scene.left == set()


def test_a_run_that_is_killed_before_the_first_line_of_its_journal_does_not_stop_the_next(setting: Setting) -> None:
    scene = setting(SYNTH)

    end = scene.stopped(signal.SIGKILL, "journal made")
    left = (scene.here / "out.journal").read_bytes()
    with Claim(scene.here / "out", overwrite=True):
        pass

    assert (end.status, left) == (-signal.SIGKILL, b"")
    scene.require_nothing_lost()
    assert scene.is_old()
    assert scene.left == set()


SPENT = {job: (*SPENDING[job], *WRITING) for job in JOBS}


@pytest.mark.parametrize("case", cases(SPENT, signal.SIGKILL), ids=str)
def test_a_run_that_is_killed_leaves_its_price_in_the_journal_and_the_old_release(case: Case, setting: Setting) -> None:
    scene, stated = killed(case, setting)

    assert stated == case.job.first()
    assert scene.is_old()
    assert scene.left == {"out-1.journal"}


@pytest.mark.parametrize("case", cases(every(*WRITTEN, "given up", "telling"), signal.SIGKILL), ids=str)
def test_a_run_that_is_killed_when_its_release_is_in_place_has_released_it(case: Case, setting: Setting) -> None:
    scene, stated = killed(case, setting)

    assert stated == (case.job.first() if case.phase in WRITTEN else None)
    assert not scene.is_old()
    assert scene.left == ({"out-1.journal"} if case.phase in WRITTEN else set())


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_second_signal_while_files_are_written_does_not_wait_and_leaves_the_old_release(
    job: Job, setting: Setting
) -> None:
    scene = setting(job)
    running = scene.halted("writing", "hearing")

    running.hear(signal.SIGTERM)
    os.kill(running.process.pid, signal.SIGINT)
    end = running.end()

    told = f"nothing was written, and ε = {job.first()} is spent, as out.journal says."
    assert end.sentence == f"expost: terminated; {told}"
    assert (end.status, end.journal) == (128 + signal.SIGTERM, job.first())
    assert scene.is_old()
    assert scene.left == {"out.journal"}


def test_a_process_that_does_not_heed_the_signal_says_nothing(setting: Setting) -> None:
    """The same run without our handlers: what the tests above would notice."""
    scene = setting(SYNTH)

    end = scene.stopped(signal.SIGTERM, "rung 1", "deaf")

    assert (end.status, end.errors) == (-signal.SIGTERM, "")
    assert end.journal == SYNTH.first()


def test_a_killed_run_whose_journal_is_not_on_the_disk_says_nothing(setting: Setting) -> None:
    """The same run with a journal in memory alone: what the tests above would notice."""
    scene = setting(SYNTH)

    end = scene.stopped(signal.SIGKILL, "rung 1", "forgetful")

    assert (end.status, end.errors) == (-signal.SIGKILL, "")
    assert (scene.here / "out.journal").read_text(encoding="utf-8") == ""


def test_where_folders_cannot_be_exchanged_a_signal_waits_for_the_renames(setting: Setting) -> None:
    scene = setting(SYNTH)

    end = scene.stopped(signal.SIGTERM, "unable to exchange", "exchanging")

    assert end.status == 128 + signal.SIGTERM
    assert not scene.is_old()
    scene.require_nothing_lost()
    assert scene.left == set()


def test_the_manual_has_a_line_for_every_exit_status_and_no_other() -> None:
    manual = (ROOT / "docs/data-steward.md").read_text(encoding="utf-8")

    rows = re.findall(r"^\| ([0-9, ]+) \|", manual.partition("| exit status |")[2].partition("\n\n")[0], re.MULTILINE)

    listed = sorted(int(number) for row in rows for number in row.split(","))
    plain = (ending.REACHED, ending.NOT_SHOWN, ending.REFUSED, ending.NOT_REACHED, ending.FAILED)
    assert listed == sorted([*plain, *(ending.BY_SIGNAL + number for number in ENDINGS)])
