"""Whether the records of a batch mix: what a module makes of one must not depend on those beside it."""

import copy
import math
from contextlib import suppress
from dataclasses import dataclass
from typing import final

import torch
from torch import nn

from expost.errors import InvalidValue
from expost.training.torch.clipping import Loss
from expost.training.torch.inputs import tensors
from expost.training.torch.trial import FAILURES, RECORDS, Batch, Outputs, answers, muted, same_chance

BATCHES = ((3, 0, 4, 2, 1), (4, 2, 3), (0, 1))
"""Which records are tried together: several, a few and two, in several orders."""

MANY = (*range(RECORDS),) * 13
"""And many at once, where a layer with room for a few would turn some away; without gradients, which need memory."""

ODD = (1000.0, -1000.0, math.nan)
"""Numbers beyond those of made-up records: what is done to a whole batch because of one such record shows then only."""


@final
@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far numbers that should be the same may be apart, relative to their size.

    ``beside``: with other records in the same places of a batch. The same operations run on tensors of the same shape,
    so nothing but a batch that packs its tokens should round differently. ``alone``: in a batch of another size,
    where matrix products are summed up in another order, and a layer may do so in single precision even if the module
    is in double.
    """

    beside: float
    alone: float


DOUBLE, SINGLE = Tolerance(beside=1e-9, alone=1e-5), Tolerance(beside=1e-6, alone=1e-3)


def require_unmixed(module: nn.Module, loss: Loss, batch: Batch, tolerance: Tolerance) -> None:
    """Refuse a module that answers differently to a record when other records are beside it, or none.

    Compared are outputs and losses, in train and eval mode. In train mode chance is the same for both sides, or absent.
    What happens only in batches larger than these, or on certain other values, is not found.
    """
    for mode in (True, False):
        module.train(mode)
        _require_repeating(module, loss, batch, tolerance)
        if not all(each(module, loss, batch, tolerance) for each in (_indifferent, _unmoved_by_odd, _as_alone)):
            raise mixed(module, "what comes out for")


def _require_repeating(module: nn.Module, loss: Loss, batch: Batch, tolerance: Tolerance) -> None:
    """Chance is declared by drawing from torch's generator, and by not drawing in eval mode."""
    first, again = (_drawn(module, loss, batch) for _ in range(2))
    if not first.agree(again, tolerance.beside):
        raise InvalidValue(
            "the same made-up records give different outputs in another call, from the same state of torch's "
            "generator; let the module draw from that generator alone, and keep nothing from call to call."
        )
    if not module.training:
        first, again = (answers(module, loss, batch) for _ in range(2))
        if not first.agree(again, tolerance.beside):
            raise InvalidValue(
                "the same made-up records give different outputs in another call in eval mode; draw in train mode "
                "only, as dropout(..., training=self.training) does."
            )


def _indifferent(module: nn.Module, loss: Loss, batch: Batch, tolerance: Tolerance) -> bool:
    """Whether records answer the same when one beside them becomes another, all chance being equal."""
    for size in (2, RECORDS):
        some = batch.at(range(size))
        for place in (0, size - 1):
            others = [each for each in range(size) if each != place]
            before = _drawn(module, loss, some).at(others)
            for value in (0, 1):
                after = _drawn(module, loss, some.with_one(place, value, value)).at(others)
                if not after.agree(before, tolerance.beside):
                    return False
    return True


def _unmoved_by_odd(module: nn.Module, loss: Loss, batch: Batch, tolerance: Tolerance) -> bool:
    """Whether a record, with or without a gap, answers the same when the one beside it has very odd numbers.

    In the computer's own memory, because a lookup at such a number is an error there, and elsewhere ends the process.
    """
    if not any(each.is_floating_point() and each[0].numel() for each in tensors(batch.inputs)):
        return True
    module, some = copy.deepcopy(module).cpu(), batch.at((0, 1)).transform(lambda each: each.cpu())
    for pair in (some, some.with_gap(1)):
        with suppress(*FAILURES):  # such records do not suit every module, and nobody said that they would
            before = _drawn(module, loss, pair).at([1])
            for value in ODD:
                with suppress(*FAILURES):
                    if not _drawn(module, loss, pair.with_one(0, value, 0)).at([1]).agree(before, tolerance.beside):
                        return False
    return True


def _as_alone(module: nn.Module, loss: Loss, batch: Batch, tolerance: Tolerance) -> bool:
    """Whether records answer together what each of them does alone, without chance."""
    with muted():
        alone = [answers(module, loss, batch.at([place])) for place in range(RECORDS)]
        for places in (*BATCHES, MANY):
            expected = Outputs(
                torch.cat([alone[place].outputs for place in places]),
                torch.cat([alone[place].losses for place in places]),
            )
            if not answers(module, loss, batch.at(places)).agree(expected, tolerance.alone):
                return False
    return True


def _drawn(module: nn.Module, loss: Loss, batch: Batch) -> Outputs:
    with same_chance(module):
        return answers(module, loss, batch)


def mixed(module: nn.Module, what: str) -> InvalidValue:
    """The refusal of a module in which something of a record depends on others."""
    for name, layer in module.named_modules():
        if getattr(layer, "batch_first", True) is False:
            return InvalidValue(
                f"{what} a made-up record changes with the records beside it, and the layer {name or 'itself'} "
                f"({type(layer).__name__}) takes the first axis for positions; make it with batch_first=True."
            )
    return InvalidValue(
        f"{what} a made-up record changes with the records beside it, or with their number; let each layer compute "
        "from one record alone, without means, maxima or softmax along the first axis."
    )
