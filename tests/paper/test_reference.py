"""The exact items, run in full, against numbers computed independently, to the digits given here."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from paper.engine.item import load
from paper.engine.job import Job
from paper.engine.record import HOME, read


@cache
def result(name: str) -> Any:
    item = load(name)
    job = Job(name, item.VERSION, item.FULL, 1, Path("unused: exact items have no repeats"), 1)
    return json.loads(json.dumps(item.run(job)))


def written(values: list[float]) -> list[str]:
    return [f"{value:.6f}" for value in values]


@pytest.mark.parametrize("name", ["brownian", "conversions", "orders"])
def test_the_committed_numbers_come_out_again(name: str) -> None:
    stored = read(name, HOME)
    assert stored is not None

    assert numbers(result(name)) == pytest.approx(numbers(stored["result"]), rel=1e-9, abs=1e-12)


def numbers(value: Any) -> list[float]:
    """Every number in a result, in order; differences from printed digits apart, which cancel."""
    if isinstance(value, dict):
        return [each for key, part in value.items() if key != "difference" for each in numbers(part)]
    if isinstance(value, list):
        return [each for part in value for each in numbers(part)]
    return [float(value)] if isinstance(value, int | float) else []


@pytest.mark.parametrize(
    ("bound", "known"),
    {
        "linear": "11.597052 5.298526 2.524263 0.979705 0.484853 0.241176 0.048035",
        "RDP + Lemma 7": "11.597052 5.298526 2.524263 0.979705 0.484853 0.241176 0.048035",
        "mixture": "12.456382 5.728191 2.739096 1.065638 0.527819 0.262660 0.052332",
        "RDP + CKS": "10.724824 4.728387 2.165716 0.794315 0.375261 0.177507 0.030821",
        "one release, exact": "9.997256 4.377178 1.993091 0.725522 0.340669 0.160042 0.027219",
    }.items(),
)
def test_bounds_at_their_best(bound: str, known: str) -> None:
    assert written(result("brownian")["optimised"]["lines"][bound]) == known.split()


@pytest.mark.parametrize(
    ("tuning", "bound", "known"),
    [
        (0, "linear", "5.298526 3.124079 2.515233 2.428256 2.406511"),
        (0, "RDP + Lemma 7", "5.298526 3.124079 2.515233 2.428256 2.406511"),
        (0, "mixture", "5.728191 2.768641 1.107418 0.561004 0.285377"),
        (0, "time-inverted mixture", "5.728191 2.810939 1.380703 1.061338 0.967957"),
        (1, "linear", "24.732556 6.363084 1.219631 0.484853 0.301158"),
        (1, "RDP + Lemma 7", "24.732556 6.363084 1.219631 0.484853 0.301158"),
        (1, "mixture", "11.063383 3.526757 1.094376 0.527819 0.265614"),
        (1, "time-inverted mixture", "6.060036 2.843545 1.077456 0.527819 0.269844"),
    ],
)
def test_bounds_tuned_once(tuning: int, bound: str, known: str) -> None:
    assert written(result("brownian")["tuned"][tuning]["lines"][bound]) == known.split()


def test_the_best_orders_of_lemma_7() -> None:
    known = "3.399263 5.798526 10.597052 24.992630 48.985259 96.970518 480.852591"

    assert written(result("brownian")["orders"]) == known.split()


def test_the_linear_bound_and_lemma_7_are_one_function() -> None:
    for panel in ("optimised_curve", "tuned_curve"):
        lines = result("brownian")[panel]["lines"]
        assert lines["linear"] == pytest.approx(lines["RDP + Lemma 7"], rel=1e-13)


def test_ours_lie_between_one_release_and_the_literature() -> None:
    lines = result("brownian")["optimised_curve"]["lines"]
    for least, ours, linear in zip(lines["one release, exact"], lines["RDP + CKS"], lines["linear"], strict=True):
        assert least < ours < linear


def test_parameters_chosen_at_the_realised_noise_break_their_claim() -> None:
    assert f"{result('brownian')['realised_tail']:.3f}" == "0.195"


def test_every_bound_that_claims_keeps_delta_and_one_release_does_not() -> None:
    found = {row["name"]: row["delta"] for row in result("brownian")["worst"]}

    assert found.pop("one release, exact") > 4e-5
    assert all(delta <= 1e-5 for delta in found.values())


@pytest.mark.parametrize(
    ("rule", "known"),
    {
        "fixed order, Lemma 7": "0.615943 0.627488 0.652359 0.705943 0.821387 1.070102 1.605943",
        "fixed order, CKS": "0.406980 0.418524 0.443396 0.496980 0.612424 0.861139 1.396980",
        "union over orders": "0.171027 0.244910 0.364283 0.535752 0.783173 1.181118 1.706158",
        "mixture, probabilistic": "0.170450 0.244261 0.364022 0.533459 0.782768 1.173459 1.705368",
        "mixture": "0.124199 0.191980 0.281138 0.437208 0.637257 0.998122 1.453304",
        "half-normal, probabilistic": "0.161419 0.238427 0.354161 0.527687 0.787897 1.178845 1.768347",
        "planned stops": "0.113159 0.170770 0.257604 0.388593 0.586515 0.886398 1.342714",
    }.items(),
)
def test_conversions_of_the_ladder(rule: str, known: str) -> None:
    (found,) = (column for column in result("conversions")["columns"] if column["name"] == rule)

    assert written(found["epsilons"]) == known.split()


@pytest.mark.parametrize(
    ("rule", "tail", "delta"),
    [
        ("fixed order, Lemma 7", "1.02e-06", "4.7e-08"),
        ("fixed order, CKS", "7.81e-05", "3.4e-06"),
        ("planned stops", "5.19e-04", "8.8e-06"),
        ("exact Gaussian, δ not split", "3.11e-03", "5.7e-05"),
        ("minimum over orders", "5.44e-06", "1.3e-07"),
    ],
)
def test_worst_cases_on_the_ladder(rule: str, tail: str, delta: str) -> None:
    (found,) = (column for column in result("conversions")["columns"] if column["name"] == rule)

    assert (f"{found['tail']:.2e}", f"{found['delta']:.1e}") == (tail, delta)


def test_the_exact_worst_case_uses_all_of_delta_and_states_less_than_planned_stops() -> None:
    columns = {column["name"]: column for column in result("conversions")["columns"]}
    exact, planned = columns["exact worst case"], columns["planned stops"]

    assert exact["delta"] == pytest.approx(1e-5, rel=1e-6)
    assert exact["delta"] <= 1e-5
    assert all(ours < theirs for ours, theirs in zip(exact["epsilons"], planned["epsilons"], strict=True))


def test_the_minimum_over_orders_breaks_on_the_ladders_it_is_known_to() -> None:
    tails = {row["rungs"]: f"{row['tail']:.5f}" for row in result("conversions")["decades"]}
    deltas = {row["rungs"]: f"{row['delta']:.3f}" for row in result("conversions")["decades"]}

    assert [tails[rungs] for rungs in (1, 8, 10, 20)] == ["0.00719", "0.05373", "0.06660", "0.12838"]
    assert [deltas[rungs] for rungs in (1, 9, 10, 20)] == ["0.002", "0.051", "0.057", "0.119"]


def test_the_noise_of_the_sparse_vector_check() -> None:
    plain, monotone = result("orders")["noise"]

    assert written([plain["share"], plain["accuracy"]]) == ["0.132256", "0.018065"]
    assert f"{plain['threshold']:.3f} {plain['question']:.3f} {plain['total']:.4f}" == "118.837 304.397 326.7719"
    assert f"{plain['xi']:.4e} {plain['rho']:.4e}" == "9.2919e-03 3.5405e-05"
    assert f"{monotone['threshold']:.5f} {monotone['question']:.5f} {monotone['total']:.4f}" == (
        "88.17731 162.29462 184.7019"
    )
    assert f"{monotone['xi']:.6e} {monotone['rho']:.6e}" == "8.713866e-03 6.430671e-05"
    assert (plain["wins_from"], monotone["wins_from"]) == (107, 35)


def test_the_noise_of_gaussian_and_balanced_checks() -> None:
    found = result("orders")

    assert f"{found['planned']:.5f}" == "77.45967"
    assert [f"{std:.4f}" for std in found["balanced"]] == [
        "31.6228",
        "29.4317",
        "20.0516",
        "13.6610",
        "9.3071",
        "6.3409",
    ]


def test_the_formula_as_printed_misses_what_the_queries_cost() -> None:
    for row in result("orders")["formulas"]:
        assert row["completed"] - row["paper"] == pytest.approx(0.01 / 20 * row["order"], rel=1e-9)
        assert row["ours"] <= row["completed"]
    assert any(row["paper"] < row["ours"] * 0.7 for row in result("orders")["formulas"])


def committed_definitions() -> dict[str, Any]:
    found = read("definitions", HOME)
    assert found is not None
    return {search["notion"]: search for search in found["result"]["searches"]}


def test_the_search_finds_that_merging_turns_a_tenth_into_seven_tenths() -> None:
    example = committed_definitions()["probabilistic"]["example"]

    assert (example["before"], example["after"]) == pytest.approx((0.1, 0.7), abs=1e-12)
    assert sorted(zip(example["p"], example["q"], strict=True)) == [(0, 1), (1, 0), (3, 6), (6, 3)]


def test_the_papers_table_is_met_where_it_is_settled() -> None:
    stored = read("definitions", HOME)
    assert stored is not None
    rows = {row["notion"]: row for row in stored["result"]["table"]}

    assert {name: row["same"] for name, row in rows.items() if not all(row["same"])} == {"approximate": [False, False]}
    assert rows["approximate"]["ours"] == ["yes", "yes"]


def test_only_the_probabilistic_notion_is_not_immune() -> None:
    assert [name for name, search in committed_definitions().items() if search["growth"] > 0] == ["probabilistic"]


def test_the_pure_notion_alone_has_no_brownian_claim() -> None:
    stored = read("definitions", HOME)
    assert stored is not None
    found = stored["result"]

    assert all(row["kept"] for row in found["brownian"])
    assert {row["notion"] for row in found["brownian"]} == set(committed_definitions()) - {"pure"}
    assert all(later > earlier + 0.4 for earlier, later in zip(found["pure"], found["pure"][1:], strict=False))
