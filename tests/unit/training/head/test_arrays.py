"""Where training computes: what is put comes back, and a device that is not there is refused by name."""

import numpy as np
import pytest

from expost.errors import InvalidValue, NotInstalled
from expost.noise import Floats, SeededNoise
from expost.training.head import arrays as module
from expost.training.head.arrays import (
    LARGEST_ENTRY,
    LARGEST_FACTOR,
    LIMB,
    TALLEST,
    WIDEST,
    Arrays,
    InNumpy,
    InTorch,
    on,
)
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


def whole_numbers(rows: int, width: int) -> tuple[Floats, Floats]:
    """Factors and entries of any size that is allowed, the largest of both together among them."""
    noise = SeededNoise(rows)
    factors = np.round((2 * noise.uniform((3, rows)) - 1) * LARGEST_FACTOR)
    entries = np.round((2 * noise.uniform((rows, width)) - 1) * LARGEST_ENTRY)
    factors[0], entries[:, 0] = LARGEST_FACTOR, LARGEST_ENTRY
    factors[1], entries[:, 1] = LARGEST_FACTOR - LIMB // 2 - 1, LARGEST_ENTRY - 1
    factors[2, ::2], factors[2, 1::2] = 3 * LIMB * LIMB // 8 - 1, 0
    entries[:1, 1] -= 1  # sums that are rounded in whatever order they are added: they are odd, or twice an odd number
    return factors, entries


@EACH
@pytest.mark.parametrize("rows", [0, 1, TALLEST - 1, TALLEST, TALLEST + 1, 5 * TALLEST + 3])
def test_whole_numbers_are_weighted_without_rounding(device: str | None, rows: int) -> None:
    arrays, (factors, entries) = on(device), whole_numbers(rows, 40)
    kept = arrays.functions.asarray(arrays.put(entries), dtype=arrays.kept(40))

    found = arrays.get(arrays.weighted_exactly(arrays.put(factors), kept))

    assert found.dtype == np.float64
    assert np.array_equal(found, factors.astype(np.int64) @ entries.astype(np.int64))


def test_numpy_takes_single_precision_for_that_unless_rows_are_wide() -> None:
    assert [InNumpy().whole(width) for width in (1, WIDEST, WIDEST + 1)] == [np.float32, np.float32, np.float64]


def test_numpy_keeps_whole_numbers_in_two_bytes_which_hold_the_largest_entry() -> None:
    """And in one it could not, as the negative twin says."""
    assert np.iinfo(InNumpy().kept(40)).max >= LARGEST_ENTRY > np.iinfo(np.int8).max
    assert InNumpy().kept(WIDEST + 1).itemsize == 2


def test_torch_takes_double_precision_which_no_setting_of_its_shortens() -> None:
    assert str(on("cpu").whole(1)) == "torch.float64"


def test_quotients_and_remainders_of_the_tallest_strip_fill_single_precision() -> None:
    """2**24 and no more."""
    assert LARGEST_FACTOR // LIMB * LARGEST_ENTRY * TALLEST == 2**24
    assert LIMB // 2 <= LARGEST_FACTOR // LIMB


@pytest.mark.parametrize(("name", "value"), [("LIMB", 2**3), ("LIMB", 2**8), ("TALLEST", 4 * TALLEST)])
def test_other_limbs_and_taller_strips_would_be_rounded(name: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative twins."""
    factors, entries = whole_numbers(4 * TALLEST, 40)
    monkeypatch.setattr(module, name, value)

    found = InNumpy().weighted_exactly(factors, entries.astype(np.float32))

    assert not np.array_equal(found, factors.astype(np.int64) @ entries.astype(np.int64))


def test_where_single_precision_rounds_products_double_precision_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where hardware multiplies single floats by their first bits alone."""
    monkeypatch.setattr(module, "_exact_in_single", lambda: False)
    factors, entries = whole_numbers(100, 40)

    kept = entries.astype(InNumpy().kept(40))

    assert InNumpy().whole(40) == np.float64
    assert np.array_equal(
        InNumpy().weighted_exactly(factors, kept), factors.astype(np.int64) @ entries.astype(np.int64)
    )


def test_single_precision_is_tried_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product of 10 bits an entry, as tensor cores have it, is noticed."""

    def first_bits(array: Floats) -> Floats:
        significand, exponent = np.frexp(array)
        return np.ldexp(np.round(significand * 2**11) / 2**11, exponent)

    assert module._exact_in_single.__wrapped__(np.matmul)
    assert not module._exact_in_single.__wrapped__(lambda a, b: np.matmul(first_bits(a), first_bits(b)))
