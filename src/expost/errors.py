"""Every error expost raises on purpose: one sentence that says what was asked, what the limit is, what to do."""

from typing import final


class ExpostError(Exception):
    """The root of all errors below."""


@final
class InvalidValue(ExpostError, ValueError):
    """A number that cannot be a privacy parameter, a scale, a sensitivity or a threshold."""


@final
class BudgetExceeded(ExpostError):
    """A step would pass a cap; nothing was opened and nothing was spent."""


@final
class ForgedRelease(ExpostError, TypeError):
    """Somebody tried to make a Release, or to open a Private, by hand."""


@final
class NotPrivate(ExpostError):
    """Seeded noise was offered where a private release is demanded."""


@final
class SchemaMismatch(ExpostError, ValueError):
    """Parts that do not belong together: shapes, neighbour relations, data that changed."""


@final
class MechanismFailed(ExpostError):
    """A step raised while private data was open; the cause is withheld because it may show data.

    That it failed may itself say something about the data, which no bound covers: make the function total.
    """


@final
class SpentCheck(ExpostError):
    """A check or secret noise was asked for more than it was planned for, or after a step that did not finish."""


@final
class LedgerConflict(ExpostError):
    """A record that contradicts what the ledger already holds."""
