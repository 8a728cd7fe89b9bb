"""What cannot be shown is left out or spelled out, and never ends a run."""

import io
import sys

import pytest

from expost.terminal.steady import Steady, spelled, steady_streams


class Broken(io.StringIO):
    """A device that takes nothing."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "ε = 1 ± 2 … Rényi ∞"),
        ("cp1252", "epsilon = 1 ± 2 … Rényi infinity"),
        ("ascii", "epsilon = 1 +/- 2 ... Renyi infinity"),
    ],
)
def test_what_an_encoding_lacks_is_spelled_out(encoding: str, shown: str) -> None:
    device = io.BytesIO()
    stream = Steady(io.TextIOWrapper(device, encoding=encoding))

    stream.write("ε = 1 ± 2 … Rényi ∞")
    stream.flush()

    assert device.getvalue().decode(encoding) == shown
    assert spelled("ε = 1 ± 2 … Rényi ∞", encoding) == shown
    assert not stream.lost


def test_a_letter_without_a_spelling_is_a_question_mark() -> None:
    assert spelled("漢\udc80", "ascii") == "??"


@pytest.mark.parametrize("stream", [Broken(), io.StringIO()])
def test_a_device_that_fails_or_is_closed_is_given_up(stream: io.StringIO) -> None:
    if not isinstance(stream, Broken):
        stream.close()
    steady = Steady(stream)

    steady.write("a")
    steady.write("b")
    steady.flush()

    assert steady.lost
    assert not steady.isatty()


def test_the_streams_are_put_back() -> None:
    former = sys.stdout, sys.stderr

    with steady_streams():
        assert isinstance(sys.stdout, Steady)

    assert (sys.stdout, sys.stderr) == former
