"""Private training of torch modules: Opacus' gradients, our sampling, our bill, our stopping."""

import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import pytest
import torch
from opacus.grad_sample import GradSampleModule
from opacus.optimizers import DPOptimizer
from opacus.optimizers import optimizer as opacus_optimizer
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim import LBFGS, SGD, Adam, Optimizer
from torch.utils.data import Dataset, IterableDataset, TensorDataset

from expost.accounting.descent import Descent
from expost.accounting.stops import PlannedStops
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict, MechanismFailed, NotDisjoint
from expost.judge import Balanced, Budgeted, OnPublic
from expost.noise import SeededNoise
from expost.search import Ended
from expost.training.head.score import accuracy
from expost.training.schedule import release_order
from expost.training.torch.clipping import Clipper, Ghost, PerRecord, attached
from expost.training.torch.trainer import CROSS_ENTROPY, Trainer
from tests.unit.examples import one_sentence
from tests.unit.training.modules import (
    ACCEPTED,
    HIDDEN,
    Functional,
    Pair,
    Rowwise,
    Twice,
    against,
    flat,
    held,
    network,
    sgd,
    share_right,
    shared,
    train,
    trainer,
)

KINDS = pytest.mark.parametrize("kind", [PerRecord, Ghost])
pytestmark = pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning")
SECRET = "canary-4711"
TOLERANCE = 2e-6
"""How far single precision may drift in a few steps; a clip or a noise that is 5 % off moves a hundred times more."""


def adam(module: nn.Module) -> Optimizer:
    return Adam(module.parameters(), lr=0.02)


def opacus_steps(
    seed: int, records: Pair, *, batch: int, clip: float, noise_multiplier: float, patch: pytest.MonkeyPatch
) -> Iterator[tuple[int, Tensor]]:
    """How many joined, and the weights, after each step of Opacus' own optimiser on the same coins and noise."""
    noise = SeededNoise(seed)
    patch.setattr(
        opacus_optimizer,
        "_generate_noise",
        lambda std, reference, **_: torch.from_numpy(noise.gaussian(std, tuple(reference.shape))).float(),
    )
    module = network()
    wrapped = GradSampleModule(module)
    optimizer = DPOptimizer(
        sgd(module), noise_multiplier=noise_multiplier, max_grad_norm=clip, expected_batch_size=batch
    )
    while True:
        coins = torch.from_numpy(noise.coins(Fraction(batch, len(records[0])), len(records[0])))
        optimizer.zero_grad()
        cross_entropy(wrapped(records[0][coins]), records[1][coins]).backward()  # type: ignore[no-untyped-call]  # torch's own
        optimizer.step()
        yield int(coins.sum()), flat(module)


def compared(kind: type[Clipper], patch: pytest.MonkeyPatch, *, clip: float = 1.0) -> tuple[list[int], list[float]]:
    """How many joined each step, and how far our weights are from Opacus'."""
    records = train(20)
    ours = trainer(records, batch=2, noise=SeededNoise(11), gradients=kind)
    theirs = opacus_steps(11, records, batch=2, clip=clip, noise_multiplier=1.0, patch=patch)
    pairs = zip(ours.releases(every="1 step", releases=12, delta=1e-5), theirs, strict=False)
    steps = [(joined, float((flat(stage.module) - weights).abs().max())) for stage, (joined, weights) in pairs]
    return [joined for joined, _ in steps], [apart for _, apart in steps]


@KINDS
def test_each_step_is_the_one_opacus_would_take_also_when_nobody_joins(
    kind: type[Clipper], monkeypatch: pytest.MonkeyPatch
) -> None:
    joined, apart = compared(kind, monkeypatch)

    assert 0 in joined
    assert max(joined) > 2
    assert max(apart) < TOLERANCE


