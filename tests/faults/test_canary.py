"""A value outside the declared domain leaves no trace: in nothing printed or written, nor in what an error holds."""

import struct
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import BaseEstimator, ClassifierMixin

from expost.cli import main
from expost.errors import ExpostError, Unreadable
from expost.jobs.asking.run import ask
from expost.jobs.finetuning.run import finetune
from expost.jobs.job import Result
from expost.jobs.synthesis.run import synthesize
from expost.noise import Floats, Integers, SeededNoise
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Conditional
from expost.tabular.source import room as rooms
from expost.tabular.table import Table
from tests.unit.commands import beside
from tests.unit.jobs.synthesis.customers import LADDER, SCHEMA, records
from tests.unit.tabular.source.telling import shown

pd, pl, pa = import_module("pandas"), import_module("polars"), import_module("pyarrow")

WORD, NUMBER = "zq-canary-zq", 424242424242
PERSONS = replace(SCHEMA, unit="who", neighbours=SCHEMA.neighbours.of_persons)
CANARIES = (WORD.encode(), str(NUMBER).encode())
COUNT = 300
FILES = {"others.csv", "secret.csv", "secret.parquet", "broken.csv", "broken.parquet", "schema.toml", "persons.toml"}


def planted(count: int = COUNT) -> dict[str, list[Any]]:
    """Customers with canaries in cells outside the domain, and in columns that are not declared."""
    cells = records(count)
    cells["region"][0] = cells["plan"][1] = WORD
    cells["age"][2] = cells["age"][3] = NUMBER
    return cells | {"undeclared": [WORD] * count, WORD: [NUMBER] * count, "who": whose(count)}


def whose(count: int) -> list[str]:
    """Identifiers with canaries, each of up to three rows, one of them hostile."""
    return [f"{WORD}-{NUMBER}-{place // 3}" if place else f"{WORD}' --\u202e{NUMBER}" for place in range(count)]


