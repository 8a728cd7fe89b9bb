import pytest

from expost.errors import SchemaMismatch
from expost.private import Neighbours
from expost.tabular.schema.schema import Schema

TEXT = """
reviewed = true
neighbours = "{}"
unit = "{}"
[[column]]
name = "age"
kind = "integer"
edges = [0, 18, 65, inf]
closed = "left"
missing = false
"""


@pytest.mark.parametrize(
    ("word", "relation"), [("add-remove", Neighbours.ADD_REMOVE_PERSON), ("replace-one", Neighbours.REPLACE_PERSON)]
)
def test_a_unit_makes_the_relation_one_between_persons(word: str, relation: Neighbours) -> None:
    schema = Schema.load(TEXT.format(word, "patient"))
    assert (schema.unit, schema.neighbours, schema.names) == ("patient", relation, ("age",))
    assert Schema.load(schema.dumps()) == schema
    assert f'neighbours = "{word}"\nunit = "patient"\n' in schema.dumps()


@pytest.mark.parametrize(("name", "words"), [("age", "is declared as a column"), ("", "has no name")])
def test_a_unit_that_cannot_be_one_is_refused(name: str, words: str) -> None:
    with pytest.raises(SchemaMismatch, match=words):
        Schema.load(TEXT.format("add-remove", name))


def test_persons_go_with_a_unit_and_records_without() -> None:
    schema = Schema.load(TEXT.format("add-remove", "patient"))
    with pytest.raises(SchemaMismatch, match="go with a unit"):
        Schema(schema.columns, True, Neighbours.ADD_REMOVE_PERSON)
    with pytest.raises(SchemaMismatch, match="go with a unit"):
        Schema(schema.columns, True, Neighbours.ADD_REMOVE, unit="patient")


@pytest.mark.parametrize("relation", Neighbours)
def test_relations_know_their_unit(relation: Neighbours) -> None:
    assert relation.of_persons.unit == "person"
    assert relation.of_persons.replaces == relation.replaces
    assert relation.unit in relation.value
    assert relation.replaces == relation.value.startswith("replace")
