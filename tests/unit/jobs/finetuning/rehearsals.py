"""Short rehearsals of fine-tuning, and why one was refused."""

from fractions import Fraction
from typing import Any

import pytest

from expost.errors import ExpostError
from expost.jobs.finetuning.run import finetune
from expost.jobs.job import Result
from expost.ledger import MemoryLedger
from expost.noise import SeededNoise
from expost.training.head.score import Classifier
from tests.unit.examples import one_sentence
from tests.unit.report.examples import blobs

SHORT: dict[str, Any] = {"start": Fraction(5, 2), "releases": 4, "epochs": 2, "epochs_between": 4}


def made(*given: Any, **changes: Any) -> Result[Classifier]:
    """A short rehearsal."""
    usual = {"accuracy": 0.8, **SHORT, "noise": SeededNoise(1)}
    return finetune(*(given or blobs()), **(usual | changes))


def refused(*given: Any, **changes: Any) -> ExpostError:
    """Why the job was not done; one sentence, before anything was spent."""
    ledger = MemoryLedger()
    with pytest.raises(ExpostError) as refusal:
        made(*(given or ("nowhere.npz",)), **(changes | {"ledger": ledger}))
    assert one_sentence(refusal.value)
    assert (ledger.lines, ledger.held) == ((), ())
    return refusal.value
