"""The registry: what a data set's ledger says, as a record for the public registry of deployments.

The format is that of opendp/deployments-registry-data. Everything comes from the ledger, except the publisher.
"""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context
from importlib import metadata

from expost.ledgers.book import Book
from expost.ledgers.home import Writing
from expost.ledgers.measures import Order
from expost.ledgers.overview import unit_words
from expost.ledgers.posting import Position
from expost.ledgers.terms import EPSILON, ZCDP, Terms
from expost.report.units import RECORDS, by_unit
from expost.text import Json, printable

MOST_SLUG = 80
NOT_STATED = "Not stated"
ROUNDED = Context(prec=6, rounding=ROUND_CEILING)
"""How a figure is rounded in a public record: upwards, as every bound is."""
FIRST = "the first run fixes which data sets are neighbours"
ROUNDING = '"floating":true'
"""How the entry of a capture says that its noise is rounded; within a text its quotes would be escaped."""
UNPROTECTED = (
    "How often the data set was used, when and for what; the schemas, ladders and options of all runs, which are "
    "taken to be public; how long runs took; that a run failed. An insider who holds both the data and the ledger"
    " is not protected against."
)
COMPOSITION = (
    "Every step is held before data is opened and captured before its value leaves, in one ledger for all runs "
    "and analysts. {adds} up in exact units; disjoint parts of one split count by the larger. The cap is a filter: "
    "whatever is asked, the total stays within it."
)
SO_FAR = "What is stated for everything so far is an ex-post bound: it holds for whatever rule decided when to stop."
EXACT, FLOATING = (
    "Steps of expost {version}, all with exact integer noise.",
    "Steps of expost {version}. Some or all of those by {runs} have floating-point noise, whose rounding the bound "
    "does not cover; all others have exact integer noise.",
)
VIEWS = (
    "Views of shared releases that analysts got and that were not measured but drawn from finer ones have "
    "floating-point noise on top, on which the bound for everything does not rest."
)
POST_PROCESSING = "Models, synthetic tables, estimates and reports are computed from released values only."
TUNING = (
    "The ledger covers what was chosen by steps on it. That schemas, options and caps were chosen without looking at "
    "the data otherwise is the word of the curator."
)
JUSTIFICATION = (
    "The cap was fixed by the curator before the first release and is never raised; why it is what it is, the ledger "
    "does not say."
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
        kinds = reading.rows("SELECT DISTINCT what FROM runs WHERE dataset = ?", known)
        mechanisms = _mechanisms(reading, known)
    unit = unit_words(declared, position.neighbours)
    name, reached = title or dataset, terms.stated(position.committed)
    began = str(first or position.latest.isoformat())[:10]
    relation = position.neighbours
    near = f"data sets are neighbours if one becomes the other when you {relation}"
    used = ", ".join(sorted(str(what) for (what,) in kinds)) or "nothing yet"
    figure = ROUNDED.create_decimal(reached)
    notion, adds, parameters = _notion(terms, float(figure))
    return {
        "url_slug": _slug(" ".join(each for each in (name, curator, began[:4]) if each)),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "product": {
                "name": name,
                "data_curators": [curator or NOT_STATED],
                "intended_use": f"{runs} {'run' if runs == 1 else 'runs'} on the data set {dataset}.",
                "data_product_type": "Statistics, synthetic tables or models",
                "data_product_region": "As stated by the curator",
                "description": f"Everything that was released of {dataset}: {used}.",
                "publication_date": began,
            },
            "dp_flavor": {
                "name": "Custom",
                "input_metric": by_unit("Number of records by which two data sets differ.", relation or RECORDS),
                "bound_on_input_distance": f"1, where {near if relation else FIRST}.",
                "output_measure": f"{notion} {SO_FAR}",
                "bound_on_output_distance": f"{figure:g} ({terms.notation}) for everything so far, holds included; "
                f"at most {float(terms.cap):g} ever.",
                "data_domain": f"Tables with the declared schemas of the data set {dataset}.",
                "unprotected_quantities": UNPROTECTED,
            },
            "privacy_loss": {
                "privacy_unit": unit,
                "privacy_unit_description": f"The unit is {unit}; {near if relation else FIRST}.",
                "privacy_parameters": parameters,
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
            "accounting": {"post_processing": POST_PROCESSING, "composition": COMPOSITION.format(adds=adds)},
            "implementation": {
                "pre_processing_eda_hyperparameter_tuning": TUNING,
                "mechanisms": mechanisms,
                "justification": JUSTIFICATION,
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


def _notion(terms: Terms, figure: float) -> tuple[str, str, dict[str, Json]]:
    """What the cap is a bound on, what adds up below it, and the parameters by which everything so far is stated."""
    orders = [f"{float(each.alpha):g}" for each in terms.measures if isinstance(each, Order)]
    if terms.kind == EPSILON:
        adds = f"Rényi bounds at the orders {', '.join(orders[:-1])} and {orders[-1]}"
        notion = "Approximate differential privacy, (ε, δ), for everything that is ever released together."
        gaussian = "while all noise is Gaussian, the ρ of its exact profile add"
        return notion, f"{adds} and, {gaussian}", {"epsilon": figure, "delta": terms.delta}
    if terms.kind == ZCDP:
        notion = "Zero-concentrated differential privacy (zCDP), for everything that is ever released together."
        return notion, "The ρ of zCDP adds", {"rho": figure}
    (alpha,) = orders
    notion = f"Rényi differential privacy at the order {alpha}, for everything that is ever released together."
    return notion, f"A Rényi bound at the order {alpha} adds", {"alpha": float(alpha), "epsilon": figure}


def _mechanisms(reading: Writing, dataset: int | str) -> str:
    """Whose noise is exact, by the entries of all captures and of the views that were drawn from others."""
    found = reading.rows(
        "SELECT DISTINCT runs.what FROM entries JOIN runs ON runs.id = entries.run WHERE entries.dataset = ? "
        "AND entries.kind = 'capture' AND entries.body LIKE ?",
        *(dataset, f"%{ROUNDING}%"),
    )
    ((drawn,),) = reading.rows("SELECT count(*) FROM entries WHERE dataset = ? AND kind = 'view'", dataset)
    runs = ", ".join(sorted(str(what) for (what,) in found))
    told = (FLOATING if runs else EXACT).format(version=metadata.version("expost"), runs=runs)
    return f"{told} {VIEWS}" if drawn else told


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:MOST_SLUG]
