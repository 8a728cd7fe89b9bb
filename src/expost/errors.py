"""Every error expost raises on purpose: one sentence that says what was asked, what the limit is, what to do.

No sentence shows a private value, or a count of private records.
"""

from typing import final


class ExpostError(Exception):
    """The root of all errors below: catch it to report any refusal in its own words."""


@final
class InvalidValue(ExpostError, ValueError):
    """An argument or an option is wrong, by itself or beside the others: a number, an array, a function, a module.

    Correct it as the sentence says.
    """


@final
class Unreadable(ExpostError, ValueError):
    """A file, table, receipt, journal or checkpoint is missing, damaged, cut short, too large or of another format.

    Restore or rewrite what the sentence names, or name another.
    """


@final
class SchemaMismatch(ExpostError, ValueError):
    """A schema cannot be used as declared, or a table, a target or a column is not one of that schema.

    Correct the schema, or read the table under the schema that describes it.
    """


@final
class NotDisjoint(ExpostError, ValueError):
    """Records that must be kept apart are not: public or held-out ones are among those to train on, or one comes twice.

    Find out where each set came from before going on: no bound holds for records that are in both.
    """


@final
class NotInstalled(ExpostError, ModuleNotFoundError):
    """What was asked needs an optional package; install the one the sentence names."""


@final
class BudgetExceeded(ExpostError):
    """A step would pass a cap; nothing was opened and nothing was spent. Ask for less, or stop."""


@final
class ForgedRelease(ExpostError, TypeError):
    """Somebody tried to make a Release, or to open a Private, by hand; only a step of an odometer does either."""


@final
class NotPrivate(ExpostError):
    """Seeded noise was offered where a private release is demanded; use SystemNoise, or declare a rehearsal."""


@final
class MechanismFailed(ExpostError):
    """A step raised while private data was open; the cause is withheld because it may show data.

    That it failed may itself say something about the data, which no bound covers: make the function total.
    """


@final
class SpentCheck(ExpostError):
    """A check or secret noise was asked for more than it was planned for, or after a step that did not finish.

    Begin a new one, at its own price.
    """


@final
class LedgerConflict(ExpostError):
    """What was asked contradicts what is on record, or could not be put there.

    A second pledge, a step of another odometer, a module that was trained off the bill, a file that holds another run:
    keep one ledger per run, and go on only from the state that it describes.
    """
