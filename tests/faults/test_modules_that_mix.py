"""Modules in which one record changes what is made of others: refused on made-up records, before anything is billed."""

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from opacus.layers import DPGRU, DPLSTM
from opacus.validators import ModuleValidator
from torch import Tensor, nn
from torch.nn.functional import batch_norm, cross_entropy, dropout
from torch.utils.data import Dataset

from expost.errors import InvalidValue
from expost.noise import SeededNoise
from expost.training.torch import mixing, probe
from expost.training.torch.clipping import Clipper, Ghost, PerRecord, attached
from expost.training.torch.mixing import Tolerance
from expost.training.torch.trainer import CROSS_ENTROPY, Trainer
from tests.unit.training.modules import Pair, flat, sentences, sgd, train

KINDS = pytest.mark.parametrize("kind", [PerRecord, Ghost])
pytestmark = pytest.mark.filterwarnings(
    "ignore:Full backward hook is firing:UserWarning", "ignore:enable_nested_tensor is True:UserWarning"
)

Step = Callable[[Tensor, bool], Tensor]


class Before(nn.Module):
    """Does something to the features, told whether it is in train mode, and then classifies."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.step, self.last = step, nn.Linear(64, 10)

    def forward(self, features: Tensor) -> Tensor:
        output: Tensor = self.last(self.step(features, self.training))
        return output


class Looking(nn.Module):
    """Takes its features for places in a table of eight rows, which fails on all other numbers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.table, self.last = nn.Embedding(8, 2), nn.Linear(128, 10)

    def forward(self, features: Tensor) -> Tensor:
        output: Tensor = self.last(self.table(features.long()).flatten(1))
        return output


class Normalised(nn.Module):
    """Normalises its channels by a function, over all images of a batch."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.first, self.last = nn.Conv2d(1, 3, 3), nn.Linear(108, 10)

    def forward(self, features: Tensor) -> Tensor:
        channels = batch_norm(self.first(features.reshape(-1, 1, 8, 8)), None, None, training=True)
        output: Tensor = self.last(channels.flatten(1))
        return output


class Attention(nn.Module):
    """A Transformer's layer on the rows of an image."""

    def __init__(self, *, batch_first: bool) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=batch_first)
        self.last = nn.Linear(8, 10)

    def forward(self, features: Tensor) -> Tensor:
        output: Tensor = self.last(self.encoder(features.reshape(-1, 8, 8)).mean(dim=1))
        return output


class Sequences(nn.Module):
    """Reads tokens one after the other."""

    def __init__(self, reader: nn.Module) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.embedding, self.reader, self.last = nn.Embedding(10, 6), reader, nn.Linear(5, 10)

    def forward(self, tokens: Tensor) -> Tensor:
        output: Tensor = self.last(self.reader(self.embedding(tokens))[0][:, -1])
        return output


def fixed(module: nn.Module) -> nn.Module:
    found = ModuleValidator.fix(module)
    assert isinstance(found, nn.Module)
    return found


def shuffled(features: Tensor, training: bool) -> Tensor:
    return (features + features[torch.randperm(len(features))]) / 2 if training else features


STEPS: dict[str, Step] = {
    "the mean taken off": lambda features, _: features - features.mean(0),
    "a millionth of the mean taken off": lambda features, _: features - 1e-6 * features.mean(0),
    "the mean taken off in train mode": lambda features, training: features - training * features.mean(0),
    "the mean taken off in eval mode": lambda features, training: features - (not training) * features.mean(0),
    "softmax along the first axis": lambda features, _: features.softmax(0),
    "divided by the largest": lambda features, _: features / features.max(),
    "less the smallest": lambda features, _: features - features.min(),
    "divided by the number of records": lambda features, _: features / len(features),
    "that number, behind dropout": lambda features, training: dropout(features, 0.3, training) * len(features),
    "summed up along the batch": lambda features, _: features.cumsum(0),
    "shuffled and averaged": shuffled,
    "scaled as bytes if any of them looks like bytes": lambda features, _: (
        features / 255 if features.max() > 1 else features
    ),
    "shifted if any is negative": lambda features, _: (features + 1) / 2 if features.min() < 0 else features,
    "gaps filled by the mean of the others": lambda features, _: torch.where(
        features.isnan(), features.nanmean(0), features
    ),
    "all set to zero if one has a gap": lambda features, _: features * (not features.isnan().any()),
    "those turned away for whom there is no room": lambda features, _: (
        features * (torch.arange(len(features)) < 32)[:, None]
    ),
}

