"""Tuning: only the best passing run is shown, the cheapest wins, its bill is known, and bad plans open nothing."""

import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import optuna
import pytest

from expost.accounting.claim import NOTHING
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import FixedOrder
from expost.accounting.private_selection import SelectionBill, Statement, TruncatedNegativeBinomial
from expost.errors import (
    BudgetExceeded,
    ExpostError,
    InvalidValue,
    LedgerConflict,
    MechanismFailed,
    NotInstalled,
    NotPrivate,
    Unreadable,
)
from expost.filters import Filter
from expost.folders.journal import Journal
from expost.ledger import MemoryLedger
from expost.mechanisms import Gaussian
from expost.noise import Integers, Noise, SeededNoise, SystemNoise
from expost.odometer import Odometer
from expost.private import Private
from expost.receipts.journal import read_journal
from expost.release import Past
from expost.training.public_search import Found, search_public
from expost.training.tune import UNREAD, Selection, draw_runs, tune
from expost.training.tuned import Contest
from tests.unit.examples import REPLACE, Says, budget, counts, one_sentence, rehearsal
from tests.unit.training.tunings import CELLS, TWOS, Commonest, Scored, tuned


def test_the_cheapest_configuration_that_passes_wins_and_costs_twice_itself() -> None:
    result = tuned([Commonest("dear", 2.0), Commonest("cheap", 0.5), Scored([0.0], "blind", 1e-4)])

    assert (result.configuration, result.value) == ("cheap", 2)
    assert result.score is not None and result.score >= 0.8
    assert (result.epsilon, result.delta) == (1.0, 0.0)


def test_when_none_passes_the_dearest_configuration_is_billed() -> None:
    result = tuned([Commonest("dear", 2.0), Commonest("cheap", 0.5)], accuracy=1.5)

    assert (result.configuration, result.value, result.score) == (None, None, None)
    assert result.epsilon == 4.0


@pytest.mark.parametrize(("eta", "factor"), [(-0.5, 1.5), (0.0, 2.0), (1.0, 3.0)])
def test_the_bill_is_two_plus_eta_times_the_epsilon(eta: float, factor: float) -> None:
    assert tuned([Commonest("only", 2.0)], eta=eta, mean_runs=3).epsilon == 2.0 * factor


def test_delta_is_that_of_the_plan_whatever_is_returned() -> None:
    configurations = [Commonest("cheap", 0.5, 1e-9), Commonest("dear", 1.0, 3e-9)]
    runs = TruncatedNegativeBinomial.with_mean(20, eta=0)

    deltas = {tuned(configurations, accuracy=accuracy).delta for accuracy in (0.0, 0.8, 1.5)}

    assert deltas == {runs.met(2e-9)}
    assert runs.met(2e-9) == pytest.approx(20 * 2e-9, rel=1e-5)


def best_of(*scores: float, accuracy: float = 0.5) -> tuple[int, float] | None:
    """Which of so many runs, counted from 1, is returned, and its score."""
    runs, configuration = TruncatedNegativeBinomial.with_mean(50, eta=1), Scored(scores)
    selection = Selection((configuration,), accuracy, Fraction(1, 2), runs)
    for seed in range(1000):
        configuration.seen.clear()
        best = selection.sample(np.arange(4), UNREAD, Past(), SeededNoise(seed))
        if len(configuration.seen) == len(scores):
            return None if best is None else (best.value, best.score)
    raise AssertionError("no seed gives this number of runs")


def test_among_equal_prices_the_highest_score_wins() -> None:
    assert best_of(0.6, 0.9, 0.7) == (2, 0.9)


def test_among_equal_scores_the_earliest_run_wins() -> None:
    assert best_of(0.6, 0.9, 0.9) == (2, 0.9)


def test_a_score_equal_to_the_accuracy_passes() -> None:
    assert best_of(0.4, 0.5) == (2, 0.5)


def test_a_score_that_is_no_number_does_not_pass() -> None:
    assert best_of(math.nan, 0.6, math.nan) == (2, 0.6)
    assert best_of(math.nan) is None


