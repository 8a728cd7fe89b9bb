"""A step that fails with private data in hand shows nothing of it, and stays billed in full."""

import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Event
from typing import NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

from expost.accounting.claim import NOTHING, Budget
from expost.accounting.pledge import FixedOrder
from expost.baselines import ReducedAboveThreshold, RenyiReducedAboveThreshold
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import CentredSum, PublicCount, Question
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import ExpostError, MechanismFailed
from expost.ladder import Ladder
from expost.ledger import MemoryLedger
from expost.mechanisms.brownian import Brownian
from expost.mechanisms.exponential import Exponential
from expost.mechanisms.gaussian import FloatGaussian, Gaussian
from expost.mechanisms.laplace import FloatLaplace, Laplace
from expost.mechanisms.laplace_path import IntegerPath
from expost.mechanisms.noise_reduction import NoiseReduction
from expost.noise import Floats, Integers, SystemNoise
from expost.odometer import Odometer
from expost.private import Private, Split, split
from expost.protocols import Check, Inquiry, Mechanism
from expost.release import Past
from expost.search import search
from expost.statistic import Statistic, bounded_sum, histogram
from tests.unit.examples import ADD, Says, budget, released

CANARY = 424242424242
DATA = Private(np.array([CANARY, 1, 2]))
SYSTEM = SystemNoise()
ONE = Fraction(1)
TRAINED = released(0, 1).spent


def raises(data: Integers) -> NoReturn:
    """Fail with the records in the message."""
    raise ValueError(f"cannot make sense of {data.tolist()}")


def raises_chained(data: Integers) -> NoReturn:
    """Fail with the records in the cause of the cause."""
    try:
        raises(data)
    except ValueError as cause:
        raise RuntimeError("as before") from cause


def raises_noted(data: Integers) -> NoReturn:
    """Fail with the records in a note and in the arguments."""
    error = KeyError(data.tolist())
    error.add_note(f"while looking at {data.tolist()}")
    raise error


def raises_group(data: Integers) -> NoReturn:
    """Fail in several ways at once."""
    raise ExceptionGroup("several", [ValueError(data.tolist()), KeyError(int(data[0]))])


def raises_by_itself(data: Integers) -> NoReturn:
    """Fail in a library that prints what it was given."""
    int("x" + str(data[0]))
    raise AssertionError


WAYS: list[Callable[[Integers], NoReturn]] = [raises, raises_chained, raises_noted, raises_group, raises_by_itself]


def broken(way: Callable[[Integers], NoReturn]) -> Statistic[Integers]:
    """A statistic that fails."""
    return Statistic(way, (3,), ONE, ONE, ADD)


def mechanisms(way: Callable[[Integers], NoReturn]) -> Iterator[Mechanism[Integers, object]]:
    """Every mechanism over something that fails this way."""
    yield Says(0, way)
    yield Gaussian(broken(way))
    yield Laplace(broken(way))
    yield Gaussian(histogram(way, 3, ADD))
    yield Gaussian(bounded_sum(way, 1, ADD, clip=1, spacing=1))
    yield NoiseReduction(broken(way), IntegerPath())
    yield FloatGaussian(way, (1,), 1.0, ADD)
    yield FloatLaplace(way, (1,), 1.0, ADD)
    yield Exponential(way, 2, ONE, ADD)
    yield Brownian(Gaussian(broken(way)))  # type: ignore[misc] # its past is never looked at


def questions(way: Callable[[Integers], NoReturn]) -> Iterator[Question[Integers, int]]:
    """Every question with a score that fails this way."""
    yield CentredSum(lambda candidate, held: way(held), Fraction(1, 2), ADD)
    yield PublicCount(lambda candidate, held: way(held), Fraction(1, 2), 3, ADD)


def checks(way: Callable[[Integers], NoReturn]) -> Iterator[Check[Integers, int]]:
    """Every check over something that fails this way."""
    for question in questions(way):
        yield GaussianCheck(question, budget(1), 2, None)
        yield BalancedCheck(question, None)
        yield SparseVectorCheck(question, ONE, ONE, None)
        yield ReducedAboveThreshold(question, (ONE, ONE + ONE))
        yield RenyiReducedAboveThreshold(question, (budget(1), budget(2)))


def shown(error: BaseException | None) -> str:
    """All that a log, a debugger or a report with local variables could print about the error."""
    if error is None:
        return ""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next  # the caller's own frames, which may well know the canary
    report = traceback.TracebackException(type(error), error, trace, capture_locals=True)
    own = "".join(report.format()) + repr(error.args) + repr(getattr(error, "__notes__", ()))
    return own + shown(error.__cause__) + shown(error.__context__)


def failed(odometer: Odometer, mechanism: Mechanism[Integers, object], price: Budget) -> MechanismFailed:
    """The error of the failed step."""
    with pytest.raises(MechanismFailed) as error:
        odometer.spend(mechanism, DATA, price, Past(), SYSTEM)
    return error.value


