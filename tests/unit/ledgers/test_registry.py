"""A record for the registry of deployments comes from the ledger alone, and is what the registry takes."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from expost.accounting.claim import Promise
from expost.accounting.curve import Linear
from expost.ledger import Entry
from expost.ledgers.book import Book, home_of
from expost.ledgers.registry import registry_record, yaml_text
from expost.ledgers.run import LedgerRun
from expost.ledgers.terms import Terms, epsilon_terms, order_terms, zcdp_terms
from expost.numerics import exact
from tests.unit.ledgers.examples import whole_ledger
from tests.unit.ledgers.steps import run, step

TEXT, TEXTS = {"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}, "minItems": 1}


def table(**fields: Any) -> dict[str, Any]:
    """All of these, and nothing else."""
    return {"type": "object", "additionalProperties": False, "required": list(fields), "properties": fields}


SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    **table(
        url_slug={"type": "string", "pattern": "^[a-z0-9-]+$"},
        status={"enum": ["Draft"]},
        tier={"enum": [1, 2, 3]},
        deployment=table(
            product=table(
                name=TEXT,
                data_curators=TEXTS,
                intended_use=TEXT,
                data_product_type=TEXT,
                data_product_region=TEXT,
                description=TEXT,
                publication_date={"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
            ),
            dp_flavor=table(
                name={"enum": ["Custom"]},
                input_metric=TEXT,
                bound_on_input_distance=TEXT,
                output_measure=TEXT,
                bound_on_output_distance=TEXT,
                data_domain=TEXT,
                unprotected_quantities=TEXT,
            ),
            privacy_loss=table(
                privacy_unit=TEXT,
                privacy_unit_description=TEXT,
                privacy_parameters={
                    "type": "object",
                    "additionalProperties": False,
                    "minProperties": 1,
                    "properties": {each: {"type": "number"} for each in ("epsilon", "rho", "delta", "alpha")},
                },
                privacy_parameters_description=TEXT,
            ),
            model=table(
                model_name={"enum": ["Central"]},
                actors=TEXT,
                release_type={"enum": ["One release", "Many releases"]},
                release_type_description=TEXT,
                data_source_type={"enum": ["Static", "Dynamic"]},
                access_type={"enum": ["Interactive", "Non-interactive"]},
            ),
            accounting=table(post_processing=TEXT, composition=TEXT),
            implementation=table(pre_processing_eda_hyperparameter_tuning=TEXT, mechanisms=TEXT, justification=TEXT),
            resources=table(sources=TEXT, registry_authors=TEXTS),
        ),
    ),
}
"""An excerpt of what the registry takes, written down from its records."""


def spent(tmp_path: Path, terms: Terms, *, floating: bool = False) -> Book:
    """A ledger with one run on it."""
    book = Book(home_of(str(tmp_path / "ledger.db"), create=True))
    book.add("visits", terms)
    rho = exact(0.01, "rho")
    promise = Promise(Linear(exact(0, "xi"), rho, rho))
    with LedgerRun(book, "visits", "synth") as run:
        run.pledge(None)
        entry = Entry("Gaussian", "data", "add or remove one record", seeded=False, floating=floating, facts={})
        run.capture(run.hold(entry, promise), promise.as_spent())
    return book


@pytest.mark.parametrize("terms", [epsilon_terms(3, 1e-6), order_terms(1, alpha=20), zcdp_terms(0.1)])
def test_a_record_is_what_the_registry_takes(tmp_path: Path, terms: Terms) -> None:
    record = yaml.safe_load(yaml_text(registry_record(spent(tmp_path, terms), "visits", curator="General Hospital")))

    jsonschema.Draft7Validator(SCHEMA).validate(record)
    assert record["deployment"]["dp_flavor"]["name"] == "Custom"


def test_a_record_needs_nothing_that_is_not_on_the_ledger(tmp_path: Path) -> None:
    """Who publishes it is not, which the record says."""
    record = yaml.safe_load(yaml_text(registry_record(spent(tmp_path, zcdp_terms(0.1)), "visits")))

    jsonschema.Draft7Validator(SCHEMA).validate(record)
    assert record["deployment"]["product"]["data_curators"] == ["Not stated"]
    assert record["url_slug"].startswith("visits-2")


def test_the_figures_are_those_of_the_ledger(tmp_path: Path) -> None:
    record: Any = registry_record(spent(tmp_path, zcdp_terms(0.1)), "visits", curator="General Hospital")

    assert record["deployment"]["privacy_loss"]["privacy_parameters"] == {"rho": pytest.approx(0.01, rel=1e-5)}
    assert "add or remove one record" in record["deployment"]["dp_flavor"]["bound_on_input_distance"]


def deployment(book: Book) -> Any:
    """The part of the record that says what was done."""
    record: Any = registry_record(book, "visits", curator="General Hospital")
    return record["deployment"]


def test_a_cap_on_epsilon_is_told_with_its_delta_and_the_orders_it_is_measured_at(tmp_path: Path) -> None:
    told = deployment(spent(tmp_path, epsilon_terms(3, 1e-6)))

    assert told["dp_flavor"]["output_measure"].startswith("Approximate differential privacy, (ε, δ)")
    assert "at the orders 2, 4, 8, 12, 16, 32, 64, 128 and 256 " in told["accounting"]["composition"]
    assert "exact profile" in told["accounting"]["composition"]
    assert told["privacy_loss"]["privacy_parameters"].keys() == {"epsilon", "delta"}


def test_a_cap_at_one_order_is_told_with_that_order_and_claims_no_delta(tmp_path: Path) -> None:
    """An ε without its order would be read as that of pure differential privacy."""
    told = deployment(spent(tmp_path, order_terms(1, alpha=20)))

    assert told["dp_flavor"]["output_measure"].startswith("Rényi differential privacy at the order 20")
    assert "A Rényi bound at the order 20 adds up" in told["accounting"]["composition"]
    assert told["privacy_loss"]["privacy_parameters"] == {"alpha": 20.0, "epsilon": pytest.approx(0.2, rel=1e-5)}
    assert "δ" not in str(told)
    assert "profile" not in str(told)


def test_a_cap_on_zcdp_is_told_as_such_and_claims_no_delta_and_no_orders(tmp_path: Path) -> None:
    told = deployment(spent(tmp_path, zcdp_terms(0.1)))

    assert told["dp_flavor"]["output_measure"].startswith("Zero-concentrated differential privacy")
    assert "The ρ of zCDP adds up" in told["accounting"]["composition"]
    assert told["privacy_loss"]["privacy_parameters"].keys() == {"rho"}
    assert not {"δ", "profile", "order"} & set(str(told["accounting"]).split())


def test_floating_point_noise_is_looked_up(tmp_path: Path) -> None:
    (tmp_path / "floating").mkdir()
    exactly = deployment(spent(tmp_path, zcdp_terms(0.1)))
    floating = deployment(spent(tmp_path / "floating", zcdp_terms(0.1), floating=True))

    assert "all with exact integer noise" in exactly["implementation"]["mechanisms"]
    assert "those by synth have floating-point noise" in floating["implementation"]["mechanisms"]
    assert "exact" not in floating["implementation"]["mechanisms"].partition("synth")[0]


def test_views_that_were_drawn_from_others_are_told_to_be_floating(tmp_path: Path) -> None:
    whole_ledger(tmp_path / "whole.db")
    with Book(home_of(str(tmp_path / "whole.db"))) as book:
        told: Any = registry_record(book, "admissions")

    assert "Views of shared releases" in told["deployment"]["implementation"]["mechanisms"]


def test_a_record_claims_nothing_of_runs_that_the_ledger_does_not_know(tmp_path: Path) -> None:
    """An odometer of one's own is asked for no accuracy, and a shared release has no receipt."""
    told = str(deployment(spent(tmp_path, zcdp_terms(0.1))))

    assert "accuracy was asked" not in told
    assert "own receipt" not in told


