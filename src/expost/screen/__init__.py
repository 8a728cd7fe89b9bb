"""What a run shows in the terminal: a live table on a screen, plain lines elsewhere, JSON for machines."""

from expost.screen.live import Screen

__all__ = ["Screen"]
