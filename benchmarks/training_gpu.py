"""Steps of the linear head by torch on a GPU, beside what reading the rows of a batch twice would take.

``python -m benchmarks.harness training_gpu`` on a machine with a GPU, in a clone at a clean commit, records
``results/training_gpu.json``. Elsewhere a miniature shows on the processor that it works.
"""

from importlib import import_module
from time import perf_counter

from benchmarks.harness import Progress, gpu, seconds
from benchmarks.training import WIDTH, ours, records
from expost.training.head.gradient import FloatSums, IntegerSums

NEEDS_GPU = True
RECORDS, BATCHES, STEPS = 50_000, (5_000, 50_000), 2_000
FEW, SMALL, SHORT = 500, (50, 500), 32
"""The miniature's records, batches and steps."""
PREPARED = 16
"""Steps of a run that is mostly preparation; the difference to a longer one leaves preparation and transfer out."""
BLOCK, READS = 2**28, 20
"""Floats of four bytes that are summed, and how often, to see how fast the device reads."""


def run(progress: Progress) -> dict[str, float]:
    """Steps per second, and their share of what the device could read, by summation and expected batch."""
    if gpu() is None:
        return figures(progress, "cpu", label="miniature", count=FEW, batches=SMALL, steps=SHORT)
    return figures(progress, "cuda", label="gpu", count=RECORDS, batches=BATCHES, steps=STEPS)


def figures(
    progress: Progress, device: str, *, label: str, count: int, batches: tuple[int, ...], steps: int
) -> dict[str, float]:
    """The figures of one device, named by the label."""
    progress("how fast the device reads")
    found, data, bandwidth = dict[str, float](), records(count), _bandwidth(device)
    for batch in batches:
        for summation, size in ((IntegerSums(), 8), (FloatSums(), 4)):
            name = type(summation).__name__.lower()
            progress(f"{name} sums, batches of {batch}")
            runs = [ours(data, batch, summation, device, PREPARED + more) for more in (0, steps)]
            short, long = seconds(*runs, repeats=3)
            speed = steps / max(long - short, 1e-9)
            least = 2 * batch * (WIDTH + 1) * size / bandwidth
            found[f"training.{label}.steps_per_second.{name}.{batch}"] = speed
            found[f"training.{label}.bandwidth_share.{name}.{batch}"] = speed * least
    return found | {f"training.{label}.bandwidth": bandwidth}


def _bandwidth(device: str) -> float:
    """Bytes per second that the device reads."""
    torch = import_module("torch")
    block = torch.zeros(BLOCK if device == "cuda" else BLOCK // 64, device=device)
    block.sum().item()
    start = perf_counter()
    for _ in range(READS - 1):
        block.sum()
    block.sum().item()  # back from the device: all that was asked before has been done
    taken = perf_counter() - start
    return READS * 4 * len(block) / taken
