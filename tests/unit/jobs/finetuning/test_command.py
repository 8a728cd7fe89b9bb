"""The command that fine-tunes: a line a release, three files, one sentence for a refusal, and a plan without data."""

import json
import re
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from click.testing import CliRunner, Result

from expost.cli import main
from expost.jobs import audit as check
from expost.jobs.job import Result as JobResult
from expost.report.digits import price
from expost.training import Classifier
from tests.unit.commands import beside, kept, refused, run, said
from tests.unit.folders.examples import older_release
from tests.unit.report.examples import blobs

SHORT = ("--start", "1", "--releases", "3", "--epochs", "2", "--epochs-between", "4")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with private and public records, to work in."""
    for name, count in (("records", 600), ("public", 90)):
        features, labels = blobs(count)
        np.savez(tmp_path / f"{name}.npz", features=features, labels=labels)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tuned(*words: str, source: str = "records.npz", accuracy: str = "0.8") -> Result:
    """A head in the folder ``out``."""
    return run("finetune", source, *beside(("--accuracy", accuracy, "--out", "out", *SHORT), words))


def plan(*words: str) -> Result:
    """What the head would cost."""
    return run("plan", "finetune", *beside(SHORT, words))


def test_a_head_that_passed_exits_with_zero_and_says_what_it_cost(here: Path) -> None:
    result = tuned("--seed", "1")

    assert result.exit_code == 0, result.output
    assert "at 80 % on held-out records that it was not trained on. With 95 % confidence" in said(result)
    assert "This cost ε = " in said(result)


def test_a_release_is_a_model_a_report_and_a_receipt(here: Path) -> None:
    tuned("--seed", "1")

    assert {path.name for path in (here / "out").iterdir()} == {"model.npz", "report.html", "receipt.json"}
    assert Classifier.load(here / "out/model.npz").weights.shape == (3, 7)


@pytest.mark.parametrize(("words", "title"), [((), "records"), (("--title", "Digits of 2024"), "Digits of 2024")])
def test_a_report_is_headed_by_the_title_or_by_the_name_of_the_file(
    here: Path, words: tuple[str, ...], title: str
) -> None:
    tuned("--seed", "1", *words)

    assert f"<title>{title}" in (here / "out/report.html").read_text(encoding="utf-8")


def test_there_is_a_line_a_release_with_steps_price_margin_and_verdict(here: Path) -> None:
    result = tuned("--seed", "1", accuracy="0.99")

    lines = [line for line in result.output.splitlines() if line.startswith("release: ")]
    number = r"[+\N{MINUS SIGN}][\d.]+ ± [\d.]+ records"
    asked = rf"release: \d of 3  steps: (20|60|100)  ε so far: [\d.]+  noisy margin: {number}  verdict: not yet"
    assert all(re.fullmatch(asked, line) for line in lines), lines


def test_the_check_of_the_paper_is_not_asked_about_the_last_release(here: Path) -> None:
    result = tuned("--seed", "1", "--confidence", "none", accuracy="0.99")

    assert re.search(
        r"release: 3 of 3  steps: 100  ε so far: [\d.]+  noisy margin: —  verdict: not asked", result.output
    )


def test_on_a_screen_there_is_a_table_with_a_bar_in_place_of_plain_lines(here: Path) -> None:
    words = ("finetune", "records.npz", "--accuracy", "0.99", "--out", "out", *SHORT, "--seed", "1")

    result = CliRunner().invoke(main, words, env={"FORCE_COLOR": "1", "COLUMNS": "100"})

    assert result.exit_code == 3
    assert "release: 1" not in result.output
    assert "40 of 40 steps" in result.output
    assert re.search(r"\n +3 of 3 +100 +[\d.]+ +.* records +not yet", result.output)


def test_margins_are_shown_as_accuracies_where_the_number_of_records_is_said(here: Path) -> None:
    result = tuned("--seed", "1", "--records", "600")

    assert re.search(r"noisy accuracy: 0\.\d{3} ± 0\.\d{3}  verdict: ", result.output)
    assert "records  verdict" not in result.output


def test_a_run_that_ends_exits_with_three_and_keeps_the_last_release_marked(here: Path) -> None:
    result = tuned("--seed", "1", accuracy="0.99")

    assert result.exit_code == 3, result.output
    assert "was NOT confirmed: release 3 was the last." in said(result)
    assert "NOT CONFIRMED" in (here / "out/report.html").read_text(encoding="utf-8")
    assert kept(here)["ended"]["reached"] is False
    assert (here / "out/model.npz").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--accuracy", "1"),
        ("--accuracy", "nan"),
        ("--validation", "0"),
        ("--validation", "1"),
        ("--check", "calibrated"),
        ("--check", "public:none.npz"),
        ("--start", "0"),
        ("--start", "nan"),
        ("--releases", "0"),
        ("--epochs", "0"),
        ("--epochs-between", "0"),
        ("--rate", "0"),
        ("--rate", "2"),
        ("--rate", "nan"),
        ("--delta", "0"),
        ("--max-grad-norm", "0"),
        ("--batch", "0"),
        ("--learning-rate", "nan"),
        ("--drop", "-1"),
        ("--classes", "1"),
        ("--max-epsilon", "0.1"),
        ("--max-epsilon", "nan"),
        ("--seed", "-1"),
    ],
    ids=" ".join,
)
def test_an_absurd_option_is_refused_before_the_data_is_opened(words: tuple[str, ...], here: Path) -> None:
    assert "nowhere.npz" not in refused(tuned(*words, source="nowhere.npz"), here)


def test_the_data_would_be_missed_if_it_were_opened(here: Path) -> None:
    assert "nowhere.npz" in refused(tuned(source="nowhere.npz"), here)


@pytest.mark.parametrize(
    "words", [("--check", "guess"), ("--records", "0"), ("--releases", "many"), ("--validation", "half")], ids=" ".join
)
def test_an_option_that_is_none_is_refused(words: tuple[str, ...], here: Path) -> None:
    assert tuned(*words).exit_code == 2
    assert not (here / "out").exists()


def test_a_folder_that_exists_is_refused_and_left_alone(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out/precious").touch()

    result = tuned(source="nowhere.npz")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "out exists" in result.stderr
    assert (here / "out/precious").exists()

    result = tuned("--seed", "1", "--overwrite")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "out is not a release of expost" in result.stderr
    assert (here / "out/precious").exists()


def test_a_release_is_replaced_if_that_is_asked_and_its_receipt_is_kept(here: Path) -> None:
    codes = [tuned("--seed", "1", *words).exit_code for words in ((), ("--overwrite",), ("--overwrite",))]

    assert codes == [0, 0, 0]
    assert {path.name for path in (here / "out/earlier").iterdir()} == {"receipt-1.json", "receipt-2.json"}


def test_a_folder_that_holds_the_public_records_is_not_replaced(here: Path) -> None:
    older_release(here / "out")
    (here / "public.npz").rename(here / "out/model.npz")

    result = tuned("--seed", "1", "--overwrite", "--check", "public:out/model.npz")

    assert result.exit_code == 2
    assert "out holds what this run reads" in result.stderr


def test_a_seed_is_called_not_private_and_repeats_the_head(here: Path) -> None:
    result, models = None, []
    for _ in range(2):
        result = tuned("--seed", "4", "--overwrite")
        models.append((here / "out/model.npz").read_bytes())

    assert result is not None
    assert "NOT PRIVATE" in said(result)
    assert kept(here)["warning"].startswith("NOT PRIVATE")
    assert models[0] == models[1]


def test_without_a_seed_nothing_is_called_so(here: Path) -> None:
    result = tuned()

    assert result.exit_code in {0, 3}, result.output
    assert "NOT PRIVATE" not in said(result) + (here / "out/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("accuracy", ["0.8", "0.99"])
def test_as_json_the_receipt_is_all_that_is_printed_and_it_adds_up(accuracy: str, here: Path) -> None:
    result = tuned("--seed", "1", "--json", accuracy=accuracy)

    printed = json.loads(result.stdout)
    assert printed == kept(here)
    assert check(printed).matches


@pytest.mark.parametrize(
    "words",
    [
        ("--check", "gaussian"),
        ("--check", "svt"),
        ("--check", "public:public.npz"),
        ("--validation", "0.3"),
        ("--floating",),
    ],
    ids=" ".join,
)
def test_a_receipt_is_audited_whatever_was_asked(words: tuple[str, ...], here: Path) -> None:
    result = tuned("--seed", "1", *words)
    assert result.exit_code in {0, 3}, result.output

    audited = run("audit", "out/receipt.json")

    assert audited.exit_code == 0, audited.output
    assert "lead to what it states" in audited.stdout


def test_the_pledge_is_shown_before_the_records_are_read_and_kept_in_the_receipt(here: Path) -> None:
    before = tuned("--seed", "1", source="nowhere.npz").stdout
    after = tuned("--seed", "1").stdout

    assert before == f"pledged: sha256 {kept(here)['pledged']}\n"
    assert after.startswith(before)


def test_a_receipt_that_was_changed_is_audited_with_three(here: Path) -> None:
    tuned("--seed", "1")
    changed = kept(here)
    changed["bill"][0]["facts"]["steps"] -= 1
    (here / "out/receipt.json").write_text(json.dumps(changed), encoding="utf-8")

    result = run("audit", "out/receipt.json")

    assert result.exit_code == 3
    assert "the cost of line 1, Head, does not follow from its facts" in result.stdout


def test_floating_point_noise_is_told(here: Path) -> None:
    result = tuned("--seed", "1", "--floating")

    assert "rounding the bound does not cover" in said(result)
    assert kept(here)["floating"] is True


def test_a_run_that_a_cap_ended_says_so(here: Path) -> None:
    result = tuned("--seed", "1", "--max-epsilon", "1.2", accuracy="0.99")

    assert result.exit_code == 3
    assert "the cap of ε = 1.2 left no room for release 2" in said(result)
    assert kept(here)["statement"]["epsilon"] <= 1.2


def test_an_interrupt_while_files_are_written_says_whether_they_were(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*words: object, **settings: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(JobResult, "save", interrupt)

    result = tuned("--seed", "1")

    assert result.exit_code == 130
    assert "nothing was written, and ε = " in result.stderr


def test_a_file_sets_options_and_the_command_line_wins(here: Path) -> None:
    (here / "job.toml").write_text('accuracy = 0.8\nreleases = 2\ncheck = "gaussian"\n', encoding="utf-8")

    result = run("finetune", "records.npz", "--config", "job.toml", "--out", "out", "--epochs", "3", "--seed", "1")

    assert result.exit_code in {0, 3}, result.output
    assert kept(here)["training"]["steps"] == [30, 90]
    assert kept(here)["bill"][1]["what"] == "Gaussian check"


def test_one_file_of_options_serves_the_plan_and_the_run(here: Path) -> None:
    (here / "job.toml").write_text("accuracy = 0.8\nlearning-rate = 0.1\nrecords = 600\n", encoding="utf-8")

    planned, result = plan("--config", "job.toml"), tuned("--config", "job.toml", "--seed", "1")

    assert (planned.exit_code, result.exit_code) == (0, 0), planned.output + result.output
    assert "about 600 records" in said(planned)
    assert kept(here)["training"]["learning rate"] == 0.1


def test_a_file_for_a_table_is_not_taken_for_one_for_training(here: Path) -> None:
    (here / "job.toml").write_text('ladder = "0.01:1:3"\n', encoding="utf-8")

    result = tuned("--config", "job.toml")

    assert result.exit_code == 2
    assert "ladder, which is not an option of finetune or plan finetune" in said(result)


def rows(result: Result) -> list[list[str]]:
    """The cells of a plan."""
    lines = result.output.splitlines()
    return [re.split(r" {2,}", line.strip()) for line in lines if line[:8].strip().isdigit()]


def test_a_plan_shows_steps_price_and_noise_of_each_release(here: Path) -> None:
    found = rows(plan("--accuracy", "0.8"))

    assert [tuple(row[:2]) for row in found] == [("1", "20"), ("2", "60"), ("3", "100")]
    assert [float(row[2]) for row in found] == sorted(float(row[2]) for row in found)
    assert all(0 < float(row[3]) < float(row[4]) for row in found)
    assert rows(plan("--accuracy", "0.8", "--confidence", "none"))[-1][3] == "not asked"


def test_a_plan_warns_where_not_even_a_perfect_head_could_pass(here: Path) -> None:
    few, many = (said(plan("--accuracy", "0.99", "--records", number)) for number in ("40", "100000000"))

    assert "Nothing passes here but by luck" in few
    assert "by luck" not in many


def test_a_plan_shows_the_noise_multiplier_that_the_run_then_has(here: Path) -> None:
    planned = said(plan())

    tuned("--seed", "1")

    shown = re.search(r"noise of ([\d.]+) times the clipping norm", planned)
    assert shown is not None
    assert float(shown[1]) == pytest.approx(float(Fraction(kept(here)["training"]["noise multiplier"])), rel=1e-3)


@pytest.mark.parametrize("method", ["means", "ridge"])
def test_a_plan_of_moments_shows_the_noise_that_the_run_then_has(here: Path, method: str) -> None:
    words = ("--method", method, "--start", "1", "--releases", "2")
    planned = said(run("plan", "finetune", *words))

    result = run("finetune", "records.npz", "--accuracy", "0.99", "--out", "out", "--seed", "1", *words)

    assert result.exit_code == 3, result.output
    facts = [line["facts"] for line in kept(here)["bill"] if line["what"] == "Brownian"]
    precise = accumulate(Fraction(each["l2_squared"]) / Fraction(each["variance"]) for each in facts)
    shown = re.search(r"The moments of a release have noise of ([\d.]+), falling to ([\d.]+), times", planned)
    assert shown is not None
    assert [float(each) for each in shown.groups()] == pytest.approx(
        [float(each) ** -0.5 for each in precise], rel=1e-3
    )


@pytest.mark.parametrize("words", [[], ["--method", "ridge"], ["--rate", "0.2"]], ids=" ".join)
def test_a_plan_with_a_unit_is_that_of_records_in_persons(here: Path, words: list[str]) -> None:
    """A unit changes what is told, and no price."""
    of_records, of_persons = (
        run("plan", "finetune", "--records", "600", *words, *unit) for unit in ([], ["--unit", "patient"])
    )

    assert of_persons.exit_code == 0, of_persons.output
    assert rows(of_persons) == rows(of_records)
    assert "about 600 persons" in said(of_persons)
    assert "record" not in said(of_persons)


def test_a_plan_says_the_prices_that_the_run_then_states(here: Path) -> None:
    planned = plan().output

    tuned("--seed", "1")

    assert all(price(stop["epsilon"]) in planned for stop in kept(here)["plan"]["stops"])


def test_a_plan_shows_the_noise_that_the_check_then_has(here: Path) -> None:
    planned = rows(plan("--accuracy", "0.99"))

    tuned("--seed", "1", accuracy="0.99")

    assert [row[3] for row in planned[:-1]] == [f"{each['std']:.1f}" for each in kept(here)["history"][:-1]]


def test_a_plan_shows_the_noise_as_accuracy_where_the_number_of_records_is_public(here: Path) -> None:
    third, half = (rows(plan("--records", "600", "--validation", share))[0] for share in ("0.25", "0.5"))

    assert float(third[5]) - 0.9 == pytest.approx(2 * (float(half[5]) - 0.9), rel=0.02)
    assert float(half[5]) == pytest.approx(0.9 + float(half[4]) / 300, abs=2e-4)


def test_a_plan_for_public_records_has_no_noise_and_a_price_all_the_same(here: Path) -> None:
    result = plan("--check", "public:public.npz")

    assert [row[3] for row in rows(result)] == ["none"] * 3
    assert "The check is on public records, without noise." in said(result)


def test_a_plan_touches_no_data(here: Path) -> None:
    for path in here.iterdir():
        path.unlink()

    assert plan().exit_code == 0
    assert list(here.iterdir()) == []


def test_a_plan_of_an_absurd_run_is_refused(here: Path) -> None:
    refused(plan("--releases", "0"), here)


def test_a_plan_of_nothing_says_what_can_be_planned() -> None:
    result = run("plan")

    assert result.exit_code == 2
    assert {"synth", "finetune"} <= set(result.output.split())


@pytest.mark.parametrize("words", [("finetune",), ("plan", "finetune")])
def test_help_is_at_hand(words: tuple[str, ...]) -> None:
    result = run(*words, "--help")

    assert result.exit_code == 0
    assert result.output.startswith("Usage:")
