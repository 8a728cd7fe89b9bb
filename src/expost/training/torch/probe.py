"""A trial of a module on made-up records, before private ones are opened: whether one record's share can be clipped."""

import copy
import math
import warnings
from fractions import Fraction

import numpy as np
import torch
from torch import nn

from expost.errors import InvalidValue
from expost.training.torch.clipping import SLACK, Clipper, Loss, attached, trainable
from expost.training.torch.inputs import outputs_of
from expost.training.torch.memory import require_forgetful
from expost.training.torch.mixing import BATCHES, DOUBLE, SINGLE, Tolerance, mixed, require_unmixed
from expost.training.torch.scores import Score
from expost.training.torch.trial import FAILURES, RECORDS, Batch, flat, muted, plain_gradient, same_chance

ALONE = ((0,), (1,), (2,))
UNCLIPPED = 2.0**60
"""A clip that none of the gradients reaches."""


def require_separable(kind: type[Clipper], module: nn.Module, loss: Loss, shaped: Batch) -> None:
    """Refuse a module that cannot be trained privately: one that keeps or mixes records, or hides gradients.

    Tried on copies and on made-up records of the shape of ``shaped``, so it says nothing about any record: with the
    weights as they are, and with others, as one that is zero would hide the gradients of those before it. In double
    precision where the module can compute in it, since rounding then hides less. What a module does on some values
    only is not found.
    """
    with same_chance(module):
        if not _tried_precisely(kind, module, loss, shaped):
            try:
                _try(kind, module, loss, shaped, SINGLE)
            except InvalidValue:
                raise
            except FAILURES as error:
                raise InvalidValue(
                    f"module and loss fail on a made-up record of this shape ({cause(error)}); correct them."
                ) from error


def require_scored(module: nn.Module, score: Score, threshold: Fraction, shaped: Batch) -> None:
    """Refuse a score that fails on made-up records, or that mixes them; what is made up may be shown."""
    module = copy.deepcopy(module).eval()
    batch = Batch.made_up(shaped, trainable(module)[0].device)
    try:
        with same_chance(module), torch.no_grad():
            outputs = outputs_of(module, batch.inputs)
            together = score.steps(outputs, batch.labels, threshold)
            alone = [score.steps(outputs[[place]], batch.labels[[place]], threshold) for place in range(RECORDS)]
    except FAILURES as error:
        raise InvalidValue(
            f"the score ({score.name}) fails on a made-up record of this shape: {cause(error)}."
        ) from error
    if together.shape != (RECORDS,) or together.min() < 0 or together.max() > score.resolution:
        raise InvalidValue(f"the score ({score.name}) is not one number from 0 to 1 per record; correct it.")
    if not np.array_equal(together, np.concatenate(alone)):
        raise InvalidValue(
            f"the score ({score.name}) of a made-up record changes with the records beside it; score each by itself."
        )


def cause(error: Exception) -> str:
    """The first line of what an error says of made-up records."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _tried_precisely(kind: type[Clipper], module: nn.Module, loss: Loss, shaped: Batch) -> bool:
    """Whether the trial could be made in double precision."""
    precise = shaped.transform(lambda each: each.double() if each.is_floating_point() else each)
    try:
        _try(kind, copy.deepcopy(module).double(), loss, precise, DOUBLE)
    except InvalidValue:
        raise
    except FAILURES:
        return False
    return True


def _try(kind: type[Clipper], module: nn.Module, loss: Loss, shaped: Batch, tolerance: Tolerance) -> None:
    batch = Batch.made_up(shaped, trainable(module)[0].device)
    given, shifted = _unpadded(module), _shifted(module)
    require_forgetful(given, loss, batch.at((0, 1)), batch.at((2, 3)))
    for each in (given, shifted):
        require_unmixed(each, loss, batch, tolerance)
    _require_clipped(kind, given, loss, batch, tolerance, share=UNCLIPPED)
    if not _require_clipped(kind, shifted, loss, batch, tolerance, share=0.5):
        raise InvalidValue("the loss has no finite gradient on made-up records between 0 and 1; scale the features.")


def _require_clipped(
    kind: type[Clipper], module: nn.Module, loss: Loss, batch: Batch, tolerance: Tolerance, *, share: float
) -> bool:
    """Whether there is a gradient to clip, at this share of the smallest; refused if sums of clipped ones are wrong.

    Clippers see gradients layer by layer: those of a weight used outside its layer, as by a tied output, pass by.
    """
    module.train()
    with muted():
        plain = [plain_gradient(module, loss, batch.at([place])) for place in range(RECORDS)]
    norms = [float(each.norm()) for each in plain]
    clip = share * min((norm for norm in norms if 0 < norm < math.inf), default=0.0)
    if not clip:
        return False
    with warnings.catch_warnings(), attached(kind, module, loss, clip) as clipper, muted():
        warnings.filterwarnings("ignore", message="Full backward hook is firing")  # features have no gradient
        for places in ALONE + BATCHES:
            some = batch.at(places)
            finite = [place for place in places if norms[place] < math.inf]  # the others must add nothing
            shares = [plain[place] * min(1.0, clip / (norms[place] + SLACK)) for place in finite]
            apart = flat(clipper.sums(some.inputs, some.labels)) - sum(shares, torch.zeros_like(plain[0]))
            if not float(apart.norm()) <= tolerance.alone * sum(min(clip, norms[place]) for place in finite):
                raise _blind(kind) if len(places) == 1 else mixed(module, "the clipped gradient of")
    return True


def _blind(kind: type[Clipper]) -> InvalidValue:
    return InvalidValue(
        f"{kind.__name__} does not see the whole gradient of this module; let each weight be used by its own layer "
        "alone, on tensors with records along the first axis."
    )


def _unpadded(module: nn.Module) -> nn.Module:
    """A copy of which paddings have a gradient: Opacus sees one that torch leaves out, which is more, not less."""
    module = copy.deepcopy(module)
    for layer in module.modules():
        if isinstance(layer, nn.Embedding):
            layer.padding_idx = None
    return module


def _shifted(module: nn.Module) -> nn.Module:
    """A copy with other weights."""
    module = _unpadded(module)
    with torch.no_grad():
        for each in trainable(module):
            places = torch.arange(each.numel(), dtype=torch.float64, device=each.device)
            each.add_(0.1 * torch.cos(0.7 * places**2).view_as(each))
    return module
