"""Torch modules: the only part of expost that imports torch and opacus."""