class Interrupting(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """A classifier during whose training somebody presses the interrupt key."""

    def fit(self, features: Integers, labels: Integers) -> NoReturn:
        raise KeyboardInterrupt

    def predict(self, features: Integers) -> NoReturn:
        raise KeyboardInterrupt


class Failing(Interrupting):
    """A classifier that fails on private records, and quotes them."""

    def fit(self, features: Integers, labels: Integers) -> "Failing":
        return self

    def predict(self, features: Integers) -> NoReturn:
        raise ValueError(f"cannot predict for {features.tolist()} nor for {WORD} {NUMBER}")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with planted tables, sound and broken, to work in."""
    pl.DataFrame(planted()).write_csv(tmp_path / "secret.csv")
    pl.DataFrame(planted()).write_parquet(tmp_path / "secret.parquet")
    pl.DataFrame(planted(COUNT // 2)).write_csv(tmp_path / "others.csv")
    sound = (tmp_path / "secret.csv").read_bytes()
    (tmp_path / "broken.csv").write_bytes(sound + f'{WORD},"{NUMBER}\n'.encode())
    (tmp_path / "broken.parquet").write_bytes((tmp_path / "secret.parquet").read_bytes()[:-20])
    (tmp_path / "schema.toml").write_text(SCHEMA.dumps(), encoding="utf-8")
    (tmp_path / "persons.toml").write_text(PERSONS.dumps(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> tuple[int, bytes]:
    """The exit status of a command, and all that it printed or would show of its failure."""
    result = CliRunner().invoke(main, words)
    return result.exit_code, result.output.encode() + result.stderr.encode() + shown(result.exception).encode()


def synth(source: str, *words: str, accuracy: str = "0.8", form: str = "schema.toml") -> tuple[int, bytes]:
    """A release into the folder ``out``."""
    fixed = ("--schema", form, "--target", "renewed", "--accuracy", accuracy, "--out", "out")
    usual = ("--seed", "1", "--estimator", "model", "--ladder", "renyi:0.02:2:3")
    return run("synth", source, *beside((*fixed, *usual), words))


def asked(source: str, *words: str, form: str = "schema.toml") -> tuple[int, bytes]:
    """Answers to two questions, into the folder ``out``."""
    fixed = ("--schema", form, "--out", "out", "--seed", "1", "--max-epsilon", "4")
    return run("ask", source, "count by region, plan", "share of renewed by region", *fixed, *words)


def written(folder: Path) -> bytes:
    """Every byte below the folder that was not there before, parquet also as text, and every file's name."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in FILES]
    tables = [duckdb.read_parquet(str(path)).fetchall() for path in files if path.suffix == ".parquet"]
    names = [str(path.relative_to(folder)).encode() for path in folder.rglob("*")]
    return b"\n".join([*names, *(path.read_bytes() for path in files), str(tables).encode()])


def traces(found: bytes) -> list[bytes]:
    """The canaries that can be seen."""
    return [canary for canary in CANARIES if canary in found]


HERE = "tests.faults.test_canary"
RUNS: dict[str, tuple[int, Callable[[], tuple[int, bytes]]]] = {
    "success": (0, lambda: synth("secret.csv", accuracy="0.5")),
    "success from parquet to parquet": (0, lambda: synth("secret.parquet", "--format", "parquet", accuracy="0.5")),
    "success of a query": (0, lambda: synth("duckdb:SELECT * FROM 'secret.parquet'", accuracy="0.5")),
    "success as JSON": (0, lambda: synth("secret.csv", "--json", accuracy="0.5")),
    "success under a public check": (0, lambda: synth("secret.csv", "--check", "public:others.csv", accuracy="0.5")),
    "refused for its public records": (2, lambda: synth("secret.csv", "--check", "public:secret.csv")),
    "exhausted": (3, lambda: synth("secret.csv", accuracy="0.99")),
    "capped": (3, lambda: synth("secret.csv", "--max-epsilon", "0.3", accuracy="0.99")),
    "refused for its accuracy": (2, lambda: synth("secret.csv", accuracy="2")),
    "refused for its cap": (2, lambda: synth("secret.csv", "--max-epsilon", "0.01")),
    "refused for its query": (2, lambda: synth("duckdb:SELECT CAST(region AS INT) FROM 'secret.parquet'")),
    "interrupted": (130, lambda: synth("secret.csv", "--estimator", f"{HERE}.Interrupting")),
    "failed": (2, lambda: synth("secret.csv", "--estimator", f"{HERE}.Failing")),
    "malformed": (2, lambda: synth("broken.csv")),
    "malformed parquet": (2, lambda: synth("broken.parquet")),
    "malformed, drafted": (2, lambda: run("schema", "broken.csv")),
    "malformed, checked": (2, lambda: run("check", "broken.csv", "--schema", "schema.toml")),
    "success of persons": (0, lambda: synth("secret.csv", accuracy="0.5", form="persons.toml")),
    "success of persons from parquet": (0, lambda: synth("secret.parquet", accuracy="0.5", form="persons.toml")),
    "success of persons as JSON": (0, lambda: synth("secret.csv", "--json", accuracy="0.5", form="persons.toml")),
    "persons, exhausted": (3, lambda: synth("secret.csv", accuracy="0.99", form="persons.toml")),
    "persons, interrupted": (
        130,
        lambda: synth("secret.csv", "--estimator", f"{HERE}.Interrupting", form="persons.toml"),
    ),
    "persons, failed": (2, lambda: synth("secret.csv", "--estimator", f"{HERE}.Failing", form="persons.toml")),
    "persons, malformed": (2, lambda: synth("broken.csv", form="persons.toml")),
    "persons, malformed parquet": (2, lambda: synth("broken.parquet", form="persons.toml")),
    "persons, malformed, checked": (2, lambda: run("check", "broken.csv", "--schema", "persons.toml")),
    "answered": (0, lambda: asked("secret.csv", "--within", "50%")),
    "answered from parquet to parquet": (
        0,
        lambda: asked("secret.parquet", "--within", "50%", "--format", "parquet"),
    ),
    "answered as JSON": (0, lambda: asked("secret.csv", "--within", "50%", "--json")),
    "not answered of persons": (
        3,
        lambda: asked("secret.csv", "--within", "1%", "--fewer-than", "1", form="persons.toml"),
    ),
    "not answered": (3, lambda: asked("secret.csv", "--within", "1%", "--fewer-than", "1")),
    "a question, refused for its column": (2, lambda: asked("secret.csv", "mean of undeclared", "--within", "50%")),
    "a question, malformed": (2, lambda: asked("broken.csv", "--within", "50%")),
    "a question, malformed parquet": (2, lambda: asked("broken.parquet", "--within", "50%", form="persons.toml")),
    "a question, planned": (
        0,
        lambda: run("plan", "ask", "count by region", "--schema", "persons.toml", "--within", "5%"),
    ),
    "planned": (0, lambda: run("plan", "synth", "--schema", "schema.toml", "--target", "renewed")),
}


@pytest.mark.parametrize(("status", "job"), RUNS.values(), ids=RUNS)
def test_no_canary_is_printed_or_written(status: int, job: Callable[[], tuple[int, bytes]], here: Path) -> None:
    ended, printed = job()

    assert ended == status, printed.decode()
    assert traces(printed) == []
    assert traces(written(here)) == []


@pytest.mark.parametrize("source", ["secret.csv", "secret.parquet"])
def test_no_identifier_of_a_table_in_pieces_is_printed_or_written(
    source: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "PIECE", 64)

    ended, printed = synth(source, accuracy="0.5", form="persons.toml")

    assert ended == 0, printed.decode()
    assert traces(printed) == []
    assert traces(written(here)) == []


@pytest.mark.parametrize("words", [(), ("--format", "parquet")], ids=["csv", "parquet"])
def test_a_canary_that_is_declared_is_seen_in_what_is_written(words: tuple[str, ...], here: Path) -> None:
    text = SCHEMA.dumps().replace('"west"', f'"{WORD}"').replace("60, 80", f"60, {NUMBER}")
    (here / "schema.toml").write_text(text, encoding="utf-8")

    synth("secret.csv", *words, accuracy="0.5")

    assert traces(written(here)) == list(CANARIES)
    assert traces((here / f"out/synthetic.{words[1] if words else 'csv'}").read_bytes() + written(here))


def test_a_comment_of_the_schema_is_written_nowhere(here: Path) -> None:
    """Nor does it change the schema's digest."""
    synth("secret.csv", "--json", accuracy="0.5")
    plain = (here / "out/receipt.json").read_bytes()
    commented = f"# {WORD} {NUMBER}\n{SCHEMA.dumps()}".replace('"region"\n', f'"region"  # {WORD} {NUMBER}\n')
    (here / "schema.toml").write_text(commented, encoding="utf-8")

    _, printed = synth("secret.csv", "--json", "--overwrite", accuracy="0.5")

    assert commented.count(WORD) == 2
    assert traces(printed + written(here)) == []
    assert (here / "out/receipt.json").read_bytes() == plain


def test_a_canary_in_a_draft_is_seen_in_what_is_printed(here: Path) -> None:
    _, printed = run("schema", "secret.csv")

    assert traces(printed) == list(CANARIES)


def test_no_identifier_is_shown_to_the_owner_either(here: Path) -> None:
    """Neither by a check nor by a draft that proposes it as the unit."""
    pl.DataFrame(records(COUNT) | {"who": whose(COUNT)}).write_csv(here / "secret.csv")
    pl.DataFrame(records(COUNT) | {"patient_id": whose(COUNT)}).write_csv(here / "others.csv")

    checked, drafted = run("check", "secret.csv", "--schema", "persons.toml"), run("schema", "others.csv")

    assert b"unit who: " in checked[1]
    assert b'unit = "patient_id"' in drafted[1]
    assert traces(checked[1] + drafted[1] + written(here)) == []


FRAMES: dict[str, Callable[[Any], Any]] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def job(table: object, **changes: Any) -> Result[Any]:
    """A rehearsal."""
    usual: dict[str, Any] = {
        "schema": SCHEMA,
        "target": "renewed",
        "accuracy": 0.8,
        "ladder": LADDER,
        "learner": Conditional(),
        "noise": SeededNoise(1),
    }
    return synthesize(table, **(usual | changes))


def quoting(candidate: Candidate, held: Table) -> Floats:
    """A score that fails and quotes."""
    raise ValueError(f"{WORD} {NUMBER} {held.codes('age')}")


def interrupting(candidate: Candidate, held: Table) -> Floats:
    """A score during which somebody presses the interrupt key."""
    raise KeyboardInterrupt


def stopping(text: str) -> None:
    """Somebody presses the interrupt key between two steps."""
    raise KeyboardInterrupt


WIDER = Schema((*SCHEMA.columns, Boolean("married", Missing.FALLBACK)), True, SCHEMA.neighbours)
FAILURES: dict[str, dict[str, Any]] = {
    "a unit that is not there": {"schema": replace(PERSONS, unit="nobody")},
    "a score of persons that fails": {"schema": PERSONS, "score": quoting},
    "an interrupt with the data of persons open": {"schema": PERSONS, "score": interrupting},
    "an absurd accuracy": {"accuracy": 2},
    "noise that could be repeated": {"random_state": 3},
    "a target that is no column": {"target": "income"},
    "a column that is not there": {"schema": WIDER},
    "a draft": {"schema": Schema(SCHEMA.columns, False, SCHEMA.neighbours)},
    "a cap": {"max_epsilon": 0.01},
    "a score that fails": {"score": quoting},
    "an interrupt with the data open": {"score": interrupting},
    "an interrupt between two steps": {"on_progress": stopping},
}


@pytest.mark.parametrize("tried", [True, False], ids=["tried on made-up records", "untried"])
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("changes", FAILURES.values(), ids=FAILURES)
def test_no_canary_is_in_what_an_error_holds(
    changes: dict[str, Any], frame: Callable[[Any], Any], tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also not in the local variables of our own frames, which some loggers print.

    Untried, a score fails where a trial did not find that it would: with the data open.
    """
    if not tried:
        monkeypatch.setattr("expost.jobs.synthesis.run.rehearse", lambda *words: None)
        monkeypatch.setattr("expost.jobs.synthesis.procedure.require_apart", lambda *words: None)
    small = {name: cells[:8] for name, cells in planted().items()}

    with pytest.raises((ExpostError, KeyboardInterrupt)) as failure:
        job(frame(small), **changes)

    assert traces(shown(failure.value).encode()) == []


class Untold:
    """A cell during whose first reading somebody presses the interrupt key."""

    read = False

    def __str__(self) -> str:
        if not self.read:
            self.read = True
            raise KeyboardInterrupt
        return WORD


@pytest.mark.parametrize(("column", "ends"), [("region", KeyboardInterrupt), ("who", Unreadable)])
def test_no_canary_is_in_what_is_raised_while_a_frame_is_read(column: str, ends: type[BaseException]) -> None:
    """An identifier of a type that has no one spelling is refused before it is spelled."""
    small = {name: cells[:8] for name, cells in planted().items()}
    small[column] = [WORD] * 7 + [Untold()]

    with pytest.raises(ends) as failure:
        job(pd.DataFrame(small), schema=PERSONS)

    assert traces(shown(failure.value).encode()) == []


def test_a_canary_in_a_local_variable_is_seen() -> None:
    """Here it is the title, which is no secret."""
    with pytest.raises(ExpostError) as failure:
        job(COUNT, title=WORD)

    assert traces(shown(failure.value).encode()) == [WORD.encode()]


UNANSWERED: dict[str, dict[str, Any]] = {
    "no target": {"within": None},
    "noise that could be repeated": {"random_state": 3},
    "a unit that is not there": {"schema": replace(PERSONS, unit="nobody")},
    "a column that is not there": {"schema": WIDER, "questions": ("count by married",)},
    "a draft": {"schema": Schema(SCHEMA.columns, False, SCHEMA.neighbours)},
    "a cap": {"within": 3, "max_epsilon": 0.01},
    "an interrupt between two steps": {"on_progress": stopping},
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("changes", UNANSWERED.values(), ids=UNANSWERED)
def test_no_canary_is_in_what_the_error_of_a_question_holds(
    changes: dict[str, Any], frame: Callable[[Any], Any]
) -> None:
    small = {name: cells[:8] for name, cells in planted().items()}
    usual: dict[str, Any] = {"schema": SCHEMA, "within": "50%", "noise": SeededNoise(1)}
    settings = usual | changes
    questions = settings.pop("questions", ("count by region",))

    with pytest.raises((ExpostError, KeyboardInterrupt)) as failure:
        ask(frame(small), *questions, **settings)

    assert traces(shown(failure.value).encode()) == []


@pytest.mark.parametrize("schema", [SCHEMA, PERSONS], ids=["records", "persons"])
def test_a_finished_answer_shows_no_canary_when_printed(schema: Schema) -> None:
    done = ask(pl.DataFrame(planted()), "count by region", schema=schema, within=90, noise=SeededNoise(1))

    assert traces((repr(done) + done._repr_html_() + repr(done.facts) + repr(done.table)).encode()) == []


@pytest.mark.parametrize("schema", [SCHEMA, PERSONS], ids=["records", "persons"])
def test_a_finished_run_shows_no_canary_when_printed(schema: Schema) -> None:
    done = job(pl.DataFrame(planted()), schema=schema)

    assert traces((repr(done) + done._repr_html_() + repr(done.facts)).encode()) == []


FIGURE = 424242.0
PLANTED = (b"424242", b"4.24242", struct.pack("<d", FIGURE), struct.pack("<f", FIGURE))
"""As it is printed by Python and by NumPy, and as it is stored."""


def rows(count: int = 60) -> tuple[Floats, Integers]:
    """Features of four classes, the canary in three of the rows."""
    features = np.eye(4)[np.arange(count) % 4]
    features[:3, :3] = np.where(np.eye(3) > 0, FIGURE, features[:3, :3])
    return features, np.arange(count) % 4


def seen(found: bytes) -> list[bytes]:
    """The forms of the figure that can be seen."""
    return [form for form in PLANTED if form in found]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with planted records, sound and broken, to work in."""
    features, labels = rows()
    huge = np.where(np.arange(60) == 7, int(FIGURE) * 10**6, labels)
    np.savez(tmp_path / "sound.npz", features=features, labels=labels)
    np.savez(tmp_path / "others.npz", features=features[8:], labels=labels[8:])
    np.savez(tmp_path / "alone.npz", features=features)
    np.savez(tmp_path / "short.npz", features=features, labels=labels[1:])
    np.savez(tmp_path / "huge.npz", features=features, labels=huge)
    np.savez(tmp_path / "negative.npz", features=features, labels=-huge)
    np.savez(tmp_path / "missing.npz", features=np.where(features == 1, np.nan, features), labels=labels)
    (tmp_path / "damaged.npz").write_bytes((tmp_path / "sound.npz").read_bytes()[:-200])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tuned(source: str, *words: str, accuracy: str = "0.05") -> tuple[int, bytes]:
    """A head in the folder ``out``."""
    short = ("--epochs", "1", "--epochs-between", "1", "--releases", "2", "--start", "5", "--seed", "1")
    return run("finetune", source, "--accuracy", accuracy, "--out", "out", *short, *words)


TUNED: dict[str, tuple[int, Callable[[], tuple[int, bytes]]]] = {
    "success": (0, lambda: tuned("sound.npz")),
    "success as JSON": (0, lambda: tuned("sound.npz", "--json")),
    "success on public records": (0, lambda: tuned("sound.npz", "--check", "public:others.npz")),
    "refused for its public records": (2, lambda: tuned("sound.npz", "--check", "public:sound.npz")),
    "success in floating point": (0, lambda: tuned("sound.npz", "--floating", "--confidence", "none")),
    "exhausted": (3, lambda: tuned("sound.npz", accuracy="0.999")),
    "capped": (3, lambda: tuned("sound.npz", "--max-epsilon", "5.5", accuracy="0.999")),
    "refused for its cap": (2, lambda: tuned("sound.npz", "--max-epsilon", "1")),
    "refused for its classes": (2, lambda: tuned("sound.npz", "--classes", "3")),
    "without labels": (2, lambda: tuned("alone.npz")),
    "a label too few": (2, lambda: tuned("short.npz")),
    "a label too large": (2, lambda: tuned("huge.npz")),
    "a label below zero": (2, lambda: tuned("negative.npz")),
    "a feature missing": (2, lambda: tuned("missing.npz")),
    "damaged": (2, lambda: tuned("damaged.npz")),
}


@pytest.mark.parametrize(("status", "job"), TUNED.values(), ids=TUNED)
def test_no_figure_of_a_feature_or_a_label_is_printed_or_written(
    status: int, job: Callable[[], tuple[int, bytes]], archive: Path
) -> None:
    before = {path.name for path in archive.iterdir()}

    ended, printed = job()

    left = [path for path in archive.rglob("*") if path.is_file() and path.name not in before]
    stored = [array.tobytes() for path in left if path.suffix == ".npz" for array in np.load(path).values()]
    assert ended == status, printed.decode()
    assert seen(printed) == []
    assert seen(b"".join([*(path.read_bytes() for path in left), *stored])) == []
    assert bool(left) is (status != 2)


def test_a_figure_in_the_records_themselves_would_be_seen(archive: Path) -> None:
    with np.load("sound.npz") as stored:
        features = stored["features"]

    assert seen(features.tobytes()) == [PLANTED[2]]
    assert seen(str(features[:3]).encode())
    assert seen(repr(FIGURE).encode()) == [PLANTED[0]]


def stopping_at(taken: int, steps: int) -> NoReturn:
    """Somebody presses the interrupt key while the records are open."""
    raise KeyboardInterrupt


UNTRAINED: dict[str, dict[str, Any]] = {
    "an absurd accuracy": {"accuracy": 2},
    "noise that could be repeated": {"random_state": 3},
    "a bare price": {"start": 1.5},
    "a cap": {"max_epsilon": 0.01},
    "too few classes": {"classes": 2},
    "an interrupt with the records open": {"on_progress": stopping_at},
    "public records with other features": {"validation": (np.eye(4)[:, :2], np.arange(4))},
}
BROKEN_ROWS: dict[str, Callable[[Floats, Integers], tuple[Any, Any]]] = {
    "a label too few": lambda features, labels: (features, labels[1:]),
    "a label too large": lambda features, labels: (features, labels + int(FIGURE) * 10**6),
    "a label below zero": lambda features, labels: (features, labels - int(FIGURE)),
    "labels that are no integers": lambda features, labels: (features, labels + FIGURE + 0.5),
    "labels in words": lambda features, labels: (features, [str(FIGURE)] * len(labels)),
    "a feature missing": lambda features, labels: (np.where(features == 1, np.nan, features), labels),
    "features without labels": lambda features, labels: (features, None),
}


def fails(features: Any, labels: Any, **changes: Any) -> str:
    """All that could be seen of the failure of a run."""
    usual: dict[str, Any] = {"accuracy": 0.3, "start": Fraction(2), "epochs": 1, "epochs_between": 1, "releases": 2}
    with pytest.raises((ExpostError, KeyboardInterrupt)) as failure:
        finetune(features, labels, **(usual | {"noise": SeededNoise(1)} | changes))
    return shown(failure.value)


@pytest.mark.parametrize("changes", UNTRAINED.values(), ids=UNTRAINED)
def test_no_figure_of_a_feature_is_in_what_an_error_holds(changes: dict[str, Any]) -> None:
    assert seen(fails(*rows(8), **changes).encode()) == []


@pytest.mark.parametrize("broken", BROKEN_ROWS.values(), ids=BROKEN_ROWS)
def test_no_figure_of_broken_records_is_in_what_an_error_holds(
    broken: Callable[[Floats, Integers], tuple[Any, Any]],
) -> None:
    assert seen(fails(*broken(*rows(8))).encode()) == []


def test_a_file_without_labels_shows_no_feature_in_what_its_error_holds(archive: Path) -> None:
    assert seen(fails("alone.npz", None).encode()) == []


def test_a_finished_head_shows_no_figure_when_printed() -> None:
    done = finetune(*rows(), accuracy=0.3, start=Fraction(2), epochs=1, releases=1, noise=SeededNoise(1))

    assert seen((repr(done) + done._repr_html_() + repr(done.facts) + repr(done.release)).encode()) == []
