"""Whatever a run meets, nothing of the user's is lost, ε is stated, and what was paid for is kept where it can be.

The parts of the program that meet these faults are the same for every job, but for what writes the product: each is
tried with every job all the same, unless only the operating system could tell the two apart.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import Setting
from tests.faults.jobs import ASK, JOBS, SYNTH, Job
from tests.faults.processes import Ended, Scene, closed_pipe, full_device

every_job = pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)


def require_released(scene: Scene) -> None:
    """A new release is in the place of the old one, and nothing is left beside it."""
    assert not scene.is_old()
    scene.require_nothing_lost()
    assert scene.left == set()


@every_job
@pytest.mark.parametrize("words", [(), ("--json",)], ids=["words", "json"])
@pytest.mark.parametrize("device", [closed_pipe, full_device])
def test_a_run_whose_output_goes_nowhere_keeps_its_release(
    device: Callable[[], int], words: tuple[str, ...], job: Job, setting: Setting
) -> None:
    scene, stream = setting(job), device()

    running = scene.begin(*words, streams=(stream, stream))
    os.close(stream)

    assert running.end().status == 0
    require_released(scene)


@every_job
def test_a_run_whose_streams_are_closed_from_the_start_keeps_its_release(job: Job, setting: Setting) -> None:
    scene = setting(job)

    end = scene.run(wrapped=("sh", "-c", 'exec "$@" >&- 2>&-', "sh"))

    assert end.status == 0
    require_released(scene)


@every_job
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_greek_is_told_in_letters_that_it_has(encoding: str, job: Job, setting: Setting) -> None:
    scene = setting(job)

    end = scene.begin(PYTHONIOENCODING=encoding).end(encoding)

    assert (end.status, end.errors) == (0, "")
    assert ("This costs epsilon = " if job is ASK else "  epsilon so far: ") in end.output
    assert " This cost epsilon = " in " ".join(end.output.split())
    require_released(scene)


def require_stated(end: Ended, scene: Scene) -> str:
    """What is on the error stream, after the reason, if a run that wrote nothing says what it spent."""
    assert end.journal == scene.job.first()
    assert scene.is_old()
    scene.require_nothing_lost()
    assert scene.left == {"out.journal"}
    return f"nothing was written, and ε = {scene.job.first()} is spent, as out.journal says."


@every_job
def test_memory_that_runs_out_is_told_with_what_was_spent(job: Job, setting: Setting) -> None:
    scene = setting(job)

    end = scene.run(names=(job.exhausted,))

    assert end.status == 4
    assert end.sentence == f"expost: memory ran out; {require_stated(end, scene)}"


@every_job
def test_a_step_that_fails_with_data_open_is_told_with_what_was_spent_once(job: Job, setting: Setting) -> None:
    scene = setting(job)

    end = scene.run(names=("a step fails",))

    assert end.status == 2
    assert "a private value" not in end.errors
    assert end.sentence.count("ε = ") == 1
    assert end.sentence.endswith(" is spent. The journal out.journal says so too.")
    require_stated(end, scene)


@every_job
def test_a_fault_of_ours_is_told_with_what_was_spent_and_keeps_its_traceback(job: Job, setting: Setting) -> None:
    scene = setting(job)

    end = scene.run(names=("a fault of ours",))

    assert end.status == 1
    assert end.errors.startswith(f"expost: the run failed; {require_stated(end, scene)}\nTraceback")


LARGER = {"synth": 16000, "finetune": 25000, "ask": 16000}
"""Bytes that a journal fits into, and a receipt or report does not."""


@every_job
def test_a_disk_that_is_full_everywhere_leaves_the_journal(job: Job, setting: Setting) -> None:
    scene = setting(job)

    end = scene.run(largest=LARGER[job.name])

    assert end.status == 4
    assert "could not be written (File too large); " in end.sentence
    assert end.sentence.endswith(require_stated(end, scene))


@every_job
def test_a_disk_that_is_full_before_anything_is_spent_costs_nothing(job: Job, setting: Setting) -> None:
    scene = setting(job)

    end = scene.run(largest=100)

    assert end.status == 4
    assert end.sentence.endswith("; nothing was written, and ε = 0 is spent.")
    assert scene.is_old()
    scene.require_nothing_lost()
    assert scene.left == set()


def elsewhere(end: Ended) -> Path:
    """The folder that a release went to because it could not go to its own."""
    assert end.status == 4
    (found,) = (end.here / "temporary").glob("expost-*/out")
    assert f"; the release is in {found}, and ε = " in end.sentence
    return found


@every_job
def test_a_disk_that_is_full_in_this_place_sends_the_release_elsewhere(job: Job, setting: Setting) -> None:
    scene = setting(job)

    end = scene.run(names=("the disk is full",))

    assert "out could not be written (No space left on device); " in end.sentence
    scene.require_whole(elsewhere(end))
    assert scene.is_old()
    scene.require_nothing_lost()
    assert scene.left == set()


@every_job
def test_of_two_runs_into_one_folder_the_second_is_refused_and_the_first_ends_well(job: Job, setting: Setting) -> None:
    scene = setting(job)
    running = scene.halted("rung 1")

    second = scene.begin(out="missing/../out").outcome()
    first = running.end()

    assert (second.status, second.output) == (2, "")
    assert second.sentence.startswith("expost: another run is making missing/../out; ")
    assert (first.status, first.errors) == (0, "")
    require_released(scene)


@every_job
def test_a_folder_that_vanishes_in_mid_run_is_made_again(job: Job, setting: Setting) -> None:
    scene = setting(job)
    running = scene.halted("rung 1", out="inner/out")
    shutil.rmtree(scene.here / "inner")

    end = running.end()

    assert (end.status, end.errors) == (0, "")
    scene.require_whole(scene.here / "inner/out")
    assert {path.name for path in (scene.here / "inner").iterdir()} == {"out"}


@every_job
def test_a_release_whose_place_was_taken_in_mid_run_goes_elsewhere(job: Job, setting: Setting) -> None:
    scene = setting(job)
    running = scene.halted("rung 1", out="inner/out")
    shutil.rmtree(scene.here / "inner")
    (scene.here / "inner").write_text("kept", encoding="utf-8")

    end = running.end()

    scene.require_whole(elsewhere(end))
    assert (scene.here / "inner").read_text(encoding="utf-8") == "kept"


@pytest.fixture
def inner(tmp_path: Path) -> Iterator[Path]:
    """A folder that a test makes read-only."""
    (tmp_path / "inner").mkdir()
    yield tmp_path / "inner"
    (tmp_path / "inner").chmod(0o755)


@every_job
def test_a_folder_that_is_read_only_is_refused_before_anything_is_spent(
    job: Job, inner: Path, setting: Setting
) -> None:
    scene = setting(job)
    inner.chmod(0o555)

    end = scene.run(out="inner/out", unprivileged=True)

    require_refused(end, scene, "is not a folder to write to")
    assert list(inner.iterdir()) == []


@every_job
def test_a_folder_that_becomes_read_only_in_mid_run_sends_the_release_elsewhere(
    job: Job, inner: Path, setting: Setting
) -> None:
    scene = setting(job)
    running = scene.halted("rung 1", out="inner/out", unprivileged=True)
    inner.chmod(0o555)

    end = running.end()

    assert "inner/out could not be written (Permission denied); " in end.sentence
    scene.require_whole(elsewhere(end))
    assert {path.name for path in inner.iterdir()} == {"out.journal"}


def require_refused(end: Ended, scene: Scene, told: str) -> None:
    """Nothing is read, spent or changed."""
    assert (end.status, end.output) == (2, "")
    assert told in end.sentence
    assert scene.is_old()
    scene.require_nothing_lost()
    assert scene.left <= {"inner", "disk"}


@every_job
@pytest.mark.parametrize(
    ("out", "told"),
    [("/", "/ is a mount point, which cannot be replaced"), ("/proc/out", "is not a folder to write to")],
)
def test_a_mount_point_and_a_system_that_takes_no_files_are_refused_before_anything_is_spent(
    out: str, told: str, job: Job, setting: Setting
) -> None:
    scene = setting(job)

    require_refused(scene.run(out=out), scene, told)


MOUNTS = (("unshare", "--user", "--map-root-user", "--mount"), ("unshare", "--mount"))
"""Ways to a file system for one process alone: for everybody, and for root where that is forbidden."""


def _able(way: tuple[str, ...]) -> bool:
    command = [*way, "mount", "-t", "tmpfs", "x", "/mnt"]
    return (
        shutil.which("unshare") is not None and not subprocess.run(command, capture_output=True, check=False).returncode
    )


WAY = next(filter(_able, MOUNTS), None)
can_mount = pytest.mark.skipif(WAY is None, reason="no file systems can be mounted here; the faults above need none")


def mounted(place: str, options: str) -> tuple[str, ...]:
    """A small file system in this place, for one process alone."""
    return (*(WAY or ()), "sh", "-c", f'mount -t tmpfs -o {options} none {place} && exec "$@"', "sh")


@can_mount
def test_a_file_system_that_is_full_sends_the_release_elsewhere(setting: Setting) -> None:
    scene = setting(SYNTH)
    (scene.here / "disk").mkdir()

    end = scene.run("--rows", "20000", out="disk/out", wrapped=mounted("disk", "size=200k"))

    scene.require_whole(elsewhere(end))
    assert scene.is_old()
    scene.require_nothing_lost()


@can_mount
@pytest.mark.parametrize(
    ("out", "options", "told"),
    [
        ("disk", "size=1m", "disk is a mount point, which cannot be replaced"),
        ("disk/out", "ro", "is not a folder to write to"),
        ("disk/a/b/out", "ro", "is not a folder to write to"),
    ],
)
def test_a_file_system_of_its_own_is_refused_if_it_is_read_only_or_the_place_itself(
    out: str, options: str, told: str, setting: Setting
) -> None:
    """Before a job is known: one is enough."""
    scene = setting(SYNTH)
    (scene.here / "disk").mkdir()

    require_refused(scene.run(out=out, wrapped=mounted("disk", options)), scene, told)
