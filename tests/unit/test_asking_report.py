"""The page of an answer: what is known how precisely, noise apart from sampling, and nothing that was not released."""

import re
import xml.etree.ElementTree as Tree
from dataclasses import replace

import pytest

from expost.jobs.asking.drawn import answer_chart
from expost.jobs.asking.figures import figure, half_figure, high_figure, low_figure
from expost.jobs.asking.report import MOST_SHOWN, answer_page, groups_shown
from expost.jobs.asking.shortfall import cut_words
from expost.jobs.asking.told import GroupLine
from expost.jobs.asking.worded import answer_headline, closing_words, largest_error, missed_words
from expost.report.charts import NARROW, WIDE
from expost.report.words import NOT_PRIVATE
from tests.unit.asking_examples import KINDS, PERSONS, answer_of, asked


def page(kind: str) -> str:
    """The page of one of the answers, as text."""
    body = answer_page(answer_of(kind).facts).partition("<body>")[2]
    return " ".join(
        re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", "", body)).replace("\N{NO-BREAK SPACE}", " ").split()
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_well_formed_and_says_first_that_it_is_not_private(kind: str) -> None:
    markup = answer_page(answer_of(kind).facts).removeprefix("<!DOCTYPE html>\n")

    Tree.fromstring(markup.replace("&nbsp;", " "))

    assert page(kind).index("NOT PRIVATE") < page(kind).index("privacy price")


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_fetches_nothing_and_runs_nothing(kind: str) -> None:
    markup = answer_page(answer_of(kind).facts)

    assert not re.search(r"<script|\bsrc=|href=|@import|url\(", markup)
    assert "default-src 'none'" in markup


def test_the_headline_says_what_is_known_and_what_it_cost() -> None:
    told = answer_headline(answer_of("one release").facts)

    assert told == "Every region is known to within 40, each with 95 % confidence; this cost ε = 0.161."


def test_the_headline_of_a_decision_names_what_was_decided() -> None:
    told = answer_headline(asked("count by renewed", above=300).facts)

    assert told.startswith("With 95 % confidence, 2 of 2 groups are above 300: ")


def test_the_headline_says_that_no_group_is_above() -> None:
    told = answer_headline(asked("count by renewed", above=10**5).facts)

    assert told.startswith("With 95 % confidence, none of 2 groups is above 100,000; ")


def test_a_comparison_counts_the_two_groups_that_it_is_about() -> None:
    """Groups that nobody compared were counted as settled, and theirs was the largest error."""
    decided = answer_of("a comparison").facts
    undecided = asked("count by region", compare=("north", "south"), max_epsilon=0.001).facts

    assert "comparison decided of two groups" in page("a comparison")
    assert answer_headline(undecided).startswith("Whether north or south is larger by count was not decided; ")
    assert missed_words(undecided) == (
        "This is not decided: the run stopped before it would have cost more than ε = 0.001."
    )
    assert decided.reached


def test_the_largest_error_is_of_a_group_that_was_compared() -> None:
    (told,) = answer_of("a comparison").told
    first, *rest = told.lines
    wide = replace(first, settled="not compared", low=-(10.0**6), high=10.0**6)

    assert largest_error(replace(told, lines=(wide, *rest))) < 10**6


@pytest.mark.parametrize(
    ("settled", "told"),
    [
        (("no", "no", "no"), "None of the 3 answers is known to within 1 %, each with 95 % confidence"),
        (("yes", "no", "no"), "1 of 3 answers is known to within 1 %, each with 95 % confidence"),
        (
            ("yes", "yes", "no"),
            "2 of 3 answers are known to within 1 %, each with 95 % confidence",
        ),
        (
            ("yes", "fewer than 9", "no"),
            "1 of 3 answers is known to within 1 %, each with 95 % confidence, and 1 is of a group too small for it",
        ),
    ],
)
def test_some_answers_are_counted_in_english(settled: tuple[str, ...], told: str) -> None:
    facts = answer_of("out of reach").facts
    (found,) = facts.told
    lines = tuple(replace(line, settled=each) for line, each in zip(found.lines, settled, strict=True))

    assert answer_headline(replace(facts, told=(replace(found, lines=lines),))).startswith(f"{told}; ")


def test_of_one_answer_none_are_counted() -> None:
    facts = asked("count", within="0.1%", max_epsilon=0.01, fewer_than=2).facts

    assert answer_headline(facts).startswith("The count is not known to within 0.1 %; this cost")
    assert missed_words(facts).startswith("This answer is less precise than was asked for: the run stopped")


def test_groups_by_several_columns_or_by_bins_are_called_groups() -> None:
    for by in ("region, plan", "age", "renewed"):
        facts = asked(f"count by {by}", within=60).facts

        assert answer_headline(facts).startswith("Every group is known to within 60, ")


def test_persons_are_cut_in_the_question_that_was_asked_and_not_in_what_was_counted_for_it() -> None:
    facts = asked("median age by plan", within=60, schema=PERSONS, rows_per_person=1).facts

    (sentence,) = cut_words(facts)
    assert sentence.startswith("In “median of age by plan” a person counts for no more than 1 row of one group would.")


def test_what_is_not_settled_is_said_in_a_banner_and_flagged_in_its_row() -> None:
    facts = answer_of("out of reach").facts

    assert missed_words(facts) in page("out of reach")
    assert page("out of reach").count("NOT SETTLED") == facts.open > 0


def test_a_share_has_its_sampling_error_in_a_column_of_its_own() -> None:
    told = page("several by a jump")

    assert "privacy noise between sampling error settled" in told
    assert re.search(r"± [\d.]+ points", told)
    assert "no privacy budget makes it smaller" in told


def test_a_count_has_no_sampling_error_and_says_so() -> None:
    assert "sampling error settled" not in page("a jump")
    assert "so it has no sampling error" in page("a jump")


def test_the_sampling_error_of_a_mean_is_told_to_be_unknown() -> None:
    facts = asked("median age by plan", within=30).facts

    assert "was not measured, so it is not known here" in answer_page(facts)


def test_persons_who_were_cut_are_told_of_before_the_answers() -> None:
    facts = answer_of("persons, found").facts

    (sentence,) = cut_words(facts)
    assert page("persons, found").index(sentence) < page("persons, found").index("Count by plan")
    assert "per person" in page("persons, found")


def test_a_bound_that_was_declared_is_told_of_too_since_persons_may_have_more() -> None:
    (sentence,) = cut_words(answer_of("persons, as declared").facts)

    assert "no more than 3 rows of one group would. Persons who have more count for less" in sentence
    assert sentence in page("persons, as declared")


def test_of_persons_in_all_nobody_is_cut_and_nothing_is_told_of_it() -> None:
    facts = asked("persons", within=100, schema=PERSONS, rows_per_person=1).facts

    assert cut_words(facts) == ()


@pytest.mark.parametrize(("rows", "told"), [(2, 0), (1, 1)])
def test_nobody_is_said_to_be_cut_who_is_in_each_of_a_few_groups_once_at_most(rows: int, told: int) -> None:
    """A person in three groups is as long as √3 rows, whatever the table holds."""
    declared = asked("persons by region", within=100, schema=PERSONS, rows_per_person=rows).facts

    assert len(declared.recipe.labels(declared.recipe.questions[0].query)) == 3
    assert len(cut_words(declared)) == told


def test_nor_is_that_said_where_the_bound_was_found() -> None:
    facts = asked("persons by region", within="30%", schema=PERSONS).facts
    (tally,) = facts.cuts
    high, low = (replace(facts, bounds={tally: most}) for most in (2, 1))

    assert (len(cut_words(high)), len(cut_words(low))) == (0, 1)


def test_a_mean_that_cuts_persons_is_not_said_to_be_too_low() -> None:
    facts = asked("mean age", within=30, schema=PERSONS, rows_per_person=2).facts

    (sentence,) = cut_words(facts)
    assert "these answers may be off; the error bars do not show that" in sentence


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        (0.0213, "may be too low by up to about 2.1 % over all groups; the error bars do not show that."),
        (0.6, "may be far too low. Noise hides how far, and the error bars leave it out."),
    ],
)
def test_how_much_is_lacking_is_told_as_far_as_it_is_known(lost: float, told: str) -> None:
    """Of few persons noise hides that half of all rows are cut, where some have hundreds of them."""
    facts = answer_of("persons, found").facts
    (tally,) = facts.cuts
    changed = replace(facts, cuts={tally: replace(facts.cuts[tally], most=1, lost=lost)}, bounds={tally: 1})

    assert told in cut_words(changed)[0]


