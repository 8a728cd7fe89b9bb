"""Rules are read as they are written: names in quotes mean themselves, and each slip is refused in one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.errors import SchemaMismatch
from expost.tabular.schema.sentences import KEYWORDS, Condition, Relation, Token, sentence_of, tokens_in
from expost.tabular.schema.statements import Determines, Implies, Never, statement_in
from tests.unit.examples import one_sentence

SIGNS = ("=", "!=", "<", "<=", ">", ">=", "->", "(", ")", ",", ":")
TOKENS = st.one_of(
    st.builds(Token, st.text(max_size=6), st.just(True)),
    st.builds(Token, st.sampled_from([*KEYWORDS, *SIGNS, "it's", 'say "so"', "a->b", "-", "<=50K"]), st.just(True)),
    st.builds(Token, st.sampled_from([*KEYWORDS, *SIGNS]), st.just(False)),
)
EQUAL = Relation.EQUAL


@given(st.lists(TOKENS, max_size=12))
def test_words_go_round_through_a_sentence(tokens: list[Token]) -> None:
    assert tokens_in(sentence_of(tokens)) == tokens


@given(st.text(max_size=30) | st.text("ab '\"=<>!->(),:", max_size=20))
def test_any_text_is_read_or_refused_in_one_sentence(text: str) -> None:
    try:
        statement_in(tokens_in(" ".join(text.split())))
    except SchemaMismatch as refusal:
        assert one_sentence(refusal)


MEANT = {
    "never a < 15 and b = married": Never(
        (Condition("a", Relation.BELOW, ("15",)), Condition("b", EQUAL, ("married",)))
    ),
    "a=yes  implies b!=M and c is missing": Implies(
        (Condition("a", EQUAL, ("yes",)),), (Condition("b", Relation.UNEQUAL, ("M",)), Condition("c", Relation.ABSENT))
    ),
    "a in (x, 'y z',\"never\") implies b is not missing": Implies(
        (Condition("a", Relation.AMONG, ("x", "y z", "never")),), (Condition("b", Relation.PRESENT),)
    ),
    "a>=-1.5e3 implies b <= 2024-01-31": Implies(
        (Condition("a", Relation.FROM, ("-1.5e3",)),), (Condition("b", Relation.UP_TO, ("2024-01-31",)),)
    ),
    "town determines 'the region': Bern->BE, Bâle-Ville -> 'B, S'": Determines(
        "town", "the region", (("Bern", "BE"), ("Bâle-Ville", "B, S"))
    ),
    "'it''s' > 3 implies \"say \"\"so\"\"\" = 'and'": Implies(
        (Condition("it's", Relation.ABOVE, ("3",)),), (Condition('say "so"', EQUAL, ("and",)),)
    ),
    "a implies not b and c < 3": Implies(
        (Condition("a", EQUAL, ("true",), alone=True),),
        (Condition("b", EQUAL, ("false",), alone=True), Condition("c", Relation.BELOW, ("3",))),
    ),
    "never not a and b": Never(
        (Condition("a", EQUAL, ("false",), alone=True), Condition("b", EQUAL, ("true",), alone=True))
    ),
    "'never' = 1 implies 'determines' = 2": Implies(
        (Condition("never", EQUAL, ("1",)),), (Condition("determines", EQUAL, ("2",)),)
    ),
}


@pytest.mark.parametrize(("sentence", "meant"), MEANT.items(), ids=MEANT)
def test_a_sentence_says_what_it_says(sentence: str, meant: object) -> None:
    tokens = tokens_in(sentence)

    assert statement_in(tokens) == statement_in(tokens_in(sentence_of(tokens))) == meant


def test_a_sentence_is_written_with_one_space_and_quotes_where_they_are_needed() -> None:
    untidy = "  town   determines \"region\" :Bern->BE ,'New York'-> 'and' "

    assert sentence_of(tokens_in(untidy)) == "town determines region: Bern -> BE, 'New York' -> 'and'"
    assert sentence_of(tokens_in("a in( x,y )implies b='it''s'")) == "a in (x, y) implies b = 'it''s'"


SLIPS = {
    "": "a column should follow its beginning",
    "never": "a column should follow never",
    "a = 1": "implies should follow 1, where it ends",
    "a = 1 implies": "a column should follow implies",
    "a 1 implies b = 1": "=, !=, <, <=, >, >=, in or is should follow a, where it has 1",
    "a": "implies should follow a, where it ends",
    "never not": "a column should follow not",
    "not a = 1 implies b": "implies should follow a, where it has =",
    "a == 1 implies b = 2": "a value should follow =, where it has =",
    "a = 1 or b = 2 implies c = 3": "implies should follow 1, where it has or",
    "never a = New York": "York after New has no meaning",
    "never a = missing": "put missing in quotes if it is one",
    "never a in 1": "\\( should follow in",
    "never a in (1, 2": "\\) should follow 2",
    "never a in ()": "a value should follow \\(",
    "never a is 3": "missing should follow is",
    "a determines": "a column should follow determines",
    "a determines b": ": should follow b",
    "a determines b: x": "-> should follow x",
    "a determines b: x -> y,": "a value should follow ,",
    "never a ! b": "! cannot be read",
    "never a = 'open": "'open cannot be read",
}


@pytest.mark.parametrize(("sentence", "said"), SLIPS.items(), ids=SLIPS)
def test_a_slip_is_named(sentence: str, said: str) -> None:
    with pytest.raises(SchemaMismatch, match=said) as refusal:
        statement_in(tokens_in(sentence))

    assert one_sentence(refusal.value)
