"""Beginning: whose token a run has, which split it is on, and whether its key was used before."""

import hmac

from expost.errors import InvalidValue, LedgerConflict
from expost.ledgers.amounts import amount_out
from expost.ledgers.home import Writing
from expost.ledgers.moving import sha256
from expost.ledgers.terms import Terms
from expost.text import is_unicode

MOST_WORDS, MOST_REASON = 500, 2000
"""Characters of a name and of a reason; PostgreSQL has no room for much longer ones in an index."""


def require_words(words: str, what: str, most: int = MOST_WORDS) -> None:
    """Refuse what one of the homes could not keep, in both of them."""
    if not words.strip() or len(words) > most or "\0" in words or not is_unicode(words):
        raise InvalidValue(
            f"{what} is empty, longer than {most:,} characters or has some that cannot be kept; give a few words."
        )


def require_all_words(what: str, split: str | None, because: str, key: str | None) -> None:
    """Refuse what is said of a run if it cannot be kept; who names a split again need not say why."""
    for words, called in ((what, "what a run is for"), (split, "the name of a split"), (key, "the key of a run")):
        if words is not None:
            require_words(words, called)
    if because.strip():
        require_words(because, "the reason of a split", MOST_REASON)


def analyst_of(writing: Writing, dataset: int | str, token: str) -> str:
    """Whose token it is; all are compared, in the same time whichever it is."""
    kept = sha256(token)
    found = writing.rows("SELECT id, token FROM analysts WHERE dataset = ?", dataset)
    mine = [str(identity) for identity, known in found if hmac.compare_digest(str(known), kept)]
    if not mine:
        raise LedgerConflict("the token is not that of an analyst of this data set; ask its owner for one.")
    return mine[0]


def pin_split(writing: Writing, dataset: int | str, split: str, because: str, terms: Terms) -> None:
    """Put a named split on record the first time; its sides stay what they are, and so does the reason.

    A run that gives no reason takes the word of the one that named it.
    """
    found = writing.rows("SELECT because FROM splits WHERE dataset = ? AND name = ?", dataset, split)
    if found and because.strip() and because != found[0][0]:
        raise LedgerConflict(
            f"the split {split!r} is on record as: {found[0][0]}. Another division of the records needs another name, "
            "and adds to what the first one costs."
        )
    if found:
        return
    if not because.strip():
        raise InvalidValue("say in `because` why nobody can be on both sides of the split; the bound rests on it.")
    nothing = amount_out(terms.nothing)
    writing.later("INSERT INTO splits VALUES (?, ?, ?, ?, ?, ?, ?)", *(dataset, split, because, *(nothing,) * 4))


def earlier_release(
    writing: Writing, dataset: int | str, key: str, request: str | None, analyst: str | None
) -> tuple[str, str] | None:
    """The run that used a key before and what it released, refused if it asked for something else or has not ended.

    An analyst who did not pay for it does not see it: it would be on nobody's allowance.
    """
    found = writing.rows(
        "SELECT id, request, analyst, state, payload FROM runs WHERE dataset = ? AND idempotency = ?", dataset, key
    )
    if not found:
        return None
    identity, asked, payer, state, payload = found[0]
    if analyst not in (None, payer):
        raise LedgerConflict(f"the key {key!r} was used by somebody else; use one of your own.")
    if asked != request:
        raise LedgerConflict(f"the key {key!r} was used for another request; use a new key for a new request.")
    if payload is None:
        ended, use = "has not ended", "if its process is dead, settle it, and use a new key"
        if state != "open":
            ended, use = "ended without a stored release, and the key stays used", "use a new key"
        raise LedgerConflict(f"the run under the key {key!r} {ended}; {use}.")
    return str(identity), str(payload)