MIXING: dict[str, Callable[[], nn.Module]] = {
    **{name: partial(Before, step) for name, step in STEPS.items()},
    "batch norm by a function": Normalised,
    "attention over the first axis, after Opacus' fix": lambda: fixed(Attention(batch_first=False)),
}


def job(module: nn.Module, records: Pair | Dataset[Pair], kind: type[Clipper] = PerRecord) -> Trainer:
    return Trainer(
        module,
        sgd(module),
        records,
        batch=60,
        max_grad_norm=1.0,
        noise_multiplier=1.0,
        gradients=kind,
        noise=SeededNoise(1),
    )


@KINDS
@pytest.mark.parametrize("make", MIXING.values(), ids=MIXING)
def test_a_module_that_mixes_records_is_refused(make: Callable[[], nn.Module], kind: type[Clipper]) -> None:
    with pytest.raises(InvalidValue, match="a made-up record changes with the records beside it"):
        job(make(), train(), kind)


@KINDS
@pytest.mark.parametrize("hook", ["register_hook", "register_post_accumulate_grad_hook"])
def test_a_weight_with_a_hook_on_its_gradient_is_refused(hook: str, kind: type[Clipper]) -> None:
    """The trial is made on copies, which have no such hooks: after the clip this one makes gradients larger."""
    module = Before(lambda features, _: features)
    getattr(module.last.weight, hook)(lambda found: None)

    with pytest.raises(InvalidValue, match="has a hook"):
        job(module, train(), kind)


def test_such_a_hook_would_lift_one_record_above_the_clip() -> None:
    """The twin: what the refusal is for."""
    module = Before(lambda features, _: features)
    features, labels = train(1)

    module.last.weight.register_hook(lambda gradient: 1000 * gradient)  # type: ignore[no-untyped-call]  # torch's own

    with attached(Ghost, module, CROSS_ENTROPY, 1e-3) as clipper:
        assert float(flattened(clipper.sums(features, labels)).norm()) > 0.1


def moved(module: nn.Module) -> float:
    """By how many clips one record among two hundred moves the clipped sum."""
    features, labels = train(200)
    features = features.clone()
    features[0] *= 100
    with attached(PerRecord, module, CROSS_ENTROPY, 1e-3) as clipper:
        whole, less = (flattened(clipper.sums(features[start:], labels[start:])) for start in (0, 1))
    return float((whole - less).norm()) / 1e-3


def flattened(sums: list[Tensor]) -> Tensor:
    return torch.cat([each.flatten() for each in sums])


@pytest.mark.parametrize("name", ["batch norm by a function", "the mean taken off", "divided by the largest"])
def test_in_such_a_module_a_record_would_move_the_sum_by_many_clips(name: str) -> None:
    assert moved(MIXING[name]()) > 4
    assert moved(Before(lambda features, _: features)) <= 1.0001


def test_only_layers_along_the_wrong_axis_are_told_to_put_records_first() -> None:
    with pytest.raises(InvalidValue, match=r"encoder.self_attn \(DPMultiheadAttention\) .* with batch_first=True"):
        job(fixed(Attention(batch_first=False)), train())
    with pytest.raises(InvalidValue) as refused:
        job(Normalised(), train())

    assert "batch_first" not in str(refused.value)


def test_the_first_advice_on_attention_leads_to_a_module_that_is_accepted() -> None:
    with pytest.raises(InvalidValue, match=r"ModuleValidator.fix .* with batch_first=True if records are along"):
        job(Attention(batch_first=False), train())

    job(fixed(Attention(batch_first=True)), train())


def uniform(features: Tensor, training: bool) -> Tensor:
    return features + training * torch.rand_like(features)


def normal(features: Tensor, training: bool) -> Tensor:
    return features + training * torch.randn(features.shape)


APART: dict[str, tuple[Callable[[], nn.Module], Pair]] = {
    "attention over positions": (lambda: fixed(Attention(batch_first=True)), train()),
    "layer norm": (lambda: nn.Sequential(nn.Linear(64, 9), nn.LayerNorm(9), nn.GELU(), nn.Linear(9, 10)), train()),
    "an LSTM": (lambda: Sequences(DPLSTM(6, 5, batch_first=True)), sentences()),
    "a GRU with dropout": (lambda: Sequences(DPGRU(6, 5, num_layers=2, dropout=0.2, batch_first=True)), sentences()),
    "kinds of dropout": (
        lambda: nn.Sequential(nn.AlphaDropout(0.2), nn.Linear(64, 10), nn.FeatureAlphaDropout(0.1), nn.Dropout(0.5)),
        train(),
    ),
    "uniform numbers added": (lambda: Before(uniform), train()),
    "normal numbers added": (lambda: Before(normal), train()),
    "normalised within the record": (lambda: Before(lambda features, _: features - features.mean(1, True)), train()),
    "gaps filled by zero": (lambda: Before(lambda features, _: features.nan_to_num()), train()),
    "numbers looked up in a table": (Looking, train()),
}


