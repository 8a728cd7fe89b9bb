"""Features of images, from a tiny network with random weights: nothing is fetched."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from numpy.typing import NDArray
from paper.heads.features import Extractor, load, main, restore


def tiny() -> torch.nn.Module:
    """Eight features from one convolution."""
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1))


def pictures(count: int) -> NDArray[np.uint8]:
    return (np.arange(count * 8 * 8 * 3) * 37 % 256).astype(np.uint8).reshape(count, 8, 8, 3)


def test_an_image_has_the_same_features_in_any_batch() -> None:
    extractor, told = Extractor(tiny(), 16), list[int]()

    whole = extractor.features(pictures(5), batch=5, device="cpu", told=told.append)
    parts = extractor.features(pictures(5), batch=2, device="cpu", told=told.append)

    assert whole.shape == (5, 8)
    assert np.abs(whole - parts).max() < 1e-2
    assert told == [5, 2, 2, 1]


def test_images_are_resized_and_centred() -> None:
    prepared = Extractor(tiny(), 16, (0.5, 0.25, 0.0), (0.5, 0.5, 1.0)).prepared(np.full((1, 8, 8, 3), 255, np.uint8))

    assert prepared.shape == (1, 3, 16, 16)
    assert prepared[0, :, 0, 0].tolist() == pytest.approx([1.0, 1.5, 1.0])


def test_stored_weights_are_restored(tmp_path: Path) -> None:
    first, second, path = tiny(), tiny(), tmp_path / "weights.pt"
    torch.save(first.state_dict(), path)

    restore(second, path)

    images = pictures(3)
    found = [
        Extractor(each, 8).features(images, batch=3, device="cpu", told=lambda n: None) for each in (first, second)
    ]
    assert (found[0] == found[1]).all()


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    torch.save({"other": torch.zeros(1)}, path)

    with pytest.raises(Exception, match=r"lacks 0\.weight"):
        restore(tiny(), path)


@pytest.mark.skipif(find_spec("timm") is not None, reason="timm is installed")
def test_without_timm_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    np.savez(tmp_path / "images.npz", images=pictures(2), labels=np.arange(2))

    done = CliRunner().invoke(main, [str(tmp_path / "images.npz"), "--out", str(tmp_path / "features.npz")])

    assert done.exit_code == 1
    assert "pip install timm" in done.output
    assert not (tmp_path / "features.npz").exists()


@pytest.mark.skipif(find_spec("timm") is None, reason="timm is not installed")
def test_a_small_network_of_timm_extracts_from_weights_on_disk(tmp_path: Path) -> None:
    timm = import_module("timm")

    name, path = "vit_tiny_patch16_224", tmp_path / "weights.pt"
    torch.save(timm.create_model(name, num_classes=0).state_dict(), path)

    rows = load(name, path).features(pictures(2), batch=2, device="cpu", told=lambda n: None)

    assert rows.shape == (2, 192)


def test_images_of_another_form_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "images.npz", images=np.zeros((2, 3)), labels=np.arange(2))

    done = CliRunner().invoke(main, [str(tmp_path / "images.npz"), "--out", str(tmp_path / "features.npz")])

    assert done.exit_code == 1
    assert "height × width × 3" in done.output
