"""The registry: what a data set's ledger says, as a record for the public registry of deployments.

The format is that of opendp/deployments-registry-data. Everything comes from the ledger, except for who publishes.
"""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context
from importlib import metadata

from expost.ledgers.book import Book
from expost.ledgers.overview import unit_words
from expost.ledgers.posting import Position
from expost.ledgers.terms import EPSILON, ZCDP
from expost.report.units import by_unit
from expost.text import Json, printable

MOST_SLUG = 80
NOT_STATED = "Not stated"
ROUNDED = Context(prec=6, rounding=ROUND_CEILING)
"""How a figure is rounded in a public record: upwards, as every bound is."""
UNPROTECTED = (
    "How often the data set was used, when and for what; the schemas, ladders and options of all runs, which are "
    "taken to be public; how long runs took; that a run failed. An insider who holds both the data and the ledger"
    " is not protected against."
)
COMPOSITION = (
    "Every step is held before data is opened and captured before its value leaves, in one ledger for all runs "
    "and analysts. Rényi bounds at fourteen orders, and Gaussian noise by its profile, add up in exact units; "
    "disjoint parts of one split count by the larger. The cap is a filter: whatever is asked, the total stays "
    "within it."
)
POST_PROCESSING = "Models, synthetic tables, estimates and reports are computed from released values only."
TUNING = (
    "Schemas and options are declared without looking at the data, or drafted for the owner's eyes and reviewed; "
    "what was chosen from the data was chosen by a step on the ledger."
)
RELEASES = (
    "Runs may follow until the cap is reached; the budget is never reset. A run that crashed stays counted in "
    "full until somebody settles it in writing."
)
ACTORS = (
    "The curator holds the data and the ledger. Analysts, if any, hold tokens with allowances of their own below "
    "the cap. Everybody else sees releases only."
)


def registry_record(
    book: Book, dataset: str, *, curator: str | None = None, title: str | None = None
) -> dict[str, Json]:
    """The record of one data set; who publishes it is not on the ledger, and is not stated unless it is given."""
    with book.home.reading() as reading:
        position = Position.locked(reading, dataset)
        known, terms = position.id, position.terms
        ((declared,),) = reading.rows("SELECT unit FROM datasets WHERE id = ?", known)
        ((first,),) = reading.rows("SELECT min(at) FROM entries WHERE dataset = ? AND kind = 'capture'", known)
        ((runs,),) = reading.rows("SELECT count(*) FROM runs WHERE dataset = ?", known)
        ((analysts,),) = reading.rows("SELECT count(*) FROM analysts WHERE dataset = ?", known)
        steps = reading.rows("SELECT DISTINCT what FROM runs WHERE dataset = ?", known)
    unit = unit_words(declared, position.neighbours)
    name, reached = title or dataset, terms.stated(position.committed)
    began = str(first or position.latest.isoformat())[:10]
    relation = position.neighbours or "have not been fixed yet"
    used = ", ".join(sorted(str(what) for (what,) in steps)) or "nothing yet"
    figure = ROUNDED.create_decimal(reached)
    figures = _parameters(terms.kind, float(figure), terms.delta)
    return {
        "url_slug": _slug(" ".join(each for each in (name, curator, began[:4]) if each)),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "product": {
                "name": name,
                "data_curators": [curator or NOT_STATED],
                "intended_use": f"{runs} {'run' if runs == 1 else 'runs'} on the data set {dataset}, each with its own "
                "receipt.",
                "data_product_type": "Summary statistics, synthetic tables and models",
                "data_product_region": "As stated by the curator",
                "description": f"Everything that was released of {dataset}: {used}.",
                "publication_date": began,
            },
            "dp_flavor": {
                "name": "Custom",
                "input_metric": by_unit("Number of records by which two data sets differ.", relation),
                "bound_on_input_distance": f"1: neighbours {relation}.",
                "output_measure": "Approximate ex-post privacy: the bound is reported with the release, and holds with "
                "probability 1 − δ in the approximate sense, for whatever rule decided when to stop.",
                "bound_on_output_distance": f"{figure:g} ({terms.notation}) for everything so far, holds included; "
                f"at most {float(terms.cap):g} ever.",
                "data_domain": f"Tables with the declared schemas of the data set {dataset}.",
                "unprotected_quantities": UNPROTECTED,
            },
            "privacy_loss": {
                "privacy_unit": unit,
                "privacy_unit_description": f"Neighbouring data sets {relation}; the unit is {unit}.",
                "privacy_parameters": figures,
                "privacy_parameters_description": f"{terms.notation}; of a cap of {float(terms.cap):g}, which was "
                "fixed before the first release.",
            },
            "model": {
                "model_name": "Central",
                "actors": ACTORS,
                "release_type": "Many releases",
                "release_type_description": RELEASES,
                "data_source_type": "Static",
                "access_type": "Interactive" if analysts else "Non-interactive",
            },
            "accounting": {"post_processing": POST_PROCESSING, "composition": COMPOSITION},
            "implementation": {
                "pre_processing_eda_hyperparameter_tuning": TUNING,
                "mechanisms": f"Steps of expost {metadata.version('expost')}, with exact integer noise unless an "
                "entry of the ledger says floating.",
                "justification": "The accuracy was asked for first; each run spent the least that reached it.",
            },
            "resources": {
                "sources": f"Head of the ledger's chain: {position.head} (entry {position.entries}).",
                "registry_authors": [curator or NOT_STATED],
            },
        },
    }  # fmt: skip


def yaml_text(found: Mapping[str, Json], depth: int = 0) -> str:
    """A record as YAML, whose strings are spelled as in JSON."""
    lines = []
    for name, value in found.items():
        start = f"{'  ' * depth}{name}:"
        if isinstance(value, Mapping):
            lines.append(f"{start}\n{yaml_text(value, depth + 1)}")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            entries = "".join(f"{'  ' * (depth + 1)}- {_scalar(each)}\n" for each in value)
            lines.append(f"{start}\n{entries}")
        else:
            lines.append(f"{start} {_scalar(value)}\n")
    return "".join(lines)


def _scalar(value: Json) -> str:
    """As in JSON, but for numbers like 1e-06, which YAML takes for texts unless they have a point."""
    text = json.dumps(printable(value) if isinstance(value, str) else value, ensure_ascii=False)
    return text.replace("e", ".0e") if isinstance(value, float) and "." not in text else text


def _parameters(kind: str, figure: float, delta: float | None) -> dict[str, Json]:
    if kind == ZCDP:
        return {"rho": figure}
    return {"epsilon": figure, **({"delta": delta} if kind == EPSILON else {})}


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:MOST_SLUG]
