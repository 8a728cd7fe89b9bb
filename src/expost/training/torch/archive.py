"""A file of weights that ends with its own digest: it is written whole, and read whole or refused."""

import hashlib
import os
import pickle
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor, nn

from expost.errors import Unreadable

MARK = b"\nexpost sha256 "
"""What stands between the weights and the digest; torch reads a file that goes on behind its end."""

TAIL = len(MARK) + 2 * hashlib.sha256().digest_size
CHUNK = 2**20
UNREADABLE = (OSError, RuntimeError, ValueError, TypeError, KeyError, AttributeError, EOFError, pickle.UnpicklingError)
"""What a file of another kind makes torch raise."""


def read_archive(path: Path) -> Any:
    """What the file holds, if not one bit of it has changed since it was written; of no other is anything decoded."""
    try:
        with path.open("rb") as file:
            _require_unchanged(path, file)
            return torch.load(file, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise Unreadable(f"there is no checkpoint {path}; begin with Trainer(..., checkpoint=...).") from None
    except Unreadable:
        raise
    except UNREADABLE:
        raise _stranger(path) from None


def write_archive(path: Path, stored: dict[str, Any]) -> None:
    """Write aside with the digest, flush to the disk, rename, and flush the name."""
    aside = path.with_name(f"{path.name}.new")
    with aside.open("w+b") as file:
        torch.save(stored, file)
        digest = _digest(file, file.seek(0, os.SEEK_END))
        file.write(MARK + digest)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def identity(path: Path) -> tuple[int, int, int] | None:
    """What changes when anybody rewrites the file; None while there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _require_unchanged(path: Path, file: BinaryIO) -> None:
    """Refuse a file that does not end with the digest of all that is before it."""
    content = file.seek(0, os.SEEK_END) - TAIL
    if content <= 0:
        raise _stranger(path)
    digest = _digest(file, content)
    if file.read(len(MARK)) != MARK:
        raise _stranger(path)
    if file.read() != digest:
        raise Unreadable(f"{path} was changed since it was written, and its bill with it; restore it from a copy.")
    file.seek(0)


def _stranger(path: Path) -> Unreadable:
    return Unreadable(f"{path} is not a checkpoint of expost; name the file that Trainer wrote.")


def _digest(file: BinaryIO, content: int) -> bytes:
    """Of the first bytes of the file, which stands behind them afterwards."""
    file.seek(0)
    digest = hashlib.sha256()
    while content:
        some = file.read(min(CHUNK, content))
        if not some:
            break
        digest.update(some)
        content -= len(some)
    return digest.hexdigest().encode()


def save_weights(module: nn.Module, path: Path) -> None:
    """Write the tensors of a module's state by their names; what is not a tensor is code, and is left out."""
    state = module.state_dict().items()
    torch.save({name: each.detach().cpu().clone() for name, each in state if isinstance(each, Tensor)}, path)
