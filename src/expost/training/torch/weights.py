"""The weights of a torch module as a release: noisy gradient steps on sealed records, from the last release on."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any, ClassVar, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from expost.accounting.claim import Budget, Promise
from expost.accounting.descent import Descent
from expost.errors import InvalidValue, LedgerConflict
from expost.ledger import Fact
from expost.noise import Floats, Integers, Noise
from expost.numerics import up
from expost.private import Neighbours
from expost.release import Past
from expost.training.schedule import ModuleSteps
from expost.training.torch.clipping import Clipper, Loss, attached, trainable
from expost.training.torch.inputs import outputs_of
from expost.training.torch.memory import same_tensor
from expost.training.torch.probe import require_scored, require_separable
from expost.training.torch.records import Examples
from expost.training.torch.scores import Score, on_grid
from expost.training.torch.trial import Batch
from expost.training.torch.units import packed


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Weights:
    """Trainable parameters after a number of noisy steps, and what the optimiser made of the noisy gradients."""

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
    ``batch`` divides it: never the number of records that joined. Where ``neighbours`` differ in a person, a person
    joins by one coin with all records, and the sum of their gradients is clipped. A step that nobody joins is a step.
    Weights start from the last release, and buffers end as they were at first.
    ``keep`` is given the weights before the bill is settled.

    Uses: Poisson-subsampled Gaussian.
    """

    module: nn.Module
    optimizer: Optimizer
    noise_multiplier: Fraction
    clip: Fraction
    batch: int
    records: int
    loss: Loss
    clipper: type[Clipper]
    at_once: int
    start: Weights
    keep: Callable[[Weights], None]
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    descent: Descent = field(init=False)
    pristine: nn.Module = field(init=False)
    name: ClassVar[str] = ModuleSteps.name
    floating: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.at_once < 1:
            raise InvalidValue(
                f"max_physical_batch_size is {self.at_once}; give the device at least one record at a time."
            )
        if not 1 <= self.batch <= self.records:
            asked = f"batch is {self.batch} of {self.records} records"
            raise InvalidValue(f"{asked}; expect at least one and at most all of them per step.")
        object.__setattr__(self, "descent", Descent(Fraction(self.batch, self.records), self.noise_multiplier))
        object.__setattr__(self, "pristine", copy.deepcopy(self.module))

    @property
    def settings(self) -> dict[str, Fact]:
        """What another process must know to take the same steps."""
        return {
            "optimizer": type(self.optimizer).__name__,
            "batch": self.batch,
            "clip": str(self.clip),
            "noise_multiplier": str(self.noise_multiplier),
            "records": self.records,
            "neighbours": self.neighbours.value,
        }

    @property
    def public(self) -> ModuleSteps:
        """What goes on record of the steps."""
        return ModuleSteps(self.descent, self.clip, self.records, self.neighbours)

    def promise(self, budget: Budget) -> Promise:
        """What the steps cost that the budget pays for."""
        return self.public.promise(budget)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Steps, rate, noise, clip and the public number of records."""
        return self.public.facts(budget)

    def sample(self, data: Examples, budget: Budget, past: Past[Weights], noise: Noise) -> Weights:
        """Go on from the last release for as many steps as the budget pays for."""
        begun = self.start if past.newest is None else past.newest.value
        steps = self.descent.steps(budget)
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

    def require_separable(self, records: Examples) -> None:
        """Refuse a module that does not treat each record apart, going by the shape of the records alone."""
        require_separable(self.clipper, self.pristine, self.loss, records.shaped())

    def resumed(self, weights: Weights, optimizer: Fact) -> "ModuleDescent":
        """Steps from these weights on, refused if another module or another kind of optimiser made them."""
        shapes = {name: each.shape for name, each in weights.parameters.items()}
        if shapes != {name: each.shape for name, each in self.start.parameters.items()}:
            raise InvalidValue("the weights of the checkpoint do not fit this module; give one of the same shape.")
        groups = [len(each["params"]) for each in weights.optimizer["param_groups"]]
        same_tensor = groups == [len(each["params"]) for each in self.optimizer.param_groups]
        if not same_tensor or optimizer != self.settings["optimizer"]:
            raise InvalidValue("the checkpoint was made with another optimiser; give one of the same kind.")
        self.optimizer.load_state_dict({**weights.optimizer, "state": {}})
        return replace(self, start=weights)

    def require_untouched(self, weights: Weights) -> None:
        """Refuse to go on with a module that is not as the last step left it: somebody else trains it, on no bill."""
        if not _same_tensors({**_tensors(self.pristine), **weights.parameters}, _tensors(self.module)):
            raise LedgerConflict(
                "the module was changed since its last private step, by an optimiser or a loop beside this trainer; "
                "let only the trainer change it, and begin again."
            )

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

    def require_scored(self, score: Score, threshold: Fraction, held: Examples) -> None:
        """Refuse a score that does not suit what the module puts out, going by the shape of the records alone."""
        require_scored(self.pristine, score, threshold, held.shaped())

    def scored(self, module: nn.Module, held: Examples, score: Score, threshold: Fraction) -> Floats:
        """The score of each record."""
        module = copy.deepcopy(module)  # this one sees records, and is not the one that is released
        device = trainable(module)[0].device
        steps = [np.zeros(0, np.int64)]
        with torch.no_grad():
            for batch in held.batches(held.judged, self.at_once):
                some = batch.transform(lambda each: each.to(device))
                steps.append(score.steps(outputs_of(module, some.inputs), some.labels, threshold))
        return on_grid(np.concatenate(steps), score.resolution)

    def _step(self, clipper: Clipper, data: Examples, noise: Noise) -> None:
        parameters = trainable(self.module)
        totals = [torch.zeros_like(each) for each in parameters]
        joined = np.flatnonzero(noise.coins(self.descent.rate, len(data)))
        for more in self._sums(clipper, data, joined, parameters[0].device):
            totals = [total + each for total, each in zip(totals, more, strict=True)]
        std = up(self.noise_multiplier * self.clip)
        for each, total in zip(parameters, totals, strict=True):
            drawn = torch.as_tensor(noise.gaussian(std, tuple(each.shape)))
            each.grad = (total + drawn.to(total)) / self.batch
        self.optimizer.step()
        self.optimizer.zero_grad()

    def _sums(self, clipper: Clipper, data: Examples, joined: Integers, device: torch.device) -> Iterator[list[Tensor]]:
        """What those add who joined, as many at a time as may be on the device; of a person with more, in pieces."""

        def read(places: Integers) -> Iterator[Batch]:
            for batch in data.batches(places, self.at_once):
                yield batch.transform(lambda each: each.to(device))

        if data.people is None:
            yield from (clipper.sums(some.inputs, some.labels) for some in read(joined))
            return
        for persons in packed(data.people, joined, self.at_once):
            sizes, rows = data.people.sizes[persons], data.people.rows_of(persons)
            if len(rows) > self.at_once:
                yield clipper.whole((some.inputs, some.labels) for some in read(rows))
                continue
            several = torch.as_tensor(sizes, device=device) if sizes.max() > 1 else None
            yield from (clipper.sums(some.inputs, some.labels, several) for some in read(rows))


def same_state(one: nn.Module, other: nn.Module) -> bool:
    """Whether two modules have the same parameters and buffers, to the last bit; on which device does not matter."""
    return _same_tensors(_tensors(one), _tensors(other))


def _tensors(module: nn.Module) -> dict[str, Tensor]:
    return {name: each.detach() for name, each in chain(module.named_parameters(), module.named_buffers())}


def _same_tensors(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(same_tensor(one[name].cpu(), each.cpu()) for name, each in other.items())


def _copied(tree: Any) -> Any:
    """The same tree of dictionaries and lists, its tensors copied to the computer's own memory."""
    if isinstance(tree, Tensor):
        return tree.detach().cpu().clone()
    if isinstance(tree, dict):
        return {name: _copied(branch) for name, branch in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(_copied(branch) for branch in tree)
    return tree