@KINDS
@pytest.mark.parametrize(("make", "records"), APART.values(), ids=APART)
def test_modules_that_treat_each_record_apart_are_accepted(
    make: Callable[[], nn.Module], records: Pair, kind: type[Clipper]
) -> None:
    module = make()
    before, drawn = flat(module), torch.get_rng_state()

    job(module, records, kind)

    assert torch.equal(flat(module), before)
    assert torch.equal(torch.get_rng_state(), drawn)


def test_a_loss_that_mixes_records_is_refused() -> None:
    def balanced(outputs: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(outputs, labels, reduction="none") / (labels[:, None] == labels).sum(1)

    module = Before(lambda features, _: features)
    with pytest.raises(InvalidValue, match="a made-up record changes with the records beside it"):
        Trainer(module, sgd(module), train(), batch=60, max_grad_norm=1.0, noise_multiplier=1.0, loss=balanced)


class Backwards(torch.autograd.Function):
    """Passes features on, and averages gradients over the batch on the way back."""

    @staticmethod
    def forward(ctx: object, features: Tensor) -> Tensor:
        return features.clone()

    @staticmethod
    def backward(ctx: object, gradient: Tensor) -> Tensor:
        return gradient.mean(0).expand_as(gradient)


@KINDS
def test_a_module_whose_gradients_alone_mix_is_refused(kind: type[Clipper]) -> None:
    class Averaging(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(64, 12), nn.Linear(12, 10)

        def forward(self, features: Tensor) -> Tensor:
            output: Tensor = self.last(Backwards.apply(self.first(features)))  # type: ignore[no-untyped-call]  # torch's own
            return output

    with pytest.raises(InvalidValue, match="the clipped gradient of a made-up record changes with the records"):
        job(Averaging(), train(), kind)


def test_without_the_trial_of_gradients_that_module_would_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: the trial of outputs does not see it, so the refusal above is the other trial's."""
    monkeypatch.setattr(probe, "BATCHES", ())

    test = pytest.raises(pytest.fail.Exception, match="DID NOT RAISE")
    with test:
        test_a_module_whose_gradients_alone_mix_is_refused(PerRecord)


@pytest.mark.parametrize("loose", [1e-5, math.inf])
def test_a_tolerance_of_single_precision_would_let_weak_mixing_pass(
    loose: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "DOUBLE", Tolerance(beside=loose, alone=1e-5))
    monkeypatch.setattr(mixing, "ODD", ())  # a large number beside a record shows a small share of it as well

    job(MIXING["a millionth of the mean taken off"](), train())


class Hardwired(nn.Module):
    """Computes in single precision, whatever it is given."""

    def __init__(self, *, mixing: bool) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.mixing, self.last = mixing, nn.Linear(64, 10)
        self.scale = torch.full((64,), 1.7)

    def forward(self, features: Tensor) -> Tensor:
        scaled = torch.matmul(features, torch.diag(self.scale))
        output: Tensor = self.last(scaled - scaled.mean(0) if self.mixing else scaled)
        return output


def test_a_module_that_cannot_compute_in_double_precision_is_tried_in_its_own() -> None:
    job(Hardwired(mixing=False), train())

    with pytest.raises(InvalidValue, match="changes with the records beside it"):
        job(Hardwired(mixing=True), train())


def test_chance_that_the_trial_cannot_mute_is_refused_by_name() -> None:
    with pytest.raises(InvalidValue, match=r"draws with aten\.rrelu_with_noise"):
        job(nn.Sequential(nn.RReLU(), nn.Linear(64, 10)), train())


class Rows(Dataset[Pair]):
    """Records whose shape is not known before one is read; counts how many are."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def __len__(self) -> int:
        return 600

    def __getitem__(self, place: int) -> Pair:
        self.read.append(place)
        features, labels = train()
        return features[place], labels[place]


def test_with_a_dataset_too_a_module_that_mixes_is_refused_before_anything_is_billed() -> None:
    rows = Rows()
    trainer = job(Normalised(), rows)

    with pytest.raises(InvalidValue, match="changes with the records beside it"):
        trainer.releases(every="1 step", releases=1)

    assert rows.read == [0]  # for its shape
    assert not trainer.ledger.held
    assert not trainer.ledger.lines
