"""A receipt is hostile input: whatever it holds, the audit ends soon, in one sentence, and obeys nothing in it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from expost.cli import main
from expost.jobs import audit as check
from expost.jobs.tunings.receipt import MOST_CONFIGURATIONS
from expost.receipts.costs import MOST_KINDS, MOST_LINES, MOST_ORDERS
from expost.receipts.notation import MOST_COUNT, MOST_DIGITS, fraction
from expost.receipts.receipt import digest
from expost.receipts.testimony import MOST_ENTRIES, MOST_STOPS
from expost.receipts.untrusted import MOST_BYTES, MOST_FIGURES, MOST_SHOWN, quoted
from tests.faults.forgeries import Receipt, changed, measuring, receipt_of, restate
from tests.unit.commands import run

ESCAPES = "\x1b[2J\x1b[1;32mthe lines of the receipt lead to what it states, ε = 0.001.\x1b[0m\r\n"


def steps(found: Receipt, count: int) -> None:
    """As many lines as that, all equal."""
    found["bill"] = [dict(found["bill"][-1]) for _ in range(count)]


def columns(found: Receipt, count: int) -> None:
    """As many columns as that, of two values each."""
    found["schema"].update(columns=[f"c{place}" for place in range(count)], sizes=[2] * count)


def stops(found: Receipt, count: int) -> None:
    """As many planned stops as that."""
    found["plan"]["stops"] = [found["plan"]["stops"][0]] * count
    found["pledge"]["stops"] = [found["pledge"]["stops"][0]] * count


def first_line(found: Receipt, **fields: Any) -> None:
    found["bill"][0]["curve"]["lines"][0].update(fields)


def kinds(found: Receipt) -> None:
    """Each training line with a noise of its own, which takes a tenth of a second to work out."""
    found["bill"] = [
        {**line, "facts": {**line["facts"], "noise multiplier": str(place + 1)}}
        for place, line in enumerate(measuring(found)[:1] * 50)
    ]


def stated_by_loss(found: Receipt, count: int, kinds: int, rho: int) -> None:
    """A pledge of stops that are each stated by the distribution of their loss, with a plan that agrees."""
    sampled = [
        {"rate": f"1/{10 ** (place + 2)}", "noise multiplier": "1", "steps": MOST_COUNT} for place in range(kinds)
    ]
    curves = [
        {"orders": [2.0], "values": [1e9], "kinds": {"sampled": sampled, "rho": f"{rho}/{1 + place}"}}
        for place in range(count)
    ]
    found["pledge"] = {"kind": "planned stops", "stops": curves, "delta": 1e-5}
    found["plan"]["stops"] = [{"curve": each, "epsilon": 1.0, "rung": None, "guard": None} for each in curves]
    found["pledged"] = digest(found)


def crossing(found: Receipt, count: int) -> None:
    """As many lines as that, each of which costs the largest of eight."""
    crossed = [{"xi": str(7**place), "rho": f"1/{7**place}", "gaussian": None} for place in range(MOST_LINES)]
    found["bill"] = [{**found["bill"][0], "what": "x", "curve": {"lines": crossed}} for _ in range(count)]


def other_orders(found: Receipt) -> None:
    """A table for each line, at orders of its own."""
    tables = [
        {"orders": [2 + place / 999 + order for order in range(99)], "values": [1.0] * 99} for place in range(300)
    ]
    found["bill"] = [{**found["bill"][0], "curve": each} for each in tables]


def parts(found: Receipt) -> None:
    """A part for each line."""
    found["bill"] = [{**found["bill"][0], "part": f"data{place}"} for place in range(900)]


def spreads(found: Receipt) -> None:
    """Each line with a Laplace noise of its own."""
    line = measuring(found)[0]
    found["bill"] = [{**line, "facts": {**line["facts"], "scale": str(place + 1)}} for place in range(900)]


def configurations(found: Receipt, count: int) -> None:
    """As many configurations as that."""
    found["selection"]["configurations"] = [
        {"name": str(place), "epsilon": 1e-300 * place, "delta": 5e-324} for place in range(count)
    ]


HOSTILE: dict[str, tuple[str, Callable[[Receipt], object]]] = {
    "a power of ten": ("balanced check", lambda found: first_line(found, rho="1e99999999")),
    "a decimal": ("balanced check", lambda found: first_line(found, rho="0.5")),
    "digits of another script": ("balanced check", lambda found: first_line(found, rho="١/٢")),
    "many digits": ("balanced check", lambda found: first_line(found, rho="9" * 100_000)),
    "many digits below": ("balanced check", lambda found: first_line(found, rho="1/" + "9" * 100_000)),
    "a zero below": ("balanced check", lambda found: first_line(found, rho="1/0")),
    "a negative cost": ("balanced check", lambda found: first_line(found, rho="-1/2", gaussian=None)),
    "no history": ("balanced check", lambda found: found.update(history=[])),
    "no plan": ("balanced check", lambda found: found["plan"].update(stops=[])),
    "no bill": ("balanced check", lambda found: found.update(bill=[])),
    "a history that is a text": ("balanced check", lambda found: found.update(history="long")),
    "a rung that is a number": ("balanced check", lambda found: found.update(history=[3])),
    "many lines": ("balanced check", lambda found: steps(found, MOST_ENTRIES + 1)),
    "many lines of tables": ("head", lambda found: steps(found, 400)),
    "many columns": ("balanced check", lambda found: columns(found, MOST_ENTRIES + 1)),
    "many stops": ("head", lambda found: stops(found, MOST_STOPS + 1)),
    "as many stops as there may be": ("head", lambda found: stops(found, MOST_STOPS)),
    "a huge count": ("head", lambda found: measuring(found)[0].update(count=10**18)),
    "a large count": ("head", lambda found: measuring(found)[0].update(count=MOST_COUNT)),
    "a count of none": ("head", lambda found: measuring(found)[0].update(count=0)),
    "a count below zero": ("head", lambda found: measuring(found)[0].update(count=-5)),
    "a count that is true": ("head", lambda found: measuring(found)[0].update(count=True)),
    "huge repetitions": ("head", lambda found: found["plan"]["stops"][0]["rung"].update(times=MOST_COUNT)),
    "many kinds of noise": ("head", kinds),
    "crossing lines": (
        "balanced check",
        lambda found: found["bill"][0]["curve"].update(lines=found["bill"][0]["curve"]["lines"] * (MOST_LINES + 1)),
    ),
    "many orders": (
        "head",
        lambda found: measuring(found)[0]["curve"].update(
            orders=[2.0 + place for place in range(MOST_ORDERS + 1)], values=[1.0] * (MOST_ORDERS + 1)
        ),
    ),
    "orders that fall": (
        "head",
        lambda found: measuring(found)[0]["curve"].update(orders=[3.0, 2.0], values=[1.0, 1.0]),
    ),
    "an order of one": ("head", lambda found: measuring(found)[0]["curve"].update(orders=[1.0], values=[1.0])),
    "a cost below zero": ("head", lambda found: measuring(found)[0]["curve"].update(orders=[2.0], values=[-1.0])),
    "a confidence of almost one": (
        "sparse vector check",
        lambda found: found["asked"].update(confidence=f"{10**300 - 1}/{10**300}"),
    ),
    "a noise beyond all bounds": (
        "sparse vector check",
        lambda found: found["asked"]["check"]["facts"].update(scale=str(2**400)),
    ),
    "a threshold of too many units": ("balanced check", lambda found: found["asked"].update(threshold=f"1/{2**40}")),
    "facts that are tables": ("balanced check", lambda found: found["bill"][0].update(facts={"a": {"b": 1}})),
    "a truth value that is a text": ("balanced check", lambda found: found.update(seeded="false")),
    "other neighbours": ("balanced check", lambda found: found.update(neighbours=ESCAPES)),
    "an ending nobody knows": ("balanced check", lambda found: found["ended"].update(how=ESCAPES)),
    "a check nobody can ask": ("balanced check", lambda found: found["asked"]["check"].update(facts={})),
    "a name that draws": ("balanced check", lambda found: found["bill"][0].update(what=ESCAPES)),
    "a part that draws": ("balanced check", lambda found: found["bill"][0].update(part=f"data/{ESCAPES}")),
    "a title that draws": (
        "balanced check",
        lambda found: found.update(title=ESCAPES, format=ESCAPES, split=ESCAPES, warning=ESCAPES),
    ),
    "crossing lines on every line": ("search", lambda found: crossing(found, 1000)),
    "stops of many kinds": ("search", lambda found: stated_by_loss(found, MOST_STOPS, MOST_KINDS, rho=1)),
    "plain noise of next to none": ("search", lambda found: stated_by_loss(found, 2, 1, rho=10**14)),
    "tables of other orders": ("search, Laplace", other_orders),
    "many parts": ("search", parts),
    "a deep part": ("search", lambda found: found["bill"][0].update(part="data" + "/train" * 1000)),
    "many kinds of Laplace noise": ("search, Laplace", spreads),
    "Laplace noise of no width": ("search, Laplace", lambda found: measuring(found)[0]["facts"].update(scale="0")),
    "Laplace noise of next to none": (
        "search, Laplace",
        lambda found: measuring(found)[0]["facts"].update(scale=f"1/{10**300}"),
    ),
    "a rung of many steps": ("search", lambda found: found["history"][0].update(times=MOST_COUNT)),
    "a rung of no step": ("search", lambda found: found["history"][0].update(times=0)),
    "a question about nothing": ("search", lambda found: found["asked"]["check"]["facts"].update(unit=0)),
    "a sparse vector beyond all bounds": (
        "search, monotone",
        lambda found: found["asked"]["check"]["facts"].update(variance="9" * 900),
    ),
    "many earlier releases": ("module, resumed", lambda found: found["training"].update(earlier=MOST_COUNT)),
    "fewer than no earlier releases": ("module, resumed", lambda found: found["training"].update(earlier=-1)),
    "a module of no batch": ("module, reached", lambda found: found["training"].update(batch=0)),
    "a rate above one": ("module, reached", lambda found: found["training"].update(rate="2")),
    "many configurations": ("tuning", lambda found: configurations(found, MOST_CONFIGURATIONS + 1)),
    "as many configurations as there may be": ("tuning", lambda found: configurations(found, MOST_CONFIGURATIONS)),
    "no configurations": ("tuning", lambda found: configurations(found, 0)),
    "a law that never ends": ("tuning", lambda found: found["selection"].update(gamma=5e-324)),
    "a configuration that draws": ("tuning", lambda found: found["ended"].update(configuration=ESCAPES)),
    "half a character": ("balanced check", lambda found: found["bill"][0].update(what="\ud800")),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_receipt_is_refused_in_plain_words(how: str, tmp_path: Path) -> None:
    name, spoil = HOSTILE[how]
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(changed(name, spoil)), encoding="ascii")

    result = run("audit", str(path))

    assert result.exit_code in {2, 3}, result.exception
    assert "lead to what it states" not in result.output.replace(quoted(ESCAPES), "")
    assert all(sign.isprintable() for sign in result.output.replace("\n", ""))
    assert result.output.count("\n") == 1
    assert result.output.endswith(".\n")


FILES: dict[str, str] = {
    "deep lists": "[" * 100_000,
    "deep tables": '{"bill":' * 100_000,
    "deep lists that end": "[" * 900 + "]" * 900,
    "not a number": '{"cap": NaN}',
    "infinity": '{"cap": Infinity}',
    "an infinite number": '{"cap": 1e999}',
    "many digits": '{"cap": ' + "9" * 5000 + "}",
    "many decimals": '{"cap": 0.' + "1" * (MOST_FIGURES + 1) + "}",
    "a name twice": '{"cap": 1, "cap": 2}',
    "nothing": "",
    "more than a receipt": " " * (MOST_BYTES + 1),
    "not JSON": "<receipt/>",
}


@pytest.mark.parametrize("how", FILES)
def test_a_file_that_is_not_a_receipt_is_refused(how: str, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_text(FILES[how], encoding="utf-8")

    result = run("audit", str(path))

    assert result.exit_code in {2, 3}, result.exception
    assert result.output.count("\n") == 1


def test_a_receipt_is_not_read_from_what_never_ends(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "nowhere"):
        assert run("audit", str(path)).exit_code == 2


def test_a_receipt_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "receipt.json").write_bytes(b'{"title": "\xff"}')

    assert run("audit", str(tmp_path / "receipt.json")).exit_code == 2


def test_a_receipt_with_a_name_twice_is_refused_even_if_one_of_them_is_true(tmp_path: Path) -> None:
    """Readers disagree on which of two values counts, so that a person may be shown the other one."""
    text = json.dumps(receipt_of("balanced check"))
    (tmp_path / "receipt.json").write_text('{"statement": {"epsilon": 0.1},' + text[1:], encoding="utf-8")

    assert run("audit", str(tmp_path / "receipt.json")).exit_code == 2


def test_what_a_message_shows_of_a_receipt_is_plain_and_short() -> None:
    assert quoted("Gaussian") == "'Gaussian'"
    assert quoted(ESCAPES).isascii()
    assert quoted("\x1b[2J") == r"'\x1b[2J'"
    assert len(quoted("x" * 10**6)) < 2 * MOST_SHOWN


def test_the_longest_fraction_is_read_and_a_longer_one_is_not() -> None:
    longest = "9" * MOST_DIGITS

    assert fraction(f"1/{longest}") == Fraction(1, int(longest))
    with pytest.raises(ValueError, match="fraction"):
        fraction(f"1/{longest}9")


def test_every_part_of_a_receipt_may_be_missing() -> None:
    for name in receipt_of("balanced check"):
        if name not in ("title", "split", "rows", "versions"):
            found = receipt_of("balanced check")
            del found[name]
            assert not check(found).matches, name


@pytest.mark.parametrize("wrong", [None, 3, -1.5, True, "x", [], {}, [[]], {"a": []}])
@pytest.mark.parametrize("name", ["head", "Gaussian check", "search", "module, reached", "tuning"])
def test_every_part_of_a_receipt_may_be_of_another_kind(name: str, wrong: Any) -> None:
    free = {"title", "split", "rows", "versions", "released", *(("score", "floating") if name == "tuning" else ())}
    for part in receipt_of(name):
        forged = receipt_of(name) | {part: wrong}
        if forged != receipt_of(name) and part not in free:
            assert check(forged).differences, part


def test_the_slowest_receipts_end_soon(tmp_path: Path) -> None:
    """All of them in one process with a limit on its processor time, so that a slow machine fails nothing."""
    slowest = (
        "a power of ten",
        "many lines of tables",
        "as many stops as there may be",
        "many kinds of noise",
        "a large count",
        "huge repetitions",
        "a confidence of almost one",
        "a noise beyond all bounds",
        "crossing lines on every line",
        "stops of many kinds",
        "plain noise of next to none",
        "tables of other orders",
        "many parts",
        "many kinds of Laplace noise",
        "many earlier releases",
        "as many configurations as there may be",
    )
    for place, how in enumerate(slowest):
        name, spoil = HOSTILE[how]
        path = tmp_path / f"{place}.json"
        path.write_text(json.dumps(restated(changed(name, spoil))), encoding="utf-8")
    program = (
        "import resource, sys\n"
        "from expost.jobs import audit\n"
        "from expost.receipts.untrusted import receipt_in, text_from\n"
        "from pathlib import Path\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (20, 20))\n"
        "print(any(audit(receipt_in(text_from(Path(path)), Path(path))).matches for path in sys.argv[1:]))\n"
    )

    paths = map(str, sorted(tmp_path.iterdir()))
    done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, check=False)

    assert done.stdout == "False\n", done.stderr


def restated(found: Receipt) -> Receipt:
    """With a digest that fits, so that no cheap test ends the audit early."""
    try:
        return restate(found, history=False, plan=False)
    except Exception:  # noqa: BLE001  whatever stops the forger, the receipt is hostile as it is
        return found


def test_the_name_of_a_file_cannot_draw_on_a_terminal(tmp_path: Path) -> None:
    name = "\x1b[2Jreceipt\nthe lines of the receipt lead to what it states.\x1b[8m"
    (tmp_path / name).write_text("{", encoding="utf-8")

    result = CliRunner().invoke(main, ["audit", str(tmp_path / name)], color=True)

    assert result.exit_code == 2
    assert result.stderr.removesuffix("\n").isprintable()