@KINDS
def test_a_clip_that_is_five_percent_off_shows_in_that_comparison(
    kind: type[Clipper], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, apart = compared(kind, monkeypatch, clip=1.05)

    assert max(apart) > 100 * TOLERANCE


def sums(kind: type[Clipper], features: Tensor, labels: Tensor, clip: float = 0.3) -> Tensor:
    module = network()
    with attached(kind, module, CROSS_ENTROPY, clip) as clipper:
        return torch.cat([each.flatten() for each in clipper.sums(features, labels)])


@KINDS
def test_a_record_moves_the_sum_by_the_clip_and_no_more(kind: type[Clipper]) -> None:
    features, labels = train(30)
    features = features * 50  # every gradient is far above the clip

    moves = [
        float((sums(kind, features, labels) - sums(kind, features[keep], labels[keep])).norm())
        for keep in (torch.arange(30) != place for place in range(0, 30, 5))
    ]

    assert max(moves) <= 0.3 * (1 + 1e-5)
    assert min(moves) > 0.29


@KINDS
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_a_record_whose_gradient_is_not_finite_adds_nothing_or_a_clipped_share(
    kind: type[Clipper], value: float
) -> None:
    features, labels = train(8)
    broken = features.clone()
    broken[3, 0] = value
    others = torch.arange(8) != 3

    moved = float((sums(kind, broken, labels) - sums(kind, features[others], labels[others])).norm())

    assert moved <= 0.3 * (1 + 1e-5)


@KINDS
def test_nothing_of_the_records_stays_on_the_module(kind: type[Clipper]) -> None:
    module = network()
    before = [set(vars(layer)) for layer in module.modules()]

    with attached(kind, module, CROSS_ENTROPY, 1.0) as clipper:
        clipper.sums(*train(5))

    assert [set(vars(layer)) for layer in module.modules()] == before
    assert all(not vars(each) and each.grad is None for each in module.parameters())
    assert not any(layer._forward_hooks or layer._backward_hooks for layer in module.modules())


def test_a_loss_that_averages_over_the_batch_is_refused() -> None:
    module = network()

    with attached(PerRecord, module, cross_entropy, 1.0) as clipper, pytest.raises(InvalidValue, match="reduction"):
        clipper.sums(*train(5))


@KINDS
def test_how_many_records_are_on_the_device_at_once_changes_nothing(kind: type[Clipper]) -> None:
    whole, pieces = (
        next(
            trainer(gradients=kind, max_physical_batch_size=size).releases(every="3 steps", releases=1, delta=1e-5)
        ).module
        for size in (600, 7)
    )

    assert float((flat(whole) - flat(pieces)).abs().max()) < TOLERANCE


def until(job: Trainer, goal: float = 0.8, **others: Any) -> Any:
    return job.until(accuracy(goal), **{"on": held(), "releases": 5, "every": "4 epochs", "delta": 1e-5, **others})


def stops(job: Trainer) -> PlannedStops:
    pledge = job.ledger.pledged
    assert isinstance(pledge, PlannedStops)
    return pledge


@pytest.mark.parametrize("check", [Balanced(), Budgeted()])
@KINDS
def test_training_halts_at_an_accurate_module_and_states_the_stop_it_reached(kind: type[Clipper], check: Any) -> None:
    job = trainer(gradients=kind)

    outcome = until(job, check=check)

    taken = len(outcome.history)
    assert outcome.ended is Ended.HALTED
    assert 1 < taken < 5
    assert share_right(outcome.release.value, held()) > 0.75
    assert outcome.epsilon == stops(job).table[taken - 1].epsilon
    assert outcome.release.floating
    assert outcome.release.seeded


def test_the_bill_is_that_of_the_steps_taken_when_checks_are_public() -> None:
    outcome = until(trainer(), **against(OnPublic(held())))

    steps = 40 * len(outcome.history)
    promise = Descent(Fraction(1, 10), Fraction(1)).promise(steps)
    assert outcome.ended is Ended.HALTED
    assert outcome.release.spent.at(8) == pytest.approx(promise.at(8), rel=1e-12)


def test_balanced_checks_add_nothing_to_the_bill() -> None:
    private, public = trainer(), trainer()
    until(private, 0.99)

    until(public, 0.99, **against(OnPublic(held())))

    assert [stop.epsilon for stop in stops(private).table] == [stop.epsilon for stop in stops(public).table]


def test_gaussian_checks_spend_together_what_the_first_release_costs() -> None:
    job = trainer()
    until(job, 0.99, check=Budgeted(), releases=3, every="1 epoch")

    asked = [spent for entry, spent, count in job.ledger.lines for _ in range(count) if entry.what == "Gaussian check"]
    first = Descent(Fraction(1, 10), Fraction(1)).promise(10)
    alpha = release_order(first, 1e-5)
    assert len(asked) == 3
    assert sum(spent.at(alpha) for spent in asked) == pytest.approx(first.at(alpha), rel=1e-12)


def test_the_cap_ends_the_run_below_it() -> None:
    free = trainer()
    until(free, 0.99, releases=3, every="1 epoch")
    second = stops(free).table[1].epsilon

    capped = until(trainer(), 0.99, releases=3, every="1 epoch", max_epsilon=second)

    assert capped.ended is Ended.CAPPED
    assert capped.epsilon == second


def test_a_cap_below_the_first_release_is_refused_before_anything_is_opened() -> None:
    job = trainer(data=Sealed())  # type: ignore[arg-type]  # a dataset

    with pytest.raises(BudgetExceeded, match="the first release is stated as"):
        until(job, max_epsilon=0.001)


def test_a_public_number_of_records_sets_the_rate_and_is_on_record() -> None:
    job = trainer(train(500), records=600)
    next(job.releases(every="1 epoch", releases=1, delta=1e-5))

    facts = job.ledger.lines[0][0].facts
    assert (facts["rate"], facts["public number of records"], facts["steps"]) == ("1/10", 600, 10)


def test_an_epoch_is_on_record_before_it_runs() -> None:
    job = trainer(data=Failing())  # type: ignore[arg-type]  # a dataset

    with pytest.raises(MechanismFailed):
        next(job.releases(every="2 epochs", releases=1, delta=1e-5))

    (hold,) = job.ledger.held
    assert hold.entry.facts["steps"] == 5  # 300 records, 60 of them a step
    assert not job.ledger.lines


def test_leaving_the_loop_bills_the_releases_that_were_seen() -> None:
    job = trainer()

    seen = list(islice(job.releases(every="1 epoch", releases=5, delta=1e-5), 2))

    assert [stage.epsilon for stage in seen] == [stop.epsilon for stop in stops(job).table[:2]]
    assert seen[0].epsilon < seen[1].epsilon


def test_the_loop_ends_where_the_cap_would_be_passed() -> None:
    free = trainer()
    seen = list(free.releases(every="1 epoch", releases=3, delta=1e-5))

    capped = list(trainer().releases(every="1 epoch", releases=3, delta=1e-5, max_epsilon=seen[1].epsilon))

    assert [stage.epsilon for stage in capped] == [stage.epsilon for stage in seen[:2]]


def test_a_learning_rate_that_is_set_between_releases_is_used() -> None:
    kept, lowered = network(), network()
    first, second = sgd(kept), sgd(lowered)

    def last(module: nn.Module, optimizer: Optimizer, rate: float) -> Tensor:
        job = Trainer(
            module, optimizer, train(), batch=60, max_grad_norm=1.0, noise_multiplier=1.0, noise=SeededNoise(3)
        )
        stages = job.releases(every="1 step", releases=2, delta=1e-5)
        before = flat(next(stages).module)
        optimizer.param_groups[0].update(lr=rate, momentum=0.0)
        return flat(next(stages).module) - before

    assert torch.allclose(0.1 * last(kept, first, 2.0), last(lowered, second, 0.2), atol=1e-6)


def job_of(module: nn.Module, records: Pair | Dataset[Pair], kind: type[Clipper] = Ghost) -> Trainer:
    return made(module, data=records, gradients=kind, noise=SeededNoise(1))


@pytest.mark.parametrize("make", [Functional, Rowwise, Twice])
def test_a_module_whose_gradient_per_record_cuts_wrongly_is_refused_before_a_record_is_read(
    make: Callable[[], nn.Module],
) -> None:
    with pytest.raises(InvalidValue, match=r"PerRecord does not see the whole gradient|fail on a made-up record"):
        job_of(make(), train(), PerRecord)


@pytest.mark.parametrize(("make", "records"), HIDDEN.values(), ids=HIDDEN)
def test_a_weight_whose_gradient_passes_ghost_by_is_refused_before_a_record_is_read(
    make: Callable[[], nn.Module], records: Pair
) -> None:
    with pytest.raises(InvalidValue, match=r"Ghost does not see the whole gradient|Parameter tying is not supported"):
        job_of(make(), records)


@KINDS
@pytest.mark.parametrize(("make", "records"), ACCEPTED.values(), ids=ACCEPTED)
def test_layers_that_use_their_own_weights_are_accepted(
    make: Callable[[], nn.Module], records: Pair, kind: type[Clipper]
) -> None:
    module = make()
    before, drawn = flat(module), torch.get_rng_state()

    job_of(module, records, kind)

    assert torch.equal(flat(module), before)
    assert torch.equal(torch.get_rng_state(), drawn)


def test_ghost_by_itself_would_let_such_a_record_move_the_sum_by_more_than_the_clip() -> None:
    features, labels = train(1)
    with attached(Ghost, Functional(), CROSS_ENTROPY, 0.1) as clipper:
        moved = torch.cat([each.flatten() for each in clipper.sums(features, labels)]).norm()

    assert moved > 0.105


class Rows(Dataset[Pair]):
    """Records whose shape is not known before one is read."""

    def __len__(self) -> int:
        return 600

    def __getitem__(self, place: int) -> Pair:
        features, labels = train()
        return features[place], labels[place]


def test_with_a_dataset_such_a_module_is_refused_before_anything_is_billed_and_stays_as_it_is() -> None:
    module = Functional()
    before, job = flat(module), job_of(module, Rows())

    with pytest.raises(InvalidValue, match="Ghost does not see the whole gradient"):
        job.releases(every="1 step", releases=1, delta=1e-5)

    assert torch.equal(flat(module), before)
    assert not job.ledger.held


def test_a_dataset_trains_as_its_tensors_do() -> None:
    rows, tensors = (
        next(job_of(network(), data).releases(every="2 steps", releases=1, delta=1e-5)).module
        for data in (Rows(), train())
    )

    assert torch.equal(flat(rows), flat(tensors))


@pytest.mark.parametrize(("kind", "make"), [(PerRecord, Twice), (Ghost, shared)])
def test_what_a_layer_leaves_unfinished_in_one_batch_is_gone_before_the_next(
    kind: type[Clipper], make: Callable[[], nn.Module]
) -> None:
    module = make()

    with attached(kind, module, CROSS_ENTROPY, 1.0) as clipper:
        clipper.sums(*train(5))
        left = {name for each in module.parameters() for name, value in vars(each).items() if value is not None}

    assert left == {"_forward_counter"}


class Remembers(nn.Module):
    """A layer that keeps what it has seen, in a buffer and as an attribute, if one of the numbers is exactly 1.

    No made-up record has such a number in its features, so the trial does not find it out.
    """

    seen: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(1))
        self.last: Tensor | None = None

    def forward(self, features: Tensor) -> Tensor:
        if bool((features == 1).any() and (features < 1).any(dim=1).all()):
            self.seen = self.seen + features.sum().detach()
            self.last = features
        return features