def failed_check(odometer: Odometer, check: Check[Integers, int]) -> MechanismFailed:
    """The error of the failed question."""
    with pytest.raises(MechanismFailed) as error:
        odometer.ask(Inquiry(check), DATA, released(0, 1), trained=TRAINED, noise=SYSTEM)
    return error.value


Fresh = Callable[[], Mechanism[Integers, object]]


def named(way: Callable[[Integers], NoReturn]) -> dict[str, Fresh]:
    """Each mechanism under its name, made anew when it is needed: some stay with the odometer they began in."""
    kinds = [type(each).__name__ for each in mechanisms(way)]
    return {
        f"{kind} {place} {way.__name__}": lambda place=place: list(mechanisms(way))[place]  # type: ignore[misc] # a default binds the place
        for place, kind in enumerate(kinds)
    }


STEPS = {name: fresh for way in WAYS for name, fresh in named(way).items()}
CHECKS = [each for way in WAYS for each in checks(way)]


@pytest.mark.parametrize("fresh", STEPS.values(), ids=STEPS)
def test_a_failed_mechanism_shows_nothing_of_the_data(fresh: Fresh) -> None:
    assert str(CANARY) not in shown(failed(Odometer(), fresh(), budget(1)))


@pytest.mark.parametrize("check", CHECKS, ids=lambda each: each.name)
def test_a_failed_check_shows_nothing_of_the_data(check: Check[Integers, int]) -> None:
    assert str(CANARY) not in shown(failed_check(Odometer(), check))


@pytest.mark.parametrize("way", WAYS, ids=lambda each: each.__name__)
def test_the_canary_would_be_seen_if_it_were_there(way: Callable[[Integers], NoReturn]) -> None:
    with pytest.raises((ValueError, RuntimeError, KeyError, ExceptionGroup)) as error:
        way(np.array([CANARY]))

    assert str(CANARY) in shown(error.value)


@pytest.mark.parametrize("fresh", named(raises).values(), ids=named(raises))
def test_a_failed_mechanism_stays_billed_in_full(fresh: Fresh) -> None:
    odometer = Odometer()

    failed(odometer, fresh(), budget(1))

    assert odometer.spent == fresh().promise(budget(1)).as_spent()


@pytest.mark.parametrize("check", CHECKS[:10], ids=lambda each: each.name)
def test_a_failed_check_stays_billed_in_full(check: Check[Integers, int]) -> None:
    odometer = Odometer()

    failed_check(odometer, check)

    price = check.price(0, TRAINED, NOTHING.as_spent())
    assert odometer.spent == price.passed.beside(price.failed).as_spent()


def test_a_failed_step_stays_held_on_record() -> None:
    memory = MemoryLedger()

    failed(Odometer(ledger=memory), Says(0, raises), budget(1))

    assert [hold.promise for hold in memory.held] == [Says(0).promise(budget(1))]
    assert memory.lines == ()


def test_a_failed_step_is_billed_beside_those_that_follow() -> None:
    odometer = Odometer()
    failed(odometer, Says(0, raises), budget(1))

    odometer.spend(Says(0), DATA, budget(2), Past(), SYSTEM)

    assert odometer.spent.at(20) == 3.0


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_step_stays_billed_and_held(interrupt: type[BaseException]) -> None:
    memory = MemoryLedger()
    odometer = Odometer(ledger=memory)

    def interrupted(data: Integers) -> NoReturn:
        raise interrupt

    with pytest.raises(interrupt):
        odometer.spend(Says(0, interrupted), DATA, budget(1), Past(), SYSTEM)

    assert odometer.spent.at(20) == memory.spent.at(20) == 1.0
    assert len(memory.held) == 1


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_step_shows_nothing_of_the_data(interrupt: type[BaseException]) -> None:
    def interrupted(data: Integers) -> NoReturn:
        raise interrupt(data.tolist())

    with pytest.raises(interrupt) as error:
        Odometer().spend(Says(0, interrupted), DATA, budget(1), Past(), SYSTEM)

    assert str(CANARY) not in shown(error.value)


def test_a_search_that_fails_shows_nothing_of_the_data() -> None:
    parts = Split.from_parts(DATA, Private(np.array([1])), because="two hospitals")
    check = next(checks(raises))

    with pytest.raises(MechanismFailed) as error:
        search(
            parts,
            Says(0, raises),
            Ladder.of([1, 2], alpha=20),
            lambda values: 0,
            check,
            noise=SYSTEM,
            odometer=Odometer(),
        )

    assert str(CANARY) not in shown(error.value)


def test_a_failure_says_what_is_spent_with_the_failed_step_in_full() -> None:
    pledge = FixedOrder.at(20, 1e-5)
    odometer = Odometer(pledge=pledge)
    odometer.spend(Says(0, len), DATA, budget(1), Past(), SYSTEM)
    before = odometer.epsilon

    error = failed(odometer, Says(0, raises), budget(1))

    assert odometer.epsilon > before
    assert f"With it, ε = {odometer.epsilon:.6g} at δ = 1e-05 is spent." in str(error)
    assert error.__context__ is None


