"""The rules of a schema in a model: as tables over the columns' places, refused where no model can keep them all."""

from bisect import bisect_left

from expost.errors import InvalidValue, SchemaMismatch
from expost.tabular.model.inference import Allowed, Passes
from expost.tabular.model.junction import Junction
from expost.tabular.schema.rules import short_rule
from expost.tabular.schema.schema import Schema
from expost.tabular.selection import LARGEST_CLIQUE


def allowed_by(schema: Schema) -> tuple[Allowed, ...]:
    """What each rule allows, its columns by number."""
    place = {name: index for index, name in enumerate(schema.names)}
    return tuple(Allowed(tuple(place[name] for name in each.columns), each.allowed) for each in schema.constraints)


def require_possible(schema: Schema) -> None:
    """Refuse rules that contradict each other, or tie so much together that nobody can tell; no data is needed."""
    allowed = allowed_by(schema)
    tied = {place for each in allowed for place in each.clique}
    sizes = [size if place in tied else 1 for place, size in enumerate(schema.domain.values())]
    junction = Junction.of(sizes, [each.clique for each in allowed])
    if allowed and junction.cells > LARGEST_CLIQUE:
        names = ", ".join(schema.names[place] for place in junction.widest)
        raise SchemaMismatch(
            f"the rules of the schema tie {junction.cells:,} combinations of values together, most of them of {names}; "
            f"the limit is {LARGEST_CLIQUE:,}: use coarser bins, or fewer rules."
        )
    if _is_possible(junction, allowed):
        return
    # what is contradicted stays so under more rules, so that halves find the first one
    counts = range(1, len(allowed) + 1)
    first = counts[bisect_left(counts, True, key=lambda count: not _is_possible(junction, allowed[:count]))]
    before = "" if first == 1 else " together with the rules before it"
    sentence = short_rule(schema.rules[first - 1])
    raise SchemaMismatch(f'the rule "{sentence}" leaves no possible value{before}; correct it, or what contradicts it.')


def _is_possible(junction: Junction, allowed: tuple[Allowed, ...]) -> bool:
    try:
        Passes(junction, (), allowed)
    except InvalidValue:
        return False
    return True