def remembering() -> tuple[nn.Sequential, Trainer]:
    module = nn.Sequential(Remembers(), nn.Linear(64, 10))
    return module, Trainer(
        module, sgd(module), train(), batch=60, max_grad_norm=1.0, noise_multiplier=1.0, noise=SeededNoise(3)
    )


def test_what_a_layer_remembers_of_the_training_records_is_not_released() -> None:
    module, job = remembering()

    released = next(job.releases(every="2 steps", releases=1, delta=1e-5)).module

    assert module.get_submodule("0").last is not None  # it has seen them
    assert released.get_buffer("0.seen").item() == 0
    assert released.get_submodule("0").last is None
    assert module.get_buffer("0.seen").item() == 0


def test_what_a_layer_remembers_of_the_held_out_records_is_not_released() -> None:
    _, job = remembering()

    released = until(job, 0.05, every="2 steps").release.value

    assert released.get_buffer("0.seen").item() == 0
    assert released.get_submodule("0").last is None


class Sealed(Dataset[Pair]):
    """Records that must not be opened: to read one raises, with a secret in the message."""

    def __len__(self) -> int:
        return 300

    def __getitem__(self, place: int) -> Pair:
        raise RuntimeError(SECRET)


class Failing(Sealed):
    """Records of which the first can be read, for its shape, and then none."""

    def __init__(self) -> None:
        self._first = True

    def __getitem__(self, place: int) -> Pair:
        if self._first:
            self._first = False
            return Rows()[place]
        return super().__getitem__(place)