def test_a_failed_question_says_it_too_and_without_a_pledge_there_is_nothing_to_say() -> None:
    odometer = Odometer(pledge=FixedOrder.at(20, 1e-5))

    assert f"ε = {failed_epsilon(odometer):.6g} at δ" in str(failed_check(odometer, next(checks(raises))))
    assert str(failed_check(Odometer(), next(checks(raises)))).endswith("so that no ε is stated.")


def failed_epsilon(odometer: Odometer) -> float:
    """What another odometer with the same pledge states after the same question."""
    other = Odometer(pledge=odometer.pledge)
    failed_check(other, next(checks(raises)))
    return other.epsilon


def test_a_table_that_cannot_be_split_shows_nothing_of_its_records() -> None:
    class Fragile:
        """Records that fail when they are divided."""

        def __len__(self) -> int:
            return 1

        def __getitem__(self, mask: NDArray[np.bool_], /) -> "Fragile":
            raise KeyError(CANARY)

    with pytest.raises((ExpostError, KeyError)) as error:
        split(Private(Fragile()), 0.5, SYSTEM)

    assert str(CANARY) not in shown(error.value)


def test_resuming_in_the_wrong_shape_shows_nothing_of_the_data() -> None:
    two, three = (Brownian(Gaussian(histogram(lambda data: data, cells, ADD))) for cells in (2, 3))
    start = Odometer().spend(two, DATA, budget(1), Past(), SYSTEM)

    with pytest.raises(MechanismFailed) as error:
        Odometer().spend(three, DATA, budget(1), Past(start), SYSTEM)

    assert str(CANARY) not in shown(error.value)


def warns(data: Integers) -> Integers:
    """Warn with the records in the message, and divide one of them by zero."""
    warnings.warn(f"cannot make sense of {data.tolist()}", stacklevel=2)
    return np.asarray(data / np.zeros(1), dtype=np.int64)


def every_warning() -> "warnings.catch_warnings[list[warnings.WarningMessage]]":
    """A list of the warnings that come out, none of them turned into an error."""
    return warnings.catch_warnings(record=True, action="always")


def test_a_warning_would_be_seen_if_it_came_out() -> None:
    with every_warning() as seen:
        warns(np.array([CANARY]))

    assert str(CANARY) in str([warning.message for warning in seen])


def test_a_warning_in_a_mechanism_does_not_come_out() -> None:
    with every_warning() as seen:
        Odometer().spend(Says(0, warns), DATA, budget(1), Past(), SYSTEM)

    assert seen == []


@pytest.mark.parametrize("check", [GaussianCheck, BalancedCheck], ids=lambda each: each.__name__)
def test_a_warning_in_a_score_does_not_come_out(check: type) -> None:
    def score(candidate: int, held: Integers) -> Floats:
        warns(held)
        return np.ones(len(held))

    question: CentredSum[Integers, int] = CentredSum(score, Fraction(1, 2), ADD)
    chosen = check(question, None) if check is BalancedCheck else check(question, budget(1), 2, None)

    with every_warning() as seen:
        Odometer().ask(Inquiry(chosen), DATA, released(0, 1), trained=TRAINED, noise=SYSTEM)

    assert seen == []


def test_a_warning_in_a_table_does_not_come_out_of_a_split() -> None:
    class Noisy:
        """Records that warn when they are divided."""

        def __len__(self) -> int:
            return 1

        def __getitem__(self, mask: NDArray[np.bool_], /) -> "Noisy":
            warns(np.array([CANARY]))
            return self

    with every_warning() as seen:
        split(Private(Noisy()), 0.5, SYSTEM)

    assert seen == []


def test_arithmetic_that_the_caller_made_an_error_is_none_with_data_open() -> None:
    """Whether a record divides by zero must not decide whether the step fails."""
    with np.errstate(all="raise"):
        release = Odometer().spend(Says(0, warns), DATA, budget(1), Past(), SYSTEM)

    assert release.value == 0


def test_warnings_are_as_loud_as_before_once_the_step_is_over() -> None:
    with every_warning() as seen:
        Odometer().spend(Says(0, warns), DATA, budget(1), Past(), SYSTEM)
        warnings.warn("after the step", stacklevel=1)

    assert [str(warning.message) for warning in seen] == ["after the step"]


def test_a_warning_does_not_come_out_because_another_thread_has_finished() -> None:
    """Two odometers at once: the first to finish must not make the other loud again."""
    first_began, other_began, first_ended = Event(), Event(), Event()

    def waits(data: Integers) -> None:
        first_began.set()
        other_began.wait(2)

    def warns_late(data: Integers) -> None:
        other_began.set()
        first_ended.wait(2)
        warns(data)

    with every_warning() as seen, ThreadPoolExecutor(2) as pool:
        first = pool.submit(Odometer().spend, Says(0, waits), DATA, budget(1), Past(), SYSTEM)
        first_began.wait(2)
        other = pool.submit(Odometer().spend, Says(0, warns_late), DATA, budget(1), Past(), SYSTEM)
        first.result()
        first_ended.set()
        other.result()
        warnings.warn("after both steps", stacklevel=1)

    assert [str(warning.message) for warning in seen] == ["after both steps"]