@pytest.mark.parametrize(("kind", "cut"), [("persons, found", True), ("persons, as declared", True), ("a jump", False)])
def test_what_is_known_is_not_said_of_rows_that_do_not_count(kind: str, cut: bool) -> None:
    """A group that is settled may have more rows than its error bar says, and one that is small may be large."""
    facts = answer_of(kind).facts

    assert (", apart from what is cut from persons with many rows; this cost" in answer_headline(facts)) is cut
    assert ("apart from what is cut from persons with many rows." in " ".join(closing_words(facts))) is cut
    assert ("the number that the table itself gives once persons with many rows are cut" in page(kind)) is cut


def test_the_confidence_of_a_decision_is_not_told_as_that_of_each_error_bar() -> None:
    told = page("the top")

    assert "with 95 % confidence for the decision" in told
    assert "lies between their ends, each with 95 % confidence" in told
    assert "95 %, of the decision and of each error bar" in told


def test_a_group_that_is_too_small_has_no_number() -> None:
    facts = answer_of("a jump").facts
    (told,) = facts.told
    few = replace(told, lines=(replace(told.lines[0], settled="fewer than 80"), *told.lines[1:]))

    row = re.search(r"<tr[^>]*><td[^>]*>north</td>.*?</tr>", answer_page(replace(facts, told=(few,))))

    assert row is not None
    assert "fewer than 80" in row[0]
    assert "±" not in row[0]