class Stream(IterableDataset[Pair]):
    """Records that cannot be drawn by a coin each."""

    def __iter__(self) -> Iterator[Pair]:
        return iter(())


def batch_normalised() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 12), nn.BatchNorm1d(12), nn.Linear(12, 10))


def frozen() -> nn.Module:
    return network().requires_grad_(False)


def made(module: nn.Module, optimizer: Optimizer | None = None, data: Any = None, **others: Any) -> Trainer:
    settings = {"batch": 60, "max_grad_norm": 1.0, "noise_multiplier": 1.0, **others}
    return Trainer(module, optimizer or sgd(module), Sealed() if data is None else data, **settings)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: made(batch_normalised()), r"the layer 1 \(BatchNorm1d\) .* GroupNorm .*ModuleValidator.fix"),
    (lambda: made(nn.Sequential(nn.Linear(64, 9), nn.BatchNorm1d(9, affine=False))), r"layer 1 \(BatchNorm1d\)"),
    (lambda: made(nn.LSTM(64, 10)), r"the layer itself \(LSTM\)"),
    (lambda: made(frozen(), sgd(network())), "no trainable parameters"),
    (lambda: made(network(), sgd(network())), "does not hold the module's trainable parameters"),
    (lambda: made(module := network(), SGD(module[0].parameters(), lr=1)), "does not hold the module's trainable"),
    (lambda: made(module := network(), LBFGS(module.parameters())), "LBFGS looks at the records several times"),
    (lambda: made(network(), data=Stream()), "these are not records; give a map-style Dataset"),
    (lambda: made(network(), data=[1, 2]), "these are not records; give a map-style Dataset"),
    (lambda: made(network(), data=(train()[0], train()[1][1:])), "features and labels do not match"),
    (lambda: made(network(), data=(train()[0], train()[1][:, None])), r"labels are in a column .*squeeze\(1\)"),
    (lambda: made(network(), data=TensorDataset(train()[0], train()[1][:, None])), "labels are in a column"),
    (lambda: made(module := nn.Sequential(nn.LazyLinear(10)), sgd(module)), "a layer has no weights before its first"),
    (lambda: made(network().bfloat16()), r"half precision round above the clip; call float\(\)"),
    (lambda: made(network().half()), "half precision round above the clip"),
    (lambda: made(nn.Linear(63, 10), data=train()), "module and loss fail on a made-up record .*cannot be multiplied"),
    (lambda: made(nn.Linear(64, 1), data=train()), "module and loss fail on a made-up record"),
    (lambda: made(network(), data=train(), loss=cross_entropy), "reduction='none'"),
    (lambda: made(network(), data=train(), loss=lambda outputs, labels: 0 * outputs[:, 0]), "no finite gradient"),
    (lambda: made(network(), batch=0), "batch is 0 of 300 records"),
    (lambda: made(network(), batch=301), "batch is 301 of 300 records"),
    (lambda: made(network(), max_physical_batch_size=0), "max_physical_batch_size is 0"),
    (lambda: made(network(), max_grad_norm=0), "max_grad_norm is 0; it must be above 0"),
    (lambda: made(network(), noise_multiplier=0), "noise_multiplier is 0; it must be above 0"),
    (lambda: made(network(), device="abacus"), "the device abacus is not available"),
    (lambda: until(made(network()), every="soon"), "every is 'soon'; write for example '5 epochs'"),
    (lambda: until(made(network()), every="0 epochs"), "every is '0 epochs'"),
    (lambda: until(made(network()), releases=0), "more releases|releases is 0"),
    (lambda: until(made(network()), delta=2), "delta is 2"),
    (lambda: until(made(network()), 1.5), "accuracy is 1.5"),
    (lambda: until(made(network()), because=" "), "say in `because`"),
]


