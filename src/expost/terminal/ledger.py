"""The commands of a steward: make a ledger, look at it, check it, add analysts, settle crashed runs, export."""

import os
import sys
from fractions import Fraction
from pathlib import Path

import click

from expost.errors import InvalidValue
from expost.ledgers.book import Book, init_ledger, open_ledger
from expost.ledgers.overview import only_dataset, overviews, value_words
from expost.ledgers.posting import ONE_RECORD
from expost.ledgers.proof import booking_in, verify_ledger
from expost.ledgers.registry import registry_record, yaml_text
from expost.ledgers.settling import settle, unsettled
from expost.ledgers.terms import ZCDP, Terms, epsilon_terms, order_terms, zcdp_terms
from expost.receipts.notation import table
from expost.receipts.untrusted import receipt_in, text_from
from expost.terminal.accounts import show_overview, show_proof, show_unsettled
from expost.terminal.ending import NOT_REACHED, Program, plainly, say
from expost.terminal.options import VARIABLE
from expost.text import number_typed, printable

LARGEST_TOLD = Fraction(10**300)


@click.group(name="ledger", cls=Program, short_help="Keep a budget that lasts, over all runs on a data set.")
def ledger_commands() -> None:
    """Keep what a data set may spend in a ledger that lasts; EXPOST_LEDGER names it where a command does not."""


@ledger_commands.command(name="init", short_help="Make a ledger, or put one more data set on it.")
@click.argument("file", required=False, envvar=VARIABLE)
@click.option("--dataset", required=True, help="What the data set is called on the ledger.")
@click.option(
    "--cap", "cap", default=None, metavar='"epsilon=E, delta=D"', help="The most that is ever spent, as (ε, δ)."
)
@click.option("--cap-rdp", default=None, metavar="E", help="The same as a Rényi ε at the order that --alpha says.")
@click.option("--alpha", default=None, metavar="A", help="The order of --cap-rdp.")
@click.option("--cap-zcdp", default=None, metavar="RHO", help="The same as the ρ of zCDP.")
@click.option(
    "--unit",
    default=ONE_RECORD,
    help="What is protected, in words, such as one person; a run is per person by the unit in its schema.",
)
@plainly
def init_command(file: str | None, dataset: str, unit: str, **caps: str | None) -> None:
    """Make the ledger FILE with a data set and its cap, or put one more data set on it. A cap stays as it is."""
    terms = _terms(**caps)
    with init_ledger(_named(file), dataset, terms, unit=unit) as book:
        (found,) = overviews(book.home, dataset)
    words = "" if unit == ONE_RECORD else " That holds of runs whose schema names this unit; others are per record."
    click.echo(
        f"{dataset} is on the ledger {printable(book.home.name)}. All that is ever released of it stays within "
        f"{value_words(terms, f'{float(terms.cap):g}')}, for {unit}.{words}\nIts chain begins with {found.head}"
    )


@ledger_commands.command(name="show", short_help="Show what is spent, held and left.")
@click.argument("file", required=False, envvar=VARIABLE)
@click.option("--dataset", default=None, help="Show only this data set.")
@click.option("--lines", type=click.IntRange(0, 200), default=10, help="The most charges that are listed.")
@click.option("--before", type=click.IntRange(min=1), default=None, metavar="ENTRY",
              help="List those that come before the entry of this number.")  # fmt: skip
@plainly
def show_command(file: str | None, dataset: str | None, lines: int, before: int | None) -> None:
    """Show what is spent, held and left on the ledger FILE, by data set and by analyst, and the latest charges."""
    with _opened(file) as book:
        found = overviews(book.home, dataset, lines=lines, before=before)
    for number, overview in enumerate(found):
        click.echo("\n" if number else "", nl=False)
        show_overview(overview)


@ledger_commands.command(name="verify", short_help="Recompute the ledger from its entries.")
@click.argument("file", required=False, envvar=VARIABLE)
@click.option("--against", default=None, type=click.Path(path_type=Path),
              help="A receipt.json that the ledger must still know.")  # fmt: skip
@plainly
def verify_command(file: str | None, against: Path | None) -> None:
    """Follow every entry of the ledger FILE, work each total out again, and say whether anything was changed."""
    booking = None if against is None else booking_in(table(receipt_in(text_from(against), against)))
    with _opened(file) as book:
        proof = verify_ledger(book.home, booking)
    show_proof(proof)
    sys.exit(0 if proof.holds else NOT_REACHED)


@ledger_commands.group(name="analyst")
def analyst_commands() -> None:
    """Let somebody spend a part of a data set's cap."""


@analyst_commands.command(name="add")
@click.argument("name")
@click.argument("file", required=False, envvar=VARIABLE)
@click.option("--epsilon", default=None, metavar="E", help="The most that they may spend, where the cap is on ε.")
@click.option("--rho", default=None, metavar="RHO", help="The same, where the cap is on the ρ of zCDP.")
@click.option("--dataset", default=None, help="The data set, if the ledger has several.")
@plainly
def add_analyst_command(name: str, file: str | None, epsilon: str | None, rho: str | None, dataset: str | None) -> None:
    """Give NAME an allowance on the ledger FILE, and print a token, which is shown only once."""
    if (epsilon is None) == (rho is None):
        raise InvalidValue("say what they may spend, with --epsilon or --rho, by what the cap is on.")
    allowed = _told(epsilon or rho or "", "the allowance")
    with _opened(file) as book:
        chosen = dataset or only_dataset(book.home)
        (found,) = overviews(book.home, chosen, lines=0)
        terms = found.account.terms
        if (terms.kind == ZCDP) != (rho is not None):
            fitting = "--rho" if terms.kind == ZCDP else "--epsilon"
            raise InvalidValue(f"the cap of {chosen} is on {_on(terms)}; give the allowance with {fitting}.")
        token = book.add_analyst(chosen, name, allowed)
    stated = value_words(terms, f"{float(allowed):g}")
    say(f"{name} may spend {stated} of {chosen}. Hand over the token now: the ledger keeps only its hash.")
    click.echo(token)


