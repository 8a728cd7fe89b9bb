"""What a module reads of some records: one tensor, several in a row, or several by name; and what it puts out."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from torch import Tensor, nn

from expost.errors import InvalidValue

Inputs: TypeAlias = Tensor | tuple[Tensor, ...] | dict[str, Tensor]
"""For ``module(tensor)``, ``module(*tensors)`` or ``module(**tensors)``, records along the first axis of each."""

LABELS = ("labels", "label")
"""The names under which a record that is a mapping may hold its label."""


def separate(record: Any, unit: str | None = None) -> tuple[Inputs, Tensor]:
    """Inputs and labels of a batch: labels come last, or have their name; all of it must be tensors, but the unit.

    What is wrong is said by the structure of a record, which counts as public, and by no value of it.
    """
    match record:
        case Mapping():
            name = next((each for each in LABELS if each in record), None)
            if name is None:
                raise InvalidValue("a record is a mapping without a label; call one of its fields 'labels'.")
            inputs: Any = {field: value for field, value in record.items() if field not in (name, unit)}
            labels = record[name]
        case [Mapping() as named, labels]:
            inputs = {field: value for field, value in named.items() if field != unit}
        case [features, labels]:
            inputs = features
        case [*several, labels] if several:
            inputs = tuple(several)
        case _:
            raise InvalidValue("a record is not (features, label); give its inputs and then its label, or name them.")
    require_tensors(inputs, labels)
    return inputs, labels


def require_tensors(inputs: Any, labels: Any) -> None:
    """Refuse fields that are not tensors, such as text or lists of different lengths."""
    fields = inputs if isinstance(inputs, dict) else dict(enumerate(inputs if isinstance(inputs, tuple) else [inputs]))
    for name, each in [*fields.items(), ("label", labels)]:
        if not isinstance(each, Tensor):
            raise InvalidValue(
                f"the field {name} of a record is not a tensor or a number; leave it out, or make it one "
                "(with_format('torch') does for datasets of Hugging Face)."
            )
    if not fields:
        raise InvalidValue("a record holds nothing but its label; give the inputs of the module beside it.")


def tensors(inputs: Inputs) -> Iterator[Tensor]:
    """All there are."""
    if isinstance(inputs, Tensor):
        yield inputs
    else:
        yield from inputs.values() if isinstance(inputs, dict) else inputs


def transform(inputs: Inputs, f: Callable[[Tensor], Tensor]) -> Inputs:
    """The same with each tensor changed."""
    if isinstance(inputs, Tensor):
        return f(inputs)
    if isinstance(inputs, dict):
        return {name: f(each) for name, each in inputs.items()}
    return tuple(f(each) for each in inputs)


def records_in(inputs: Inputs) -> int:
    """How many records there are."""
    return len(next(tensors(inputs)))


def outputs_of(module: nn.Module, inputs: Inputs) -> Any:
    """What the module puts out; of an answer with ``logits``, as modules of Hugging Face give it, these."""
    if isinstance(inputs, Tensor):
        outputs = module(inputs)
    else:
        outputs = module(**inputs) if isinstance(inputs, dict) else module(*inputs)
    return outputs if isinstance(outputs, Tensor) else getattr(outputs, "logits", outputs)
