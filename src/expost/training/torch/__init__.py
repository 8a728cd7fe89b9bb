"""Torch modules: the only part of expost that imports torch and opacus."""

from expost.errors import NotInstalled

try:
    import opacus  # noqa: F401  whether it is there
    import torch  # noqa: F401
except ModuleNotFoundError as missing:
    raise NotInstalled(
        f"training a torch module needs {missing.name}; install expost[training].", name=missing.name
    ) from None