def test_the_price_comes_before_the_score() -> None:
    result = tuned([Scored([1.0], "dear", 2.0), Scored([0.8], "cheap", 1.0)])

    assert result.configuration == "cheap"


def test_the_parts_are_disjoint_hold_every_record_and_are_the_same_in_every_run() -> None:
    configuration, everybody = Scored([1.0]), np.arange(1000)

    tuned([configuration], data=Private(everybody), eta=1.0)

    train, held = configuration.seen[0]
    assert sorted([*train, *held]) == everybody.tolist()
    assert 100 < len(held) < 300
    assert len(configuration.seen) > 1
    assert all(np.array_equal(train, t) and np.array_equal(held, h) for t, h in configuration.seen)


@pytest.mark.statistical
def test_the_configurations_are_drawn_evenly() -> None:
    """About 1e5 draws within five standard deviations: false alarm below 1e-6; a share 5 % off is sixteen away."""
    configurations = Scored([0.0], "one"), Scored([0.0], "other")
    runs = TruncatedNegativeBinomial.with_mean(1000, eta=1)
    selection, noise = Selection(configurations, 1.0, Fraction(1, 2), runs), SeededNoise(8)

    for _ in range(100):
        selection.sample(np.arange(2), UNREAD, Past(), noise)

    one, other = (len(each.seen) for each in configurations)
    assert one + other > 50_000
    assert abs(one - other) < 5 * math.sqrt(one + other)


@dataclass
class Counted:
    """Counts the coins that are asked of a seeded noise."""

    noise: SeededNoise
    asked: int = 0

    def coins(self, probability: Fraction, count: int) -> object:
        self.asked += count
        return self.noise.coins(probability, count)


@pytest.mark.parametrize(("eta", "mean"), [(-0.9, 50.0), (-1e-9, 100.0), (0.0, 100.0), (0.5, 100.0)])
def test_drawing_the_number_of_runs_takes_few_coins(eta: float, mean: float) -> None:
    runs, noise = TruncatedNegativeBinomial.with_mean(mean, eta=eta), Counted(SeededNoise(1))

    for _ in range(30):
        draw_runs(runs, noise)  # type: ignore[arg-type]  # it asks coins only

    assert noise.asked / 30 < 40 * mean


class Unopened(Commonest):
    """Must not be run."""

    def run(self, train: Integers, held: Integers, noise: Noise) -> tuple[int, float]:
        pytest.exit("data was opened")


PLAN = [Unopened("plan", 1.0)]


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda: tuned([]), "no configurations"),
        (lambda: tuned(PLAN, delta=0.0), "delta is 0"),
        (lambda: tuned(PLAN, delta=1.0), "delta is 1"),
        (lambda: tuned(PLAN, eta=-1.0), "eta is -1"),
        (lambda: tuned(PLAN, eta=1.5), "eta is 1.5"),
        (lambda: tuned(PLAN, eta=math.nan), "eta is nan"),
        (lambda: tuned(PLAN, mean_runs=1.0), "it must lie strictly between 1 and"),
        (lambda: tuned(PLAN, mean_runs=math.inf), "it must lie strictly between 1 and"),
        (lambda: tuned(PLAN, mean_runs=math.nan), "it must lie strictly between 1 and"),
        (lambda: tuned(PLAN, held=0), "held is 0"),
        (lambda: tuned(PLAN, held=1.0), "held is 1"),
        (lambda: tuned(PLAN, accuracy=math.nan), "at_least is nan"),
        (lambda: tuned([Unopened("endless", math.inf)]), "configuration endless: epsilon is inf"),
        (lambda: tuned([Unopened("odd", math.nan)]), "configuration odd: epsilon is nan"),
        (lambda: tuned([Unopened("gift", -1.0)]), "configuration gift: epsilon is -1"),
        (lambda: tuned([Unopened("gift", 1.0, 1.0)]), "configuration gift: delta is 1"),
        (lambda: tuned([Unopened("loose", 1.0, 1e-7)]), r"come to 2e-06 .* at most 5e-08"),
        (lambda: tuned([*PLAN, *PLAN]), "the same name"),
        (lambda: tuned([*PLAN, Unopened("other", 1.0, neighbours=REPLACE)]), "different neighbours"),
        (lambda: tuned([Unopened("other", 1.0, neighbours=REPLACE)]), "neighbours"),
        (lambda: TruncatedNegativeBinomial(0.0, 0.0), "gamma is 0"),
        (lambda: TruncatedNegativeBinomial(0.0, 1.0), "gamma is 1"),
        (lambda: TruncatedNegativeBinomial(0.0, 0.5).met(1.5), "chance is 1.5"),
        (lambda: SelectionBill(TruncatedNegativeBinomial(0.0, 0.5), ()), "no configurations"),
    ],
)
def test_a_bad_plan_is_refused_by_one_sentence_before_data_is_opened(refused: Callable[[], object], words: str) -> None:
    with pytest.raises(ExpostError, match=words) as refusal:
        refused()

    assert isinstance(refusal.value, InvalidValue)
    assert one_sentence(refusal.value)