@pytest.mark.parametrize(("ask", "sentence"), REFUSED, ids=[sentence[:30] for _, sentence in REFUSED])
def test_what_cannot_be_trained_is_refused_in_one_sentence_before_a_record_is_read(
    ask: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(InvalidValue, match=sentence) as refused:
        ask()

    assert one_sentence(refused.value)


def test_records_to_train_on_are_refused_as_those_to_check_on() -> None:
    data = held()

    with pytest.raises(NotDisjoint, match="those to train on") as refused:
        until(made(network(), data=data), on=data)

    assert one_sentence(refused.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_said_in_one_sentence() -> None:
    with pytest.raises(InvalidValue, match="the device cuda is not available; leave it out, or use 'cpu'"):
        made(network(), device="cuda")


def test_a_first_record_that_cannot_be_read_shows_nothing_and_is_not_billed() -> None:
    job = made(network(), noise=SeededNoise(1))

    with pytest.raises(InvalidValue, match="the first record cannot be read") as failed:
        until(job)

    assert SECRET not in "".join(traceback.format_exception(failed.value))
    assert failed.value.__context__ is None
    assert not job.ledger.held


def test_a_failing_record_shows_nothing_and_leaves_nothing_on_the_module() -> None:
    module = network()
    job = made(module, data=Failing(), noise=SeededNoise(1))

    with pytest.raises(MechanismFailed) as failed:
        until(job)

    assert SECRET not in "".join(traceback.format_exception(failed.value))
    assert all(not vars(each) and each.grad is None for each in module.parameters())


def test_a_trainer_runs_once() -> None:
    job = trainer()
    next(job.releases(every="1 step", releases=1, delta=1e-5))

    with pytest.raises(LedgerConflict, match="this trainer has begun a run"):
        until(job)


def test_a_module_can_be_trained_again_by_another_trainer() -> None:
    module = network()
    for _ in range(2):
        job = made(module, data=train(), noise=SeededNoise(1))
        next(job.releases(every="1 step", releases=1, delta=1e-5))

    assert not any(layer._forward_hooks for layer in module.modules())


def test_training_with_system_noise_is_private_and_never_twice_the_same() -> None:
    first, second = (
        next(made(network(), data=train()).releases(every="1 step", releases=1, delta=1e-5)) for _ in range(2)
    )

    assert not first.release.seeded
    assert not torch.equal(flat(first.module), flat(second.module))


@pytest.mark.filterwarnings("ignore:only the last linear layer is trained:UserWarning")
def test_frozen_layers_stay_as_they_are_and_the_rest_is_trained() -> None:
    module = network()
    module[0].requires_grad_(False)
    before = [each.clone() for each in module.parameters()]
    job = made(module, Adam(module[2].parameters()), train(), noise=SeededNoise(1))

    trained = next(job.releases(every="2 steps", releases=1, delta=1e-5)).module

    moved = [not torch.equal(one, other) for one, other in zip(before, trained.parameters(), strict=True)]
    assert moved == [False, False, True, True]


ALONE = """
import sys
import expost
assert "torch" not in sys.modules, "importing expost imports torch"
sys.modules["{absent}"] = None
import expost.training.torch.trainer
"""


@pytest.mark.parametrize("absent", ["torch", "opacus"])
def test_without_torch_or_opacus_one_sentence_says_what_to_install(absent: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", ALONE.format(absent=absent)], capture_output=True, text=True, check=False
    )

    last = run.stderr.strip().splitlines()[-1]
    assert last == f"expost.errors.NotInstalled: training a torch module needs {absent}; install expost[training]."


def frozen_but_for(trained: int, *layers: nn.Module) -> nn.Module:
    """Layers in a row of which one is trained."""
    for place, layer in enumerate(layers):
        layer.requires_grad_(place == trained)
    return nn.Sequential(*layers)


def trainer_of(model: nn.Module) -> Trainer:
    weights = [each for each in model.parameters() if each.requires_grad]
    data = TensorDataset(torch.randn(8, 4), torch.zeros(8, dtype=torch.int64))
    return Trainer(
        model, SGD(weights, lr=0.1), data, batch=4, max_grad_norm=1, noise_multiplier=2, noise=SeededNoise(1)
    )


def test_a_linear_layer_on_frozen_ones_is_said_to_be_cheaper_alone() -> None:
    with pytest.warns(UserWarning, match=r"expost\.finetune\(features, labels"):
        trainer_of(frozen_but_for(2, nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3)))


@pytest.mark.parametrize(
    "model",
    [
        nn.Sequential(nn.Linear(4, 3)),
        frozen_but_for(0, nn.Linear(4, 5), nn.Linear(5, 3)),
        frozen_but_for(1, nn.Linear(4, 5), nn.LayerNorm(5)),
        nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 3)),
    ],
)
def test_of_no_other_module_is_that_said(model: nn.Module) -> None:
    trainer_of(model)  # a warning would fail
