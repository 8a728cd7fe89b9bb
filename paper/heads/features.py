"""Features of images from a pre-trained network: ``python -m paper.heads.features images.npz --out features.npz``.

``images.npz`` holds ``images`` (bytes, a height × width × 3 array each) and ``labels``. The network is timm's ViT-B/16
pre-trained on ImageNet-21k, the one of the paper, unless another is named; its weights are taken from a file, from
timm's cache, or from the hub. Pre-training is on public data and costs no privacy; images are only read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import final

import click
import numpy as np
import torch
from numpy.typing import NDArray

NETWORK = "vit_base_patch16_224.augreg_in21k"


@final
@dataclass(frozen=True)
class Extractor:
    """A network without its last layer, and how it wants its images: side in pixels, mean and deviation of a colour."""

    network: torch.nn.Module
    side: int
    mean: tuple[float, ...] = (0.5, 0.5, 0.5)
    deviation: tuple[float, ...] = (0.5, 0.5, 0.5)

    def prepared(self, images: NDArray[np.uint8]) -> torch.Tensor:
        """Images as the network was trained on them: resized, a channel first, centred."""
        pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
        size = (self.side, self.side)
        resized = torch.nn.functional.interpolate(pixels, size=size, mode="bicubic", antialias=True).clamp(0, 1)
        mean, deviation = (torch.tensor(each).view(1, -1, 1, 1) for each in (self.mean, self.deviation))
        return (resized - mean) / deviation

    def features(
        self, images: NDArray[np.uint8], *, batch: int, device: str, told: Callable[[int], None]
    ) -> NDArray[np.float16]:
        """One row of features an image, computed so many at a time."""
        network = self.network.eval().to(device)
        found: list[NDArray[np.float16]] = []
        with torch.inference_mode():
            for part in _parts(images, batch):
                rows = network(self.prepared(part).to(device)).flatten(start_dim=1)
                found.append(rows.cpu().numpy().astype(np.float16))
                told(len(part))
        return np.concatenate(found)


def load(name: str = NETWORK, weights: Path | None = None) -> Extractor:
    """The named network of timm without its classifier; ``weights`` is a file of its state, else timm finds them."""
    if find_spec("timm") is None:
        raise click.ClickException("timm is not installed; run `pip install timm torchvision`, or use other features.")
    timm = import_module("timm")
    try:
        network = timm.create_model(name, pretrained=weights is None, num_classes=0)
    except (RuntimeError, OSError, ValueError) as problem:
        raise click.ClickException(f"{name} cannot be had ({type(problem).__name__}); give its --weights.") from None
    if weights is not None:
        restore(network, weights)
    wanted = timm.data.resolve_model_data_config(network)
    return Extractor(network, wanted["input_size"][-1], tuple(wanted["mean"]), tuple(wanted["std"]))


def restore(network: torch.nn.Module, weights: Path) -> None:
    """Put a stored state into the network; its last layer may be missing from either."""
    state = torch.load(weights, map_location="cpu", weights_only=True)
    missing, _ = network.load_state_dict(state, strict=False)
    if missing:
        raise click.ClickException(f"{weights} lacks {missing[0]}; give the weights of this very network.")


def _parts(images: NDArray[np.uint8], batch: int) -> Iterator[NDArray[np.uint8]]:
    for start in range(0, len(images), batch):
        yield images[start : start + batch]


@click.command()
@click.argument("images", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Where to write the features."
)
@click.option("--network", "name", default=NETWORK, show_default=True, help="A network of timm.")
@click.option("--weights", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A file of its weights.")
@click.option("--batch", default=64, show_default=True, type=click.IntRange(min=1), help="Images at a time.")
@click.option("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="Where to compute.")
def main(images: Path, *, out: Path, name: str, weights: Path | None, batch: int, device: str) -> None:
    """Write the features of IMAGES, with their labels, to an .npz file that `expost finetune` reads."""
    if out.exists():
        raise click.ClickException(f"{out} exists; name another file.")
    with np.load(images, allow_pickle=False) as stored:
        pixels, labels = stored["images"], stored["labels"]
    if pixels.dtype != np.uint8 or pixels.ndim != 4 or pixels.shape[3] != 3 or len(labels) != len(pixels):
        raise click.ClickException(
            f"{images} must hold `images` of bytes, height × width × 3 each, and their `labels`."
        )
    extractor = load(name, weights)
    with click.progressbar(length=len(pixels), label=name) as bar:
        rows = extractor.features(pixels, batch=batch, device=device, told=bar.update)
    np.savez_compressed(out, features=rows, labels=labels, network=name)


if __name__ == "__main__":
    main()