def test_an_odometer_that_ran_a_tuning_claims_nothing_any_more() -> None:
    odometer = Odometer()

    result = tuned([Commonest("only", 1.0)], noise=SystemNoise(), odometer=odometer, mean_runs=2)

    assert not result.seeded
    assert odometer.spent.at(2) == odometer.spent.at(1.1) == odometer.spent.at(64) == math.inf


def test_an_odometer_with_a_cap_refuses_to_tune() -> None:
    with pytest.raises(BudgetExceeded):
        tuned(PLAN, noise=SystemNoise(), odometer=Odometer(cap=Filter(budget(1000))))


def test_seeded_noise_is_refused_outside_a_rehearsal_and_marked_in_it() -> None:
    with pytest.raises(NotPrivate):
        tuned(PLAN, odometer=Odometer())

    assert tuned([Commonest("only", 1.0)]).seeded


@pytest.mark.parametrize("floating", [True, False])
def test_floating_noise_of_any_configuration_is_marked(floating: bool) -> None:
    result = tuned([Commonest("one", 1.0), Commonest("other", 2.0, floating=floating)])

    assert result.floating is floating


def test_the_record_holds_what_the_statement_needs() -> None:
    ledger = MemoryLedger()

    tuned([Commonest("only", 1.5, 1e-9)], odometer=Odometer(ledger=ledger, rehearsal=True), mean_runs=4, eta=0.5)

    (entry, _, _), (shown, spent, _) = ledger.lines
    law = TruncatedNegativeBinomial.with_mean(4, eta=0.5)
    assert entry.facts == {
        "configurations": '[["only", 1.5, 1e-09]]',
        "eta": "0.5",
        "gamma": str(law.gamma),
        "passing score": "0.8",
        "held": "1/5",
    }
    assert (shown.what, shown.facts, spent) == ("Selected", {"configuration": "only"}, NOTHING.as_spent())


def test_that_no_run_passed_is_on_record_too() -> None:
    ledger = MemoryLedger()

    tuned([Commonest("only", 1.5)], odometer=Odometer(ledger=ledger, rehearsal=True), accuracy=1.5)

    assert [(entry.what, "configuration" in entry.facts) for entry, _, _ in ledger.lines][1:] == [("Selected", False)]


@pytest.mark.parametrize("passing", [0.8, 1.5])
def test_the_journal_states_the_dearest_until_it_is_known_which_one_is_shown(tmp_path: Path, passing: float) -> None:
    path = tmp_path / "tune.journal"
    configurations = [Commonest("dear", 2.0), Commonest("cheap; as it is", 0.5, 1e-9)]
    with Journal.at(path) as ledger:
        result = tuned(configurations, odometer=Odometer(ledger=ledger, rehearsal=True), accuracy=passing)
    text = path.read_text(encoding="utf-8")
    dearest = result.contest.stated(None)
    lines = text.splitlines(keepends=True)

    told = [read_journal("".join(lines[:end])) for end in range(1, len(lines) + 1)]

    assert [each.epsilon for each in told] == [0, dearest.epsilon, dearest.epsilon, result.epsilon, result.epsilon]
    assert [each.delta for each in told] == [None, *[result.delta] * 4]
    assert "NOT PRIVATE" in str(told[-1])