@ledger_commands.command(name="orphans", short_help="List the runs that are still open.")
@click.argument("file", required=False, envvar=VARIABLE)
@click.option("--dataset", default=None, help="Show only those of this data set.")
@plainly
def orphans_command(file: str | None, dataset: str | None) -> None:
    """List the runs on the ledger FILE that are still open: those at work, and those left by a crash."""
    with _opened(file) as book:
        show_unsettled(unsettled(book, dataset))


@ledger_commands.command(name="settle", short_help="End an open run whose process is gone.")
@click.argument("words", nargs=-1, required=True, metavar="[FILE] RUN")
@click.option("--statement", default=None, help="Why nothing of the unfinished step was seen; returns what is held.")
@click.option("--in-full", is_flag=True, help="Count all that is held as spent.")
@plainly
def settle_command(words: tuple[str, ...], statement: str | None, in_full: bool) -> None:
    """End the open run RUN on the ledger FILE for a process that cannot, and put on record why."""
    if len(words) > 2:
        raise InvalidValue("settle takes a ledger and one run; put a statement of several words in quotes.")
    if in_full == (statement is not None):
        raise InvalidValue("say --in-full to count what is held as spent, or why it was not, with --statement.")
    named = words[0] if len(words) == 2 else os.environ.get(VARIABLE)
    with _opened(named) as book:
        entered = settle(book, words[-1], statement=statement)
    became = "counts as spent" if in_full else "is returned"
    click.echo(f"The run is settled, and what it held {became}. Entry {entered.number} says so: {entered.hash}")


@ledger_commands.command(name="export", short_help="Write a record for the public registry.")
@click.argument("file", required=False, envvar=VARIABLE)
@click.option("--dataset", default=None, help="The data set, if the ledger has several.")
@click.option("--curator", default=None, help="Who publishes what was released; by default the record says not stated.")
@click.option("--title", default=None, help="What it is published as; by default the name of the data set.")
@click.option("--registry", "target", type=click.Path(path_type=Path), required=True, help="A new file for the record.")
@plainly
def export_command(file: str | None, dataset: str | None, curator: str | None, title: str | None, target: Path) -> None:
    """Write what the ledger FILE says of a data set as a record for the public registry of deployments."""
    with _opened(file) as book:
        record = registry_record(book, dataset or only_dataset(book.home), curator=curator, title=title)
    try:
        with target.open("x", encoding="utf-8") as made:
            made.write(yaml_text(record))
    except OSError as refused:
        raise InvalidValue(f"{target} cannot be written ({refused.strerror}); name a new file.") from None
    click.echo(f"Written to {target}.")


def _named(file: str | None) -> str:
    if not file:
        raise InvalidValue(f"no ledger is named; give its file, or set {VARIABLE} to it.")
    return file


def _opened(file: str | None) -> Book:
    return open_ledger(_named(file))


def _terms(*, cap: str | None, cap_rdp: str | None, alpha: str | None, cap_zcdp: str | None) -> Terms:
    """The cap that a person typed, in one of its three forms."""
    if sum(each is not None for each in (cap, cap_rdp, cap_zcdp)) != 1 or (alpha is None) != (cap_rdp is None):
        raise InvalidValue(
            'give one cap: --cap "epsilon=3, delta=1e-6", --cap-rdp 1.0 with --alpha 20, or --cap-zcdp 0.1.'
        )
    if cap is not None:
        pair = {name.strip(): number for name, _, number in (each.partition("=") for each in cap.split(","))}
        if pair.keys() != {"epsilon", "delta"} or cap.count(",") != 1:
            raise InvalidValue(f'the cap {cap!r} is not one; write "epsilon=3, delta=1e-6".')
        return epsilon_terms(_told(pair["epsilon"], "epsilon"), float(_told(pair["delta"], "delta")))
    if cap_rdp is not None and alpha is not None:
        return order_terms(_told(cap_rdp, "the cap"), alpha=_told(alpha, "alpha"))
    assert cap_zcdp is not None  # the last of the three
    return zcdp_terms(_told(cap_zcdp, "the cap"))


def _on(terms: Terms) -> str:
    """What a cap is on."""
    return f"the {terms.notation}" if terms.kind == ZCDP else terms.notation


def _number(typed: str, what: str) -> Fraction:
    try:
        return number_typed(typed.strip())
    except (ValueError, ZeroDivisionError):
        raise InvalidValue(f"{what} is {typed.strip()!r}, which is not a number; write one such as 0.5.") from None


def _told(typed: str, what: str) -> Fraction:
    """A number that is told as it is wherever a cap is shown, and never as less."""
    number = _number(typed, what)
    if number and not 1 / LARGEST_TOLD <= abs(number) <= LARGEST_TOLD:
        raise InvalidValue(f"{what} is {typed.strip()}, which is out of any range; write a number such as 0.5.")
    if Fraction(shown := f"{float(number):g}") != number:
        raise InvalidValue(
            f"{what} is {typed.strip()}, which six digits do not tell in full; give one such as {shown}."
        )
    return number
