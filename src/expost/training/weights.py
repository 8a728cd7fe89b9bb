"""The weights of a torch module as a release: noisy gradient steps on sealed records, from the last release on."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils.data import Dataset, IterableDataset, TensorDataset, default_collate

from expost.accounting.claim import Budget, Promise
from expost.accounting.descent import Descent
from expost.errors import SchemaMismatch
from expost.noise import Floats, Integers, Noise
from expost.numerics import up
from expost.private import Neighbours
from expost.record import Fact
from expost.release import Past
from expost.training.clipping import Clipper, Loss, attached, trainable
from expost.training.probe import require_clipped

Given: TypeAlias = Dataset[tuple[Tensor, Tensor]] | tuple[Tensor, Tensor]
"""Records as a user has them: a map-style dataset of (features, label), or both as tensors."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Public:
    """Held-out records that anybody may see: checks on them are free."""

    records: Given


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Records:
    """Features and labels that are read a batch at a time."""

    source: Dataset[Any]
    size: int

    @classmethod
    def of(cls, given: Given) -> "Records":
        """Records from a dataset or a pair of tensors, refused by one sentence that shows none of them."""
        match given:
            case (Tensor() as features, Tensor() as labels):
                if not features.dim() or labels.shape[:1] != features.shape[:1]:
                    raise SchemaMismatch("features and labels do not match; give a row and one label a record.")
                if labels.shape[1:] == (1,):
                    raise SchemaMismatch("labels are in a column of their own; give labels.squeeze(1), one a record.")
                return cls(TensorDataset(features, labels), len(features))
            case TensorDataset(tensors=(features, labels)):
                return cls.of((features, labels))
            case Dataset() if isinstance(given, Sized) and not isinstance(given, IterableDataset):
                return cls(given, len(given))
        raise SchemaMismatch("these are no records; give a map-style Dataset or a tuple of features and labels.")

    @property
    def marks(self) -> frozenset[int]:
        """Which objects the records come from."""
        parts = self.source.tensors if isinstance(self.source, TensorDataset) else (self.source,)
        return frozenset(id(part) for part in parts)

    def __len__(self) -> int:
        return self.size

    @property
    def uniform(self) -> bool:
        """Whether the shape of a record is known without reading one."""
        return isinstance(self.source, TensorDataset)

    def shaped(self) -> tuple[Tensor, Tensor]:
        """A batch of one with the shape and the type of a record, and no values of it."""
        if isinstance(self.source, TensorDataset):
            features, labels = (each.new_empty((1, *each.shape[1:])) for each in self.source.tensors)
        else:
            features, labels = (torch.empty_like(each) for each in default_collate([self.source[0]]))
        return features, labels

    def batches(self, places: Integers, at_once: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The records at these places, so many at once."""
        for start in range(0, len(places), at_once):
            some = places[start : start + at_once]
            if isinstance(self.source, TensorDataset):
                features, labels = (each[torch.from_numpy(some)] for each in self.source.tensors)
            else:
                features, labels = default_collate([self.source[place] for place in some.tolist()])
            yield features, labels


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Weights:
    """Trainable parameters after so many noisy steps, and what the optimiser made of the noisy gradients."""

    parameters: Mapping[str, Tensor]
    optimizer: Mapping[str, Any]
    steps: int

    @classmethod
    def of(cls, module: nn.Module, optimizer: Optimizer, steps: int) -> "Weights":
        """A copy, in the computer's own memory."""
        parameters = {name: each.detach() for name, each in module.named_parameters() if each.requires_grad}
        return cls(_copied(parameters), _copied(optimizer.state_dict()), steps)

    def put(self, module: nn.Module) -> None:
        """Into a module of the same shape."""
        with torch.no_grad():
            for name, each in module.named_parameters():
                if each.requires_grad:
                    each.copy_(self.parameters[name])


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ModuleDescent:
    """Noisy gradient steps on a torch module; a budget buys as many as it pays for.

    Each step a record joins by its own coin, its gradient is clipped, noise goes on the sum, and the public expected
    ``batch`` divides it: never the number of records that joined. A step that nobody joins is a step. Weights start
    from the last release, whatever has happened to the module in between, and buffers end as they were at first.
    ``keep`` is given the weights before the bill is settled.

    Uses: Poisson-subsampled Gaussian.
    """

    module: nn.Module
    optimizer: Optimizer
    descent: Descent
    clip: Fraction
    batch: int
    records: int
    loss: Loss
    clipper: type[Clipper]
    at_once: int
    start: Weights
    keep: Callable[[Weights], None]
    pristine: nn.Module = field(init=False)
    relation: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    floating: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "pristine", copy.deepcopy(self.module))

    @property
    def settings(self) -> dict[str, Fact]:
        """What another process must know to take the same steps."""
        return {
            "optimizer": type(self.optimizer).__name__,
            "batch": self.batch,
            "clip": str(self.clip),
            "noise_multiplier": str(self.descent.noise_multiplier),
            "records": self.records,
        }

    def promise(self, budget: Budget) -> Promise:
        """What the steps cost that the budget pays for."""
        return self.descent.promise(self.descent.steps(budget))

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Steps, rate and noise: enough to recompute the cost; the rate rests on a public number of records."""
        return {
            "steps": self.descent.steps(budget),
            "rate": str(self.descent.rate),
            "noise multiplier": str(self.descent.noise_multiplier),
            "clip": str(self.clip),
            "public number of records": self.records,
            "noise": "floating-point Gaussian",
        }

    def sample(self, data: Records, budget: Budget, past: Past[Weights], noise: Noise) -> Weights:
        """Go on from the last release for as many steps as the budget pays for."""
        begun = past.steps[-1].value if past.steps else self.start
        steps = self.descent.steps(budget)
        if not past.steps and len(data) and not data.uniform:
            self.require_clipped(data)
        self.load(begun)
        self.module.train()
        try:
            with attached(self.clipper, self.module, self.loss, up(self.clip)) as clipper:
                for _ in range(steps):
                    self._step(clipper, data, noise)
        finally:  # a layer may have left something of the records in them
            for buffer, before in zip(self.module.buffers(), self.pristine.buffers(), strict=True):
                buffer.detach().copy_(before)
        reached = Weights.of(self.module, self.optimizer, begun.steps + steps)
        self.keep(reached)
        return reached

    def require_clipped(self, data: Records) -> None:
        """Refuse a module whose gradients cannot be clipped, going by the shape of the records alone."""
        require_clipped(self.clipper, self.pristine, self.loss, data.shaped())

    def load(self, weights: Weights) -> None:
        """Bring module and optimiser to a release; learning rates stay as their owner has set them."""
        weights.put(self.module)
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": copy.deepcopy(weights.optimizer["state"]), "param_groups": groups})

    def built(self, releases: tuple[Weights, ...]) -> nn.Module:
        """A module of its own that has seen no record, with the newest weights, ready to predict."""
        module = copy.deepcopy(self.pristine)
        releases[-1].put(module)
        return module.eval()

    def correct(self, module: nn.Module, held: Records) -> Floats:
        """1 for a record whose class has the largest output, 0 for another."""
        module = copy.deepcopy(module)  # this one sees records, and is not the one that is released
        device = trainable(module)[0].device
        right = [np.zeros(0)]
        with torch.no_grad():
            for features, labels in held.batches(np.arange(len(held)), self.at_once):
                predicted = module(features.to(device)).argmax(dim=1).cpu()
                right.append((predicted == labels.cpu()).numpy().astype(np.float64))
        return np.concatenate(right)

    def _step(self, clipper: Clipper, data: Records, noise: Noise) -> None:
        parameters = trainable(self.module)
        totals = [torch.zeros_like(each) for each in parameters]
        places = np.flatnonzero(noise.coins(self.descent.rate, len(data)))
        for features, labels in data.batches(places, self.at_once):
            device = parameters[0].device
            more = clipper.sums(features.to(device), labels.to(device))
            totals = [total + each for total, each in zip(totals, more, strict=True)]
        std = up(self.descent.noise_multiplier * self.clip)
        for each, total in zip(parameters, totals, strict=True):
            drawn = torch.as_tensor(noise.gaussian(std, tuple(each.shape)))
            each.grad = (total + drawn.to(total)) / self.batch
        self.optimizer.step()
        self.optimizer.zero_grad()


def _copied(tree: Any) -> Any:
    """The same tree of dictionaries and lists, its tensors copied to the computer's own memory."""
    if isinstance(tree, Tensor):
        return tree.detach().cpu().clone()
    if isinstance(tree, dict):
        return {name: _copied(branch) for name, branch in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(_copied(branch) for branch in tree)
    return tree