def test_what_is_spent_beside_a_tuning_leaves_no_statement(tmp_path: Path) -> None:
    """No Rényi bound covers a tuning, and its odometer claims nothing any more."""
    path = tmp_path / "tune.journal"
    with Journal.at(path) as ledger:
        odometer = Odometer(pledge=FixedOrder(Fraction(20), 1e-5), ledger=ledger, rehearsal=True)
        tuned([Commonest("only", 1.5)], odometer=odometer)
        odometer.spend(Gaussian(counts(CELLS)), TWOS, budget(1), Past(), SeededNoise(3))

    assert read_journal(path.read_text(encoding="utf-8")).epsilon == odometer.epsilon == math.inf


def test_a_tuning_is_not_lost_when_what_is_shown_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tune.journal"
    written = []
    write = os.write

    def full_after_the_hold(file: int, data: bytes) -> int:
        written.append(data)
        if len(written) > 2:
            raise OSError(28, "No space left on device")
        return write(file, data)

    with Journal.at(path) as ledger:
        monkeypatch.setattr(os, "write", full_after_the_hold)
        odometer = Odometer(pledge=FixedOrder(Fraction(20), 1e-5), ledger=ledger, rehearsal=True)
        result = tuned([Commonest("dear", 2.0), Commonest("cheap", 0.5)], odometer=odometer)

    assert result.configuration == "cheap"
    assert read_journal(path.read_text(encoding="utf-8")).epsilon == result.contest.stated(None).epsilon


@pytest.mark.parametrize(
    ("changed", "into"),
    [
        (r"[[\"only\", 1.5, 0.0]]", "[]"),
        (r"[[\"only\", 1.5, 0.0]]", r"[[\"only\", -1.5, 0.0]]"),
        (r"[[\"only\", 1.5, 0.0]]", r"[[\"only\", 1.5, 0.0], [\"only\", 1.5, 0.0]]"),
        (r"[[\"only\", 1.5, 0.0]]", "[" * 1000),
        ('"eta": "0.0"', '"eta": "-5"'),
        ('"configuration": "only"', '"configuration": "another"'),
    ],
)
def test_a_journal_of_a_tuning_that_was_changed_is_refused(tmp_path: Path, changed: str, into: str) -> None:
    path = tmp_path / "tune.journal"
    with Journal.at(path) as ledger:
        tuned([Commonest("only", 1.5)], odometer=Odometer(ledger=ledger, rehearsal=True))
    text = path.read_text(encoding="utf-8")

    assert changed in text
    with pytest.raises(Unreadable):
        read_journal(text.replace(changed, into))


def test_a_mechanism_of_the_same_name_is_stated_by_its_pledge(tmp_path: Path) -> None:
    named = type("Selection", (Says,), {})
    path = tmp_path / "run.journal"
    with Journal.at(path) as ledger:
        odometer = Odometer(pledge=FixedOrder(Fraction(20), 1e-5), ledger=ledger)
        odometer.spend(named(1), TWOS, budget(1), Past(), SystemNoise())

    assert read_journal(path.read_text(encoding="utf-8")).epsilon == odometer.epsilon < math.inf


def test_what_is_fixed_is_announced_before_a_record_is_read() -> None:
    told: list[tuple[Contest, int]] = []
    ledger, watched = MemoryLedger(), Scored([1.0])

    result = tune(
        TWOS,
        [watched],
        at_least=0.5,
        delta=1e-6,
        mean_runs=2,
        noise=SeededNoise(3),
        odometer=Odometer(ledger=ledger, rehearsal=True),
        on_announced=lambda contest: told.append((contest, len(watched.seen) + len(ledger.held))),
    )

    assert told == [(result.contest, 0)]


class Broken(Commonest):
    """Fails and shows the data while it does."""

    def run(self, train: Integers, held: Integers, noise: Noise) -> tuple[int, float]:
        raise ValueError(f"secret {train.sum()}")