def test_of_many_groups_the_largest_are_shown() -> None:
    lines = [GroupLine((str(place),), float(place), 0.0, 99.0, "yes") for place in range(60)]

    shown = groups_shown(lines)

    assert [line.estimate for line in shown] == [float(place) for place in range(59, 59 - MOST_SHOWN, -1)]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_chart_is_drawn_within_its_frame(width: int) -> None:
    (told,) = answer_of("a jump").told

    drawn = answer_chart(told, told.lines, width)

    ends = [float(each) for each in re.findall(r'\b(?:x|x1|x2|cx)="(-?[\d.]+)"', drawn)]
    assert min(ends) >= 0
    assert max(ends) <= width


def test_of_several_labels_each_keeps_its_beginning() -> None:
    """In "maternity × F × false" the sex was cut out, and the chart said "materni… × fa"."""
    (told,) = answer_of("a jump").told
    lines = [replace(told.lines[0], group=("maternity", sex, "false")) for sex in "FM"]

    drawn = answer_chart(told, lines, NARROW)

    assert [each for each in re.findall(r">([^<>]*)</text>", drawn) if each.startswith("mat")] == [
        "mat… × F × false",
        "mat… × M × false",
    ]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_groups_with_long_names_can_be_told_apart_in_a_chart(width: int) -> None:
    (told,) = answer_of("a jump").told
    groups = [("Obstetrics and gynaecology, second floor", sex) for sex in "FM"]
    lines = [replace(told.lines[0], group=group) for group in groups]

    drawn = answer_chart(told, lines, width)

    names = [each for each in re.findall(r">([^<>]*)</text>", drawn) if each.startswith("Obs")]
    assert len(names) == len({*names}) == 2
    assert [name[-1] for name in names] == ["F", "M"]


def test_markup_in_a_label_is_quoted() -> None:
    facts = answer_of("a jump").facts
    (told,) = facts.told
    hostile = replace(told, lines=(replace(told.lines[0], group=("<b>x</b>",)), *told.lines[1:]))

    assert "<b>x</b>" not in answer_page(replace(facts, told=(hostile,)))


@pytest.mark.parametrize("value", [1e27, 1.5e28, 3e29, -1.7e300])
def test_a_number_of_many_digits_has_all_of_them(value: float) -> None:
    """A run about a column that reaches so far was paid for, and then had nothing to show."""
    shown = figure(value, abs(value) / 10).replace(",", "").replace("\N{MINUS SIGN}", "-")

    assert float(shown) == value


def test_figures_are_rounded_to_the_safe_side() -> None:
    assert (half_figure(9.41), low_figure(12.399, 0.5), high_figure(12.311, 0.5)) == ("9.5", "12.39", "12.32")
    assert (figure(-3.2, 1.0), half_figure(float("inf"))) == ("\N{MINUS SIGN}3.2", "not known")


def test_a_number_has_as_many_places_as_its_error_bar() -> None:
    """A median of 4.5 ± 1.5 was shown as 4, between 3 and 6."""
    assert (figure(4.5, 1.5), half_figure(1.5), low_figure(3.0, 1.5), high_figure(6.0, 1.5)) == (
        "4.5",
        "1.5",
        "3.0",
        "6.0",
    )


def test_the_closing_words_end_with_the_warning_of_a_rehearsal() -> None:
    assert closing_words(answer_of("one release").facts)[-1].endswith(NOT_PRIVATE)


def test_a_notebook_shows_the_page() -> None:
    assert answer_of("the top")._repr_html_().startswith("<style>")