def test_neighbours_that_no_run_has_fixed_are_told_in_a_sentence(book: Book) -> None:
    told = deployment(book)

    assert (
        told["dp_flavor"]["bound_on_input_distance"] == "1, where the first run fixes which data sets are neighbours."
    )
    assert "have not been fixed" not in str(told)


@pytest.mark.parametrize("rho", ["1/7", "1/3", "1234567/10000000"])
def test_a_figure_is_rounded_up(book: Book, rho: str) -> None:
    """In each home: a record is made in a transaction that only reads."""
    step(run(book), rho)

    record: Any = registry_record(book, "visits", curator="General Hospital")

    figure = record["deployment"]["privacy_loss"]["privacy_parameters"]["rho"]
    assert Fraction(rho) <= Fraction(figure) < Fraction(rho) * (1 + Fraction(1, 10**5))
    assert Fraction(record["deployment"]["dp_flavor"]["bound_on_output_distance"].split()[0]) >= Fraction(rho)


def test_what_is_not_printable_is_left_out(book: Book) -> None:
    book.run("visits", "a\u2028b\x7f").pledge(None)

    record = yaml.safe_load(yaml_text(registry_record(book, "visits", curator="General Hospital")))

    assert "a?b?" in record["deployment"]["product"]["description"]


def test_names_that_yaml_would_read_otherwise_stay_texts(tmp_path: Path) -> None:
    book = Book(home_of(str(tmp_path / "ledger.db"), create=True))
    book.add("no: [1", epsilon_terms(3, 1e-6))

    record = yaml.safe_load(yaml_text(registry_record(book, "no: [1", curator="null")))

    assert record["deployment"]["product"]["name"] == "no: [1"
    assert record["deployment"]["product"]["data_curators"] == ["null"]
