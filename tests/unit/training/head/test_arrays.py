"""Where training computes: what is put comes back, and a device that is not there is refused by name."""

import numpy as np
import pytest

from expost.errors import InvalidValue, NotInstalled
from expost.training.head.arrays import Arrays, InNumpy, InTorch, on
from tests.unit.examples import one_sentence

EACH = pytest.mark.parametrize("device", [None, "cpu"])


def test_no_device_means_numpy() -> None:
    assert isinstance(on(None), InNumpy)


def test_a_device_means_torch_and_goes_on_record() -> None:
    arrays = on("cpu")

    assert isinstance(arrays, InTorch)
    assert (on(None).name, arrays.name) == ("numpy", "torch on cpu")


@EACH
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_what_is_put_comes_back_as_it_was(device: str | None, kind: type[np.generic]) -> None:
    array, arrays = np.arange(6).reshape(2, 3).astype(kind), on(device)

    back = arrays.get(arrays.put(array))

    assert np.array_equal(back, array)
    assert back.dtype == array.dtype


@EACH
def test_what_came_back_is_a_copy(device: str | None) -> None:
    arrays = on(device)
    put = arrays.put(np.zeros(3))
    back = arrays.get(put)

    put += 1

    assert not back.any()


@EACH
def test_transposed_arrays_can_be_put(device: str | None) -> None:
    array, arrays = np.arange(6).reshape(2, 3).T, on(device)

    assert np.array_equal(arrays.get(arrays.put(array)), array)


def computed(arrays: Arrays) -> list[float]:
    """Each function that training calls, on the same numbers."""
    xp, table = arrays.functions, arrays.put(np.array([[0.25, 2.5, -1.5], [np.nan, 4.0, 9.0]]))
    rows = xp.nan_to_num(table)
    results = [
        xp.exp(rows),
        xp.sqrt(xp.clip(rows, 1.0, None)),
        xp.round(rows),
        xp.amax(rows, axis=1, keepdims=True),
        xp.where(rows <= 2.5, rows, 0.0),
        (rows * rows).sum(axis=1, keepdims=True),
    ]
    return [float(entry) for result in results for entry in arrays.get(result).ravel()]


def test_both_libraries_compute_the_same() -> None:
    """Halves are rounded to even by both."""
    assert computed(on("cpu")) == pytest.approx(computed(InNumpy()), rel=1e-15)


@pytest.mark.parametrize("device", ["cuda:99", "a toaster"])
def test_a_device_that_is_not_there_is_refused(device: str) -> None:
    with pytest.raises(InvalidValue, match=f"there is no device {device} here") as refused:
        on(device)

    assert one_sentence(refused.value)


def test_a_device_without_torch_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(NotInstalled, match=r"install expost\[training\]") as refused:
        on("cpu")

    assert one_sentence(refused.value)