def test_a_configuration_that_fails_shows_nothing() -> None:
    with pytest.raises(MechanismFailed) as failure:
        tuned([Broken("broken", 1.0)])

    assert "secret" not in str(failure.value)
    assert failure.value.__cause__ is failure.value.__context__ is None


def test_a_later_run_adds_to_the_statement() -> None:
    result = tuned([Commonest("only", 0.5, 1e-9)])

    total = result.then(Statement(AdpEpsilon(0.25), 1e-6))

    assert total.epsilon == 1.25
    assert result.delta + 1e-6 == pytest.approx(total.delta, rel=1e-15)


def test_a_sum_of_statements_is_rounded_up() -> None:
    tenth, fifth = Statement(AdpEpsilon(0.1), 0.1), Statement(AdpEpsilon(0.2), 0.2)

    total = tenth + fifth

    assert total.epsilon >= Fraction(0.1) + Fraction(0.2)
    assert total.delta >= Fraction(0.1) + Fraction(0.2)


def test_statements_whose_delta_reaches_one_are_not_added() -> None:
    half = Statement(AdpEpsilon(1.0), 0.5)

    with pytest.raises(InvalidValue, match="delta is 1"):
        half + half


@pytest.mark.parametrize("eta", [-0.5, 0.0, 1.0])
@pytest.mark.parametrize("mean", [1.001, 2.0, 20.0, 400.0])
def test_a_law_is_found_for_a_wanted_mean(eta: float, mean: float) -> None:
    assert TruncatedNegativeBinomial.with_mean(mean, eta=eta).mean == pytest.approx(mean, rel=1e-12)


def found(seed: int = 1, trials: int = 25) -> Found[float, float]:
    """A search for the top of a parabola."""
    return search_public(
        lambda rate: 1 - (rate - 0.3) ** 2,
        lambda value: value,
        lambda trial: trial.suggest_float("rate", 0, 1),
        noise=SeededNoise(seed),
        trials=trials,
    )


def test_a_public_search_finds_the_best_setting_and_costs_nothing() -> None:
    result = found()

    assert abs(result.setting - 0.3) < 0.1
    assert result.score == result.value == 1 - (result.setting - 0.3) ** 2
    assert result.epsilon == 0


def test_a_public_search_repeats_itself_with_the_same_noise_only() -> None:
    assert found(1) == found(1) != found(2)


def test_a_public_search_returns_the_best_of_exactly_its_trials() -> None:
    tried: list[int] = []

    def train(setting: int) -> int:
        tried.append(setting)
        return setting

    result = search_public(train, float, lambda trial: trial.suggest_int("n", 1, 99), noise=SeededNoise(4), trials=7)

    assert len(tried) == 7
    assert result.value == max(tried)


def test_a_public_search_prints_nothing_and_leaves_the_logging_as_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    before = optuna.logging.get_verbosity()

    found(trials=2)

    assert capfd.readouterr() == ("", "")
    assert optuna.logging.get_verbosity() == before


def test_a_public_search_needs_a_trial() -> None:
    with pytest.raises(InvalidValue, match="trials is 0"):
        found(trials=0)


def test_a_public_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidValue, match="NaN"):
        search_public(lambda rate: rate, lambda rate: math.nan, lambda trial: 1.0, noise=SeededNoise(1))


def test_without_optuna_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)

    with pytest.raises(NotInstalled, match=r"install expost\[training\]") as refusal:
        found()

    assert one_sentence(refusal.value)


def test_an_odometer_that_has_spent_is_refused() -> None:
    odometer = rehearsal()
    plan = [Commonest("only", 1.0)]
    tune(TWOS, plan, at_least=0.0, delta=1e-6, mean_runs=2, noise=SeededNoise(1), odometer=odometer)

    with pytest.raises(LedgerConflict, match="spent before"):
        tune(TWOS, plan, at_least=0.0, delta=1e-6, mean_runs=2, noise=SeededNoise(1), odometer=odometer)
