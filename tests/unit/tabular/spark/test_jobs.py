"""Jobs on rows in Spark: whatever they ask of the rows can be sent to tasks, and a rehearsal repeats itself."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import expost
from expost.errors import InvalidValue
from expost.jobs.job import Result
from expost.ladder import Ladder
from expost.noise import SeededNoise
from expost.tabular.aims import Aim
from expost.tabular.score import Conditional
from expost.tabular.source.frames import Frame, kind_of
from expost.tabular.table import Kind
from tests.unit.tabular.spark.crowds import BY_PERSON, crowd, in_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


AIMS = [Aim.auc("town", 0.99, positive="Bern"), Aim.balanced_accuracy("town", 0.9), Aim.within(0.3)]


def rehearsed(session: "SparkSession") -> Result[Any]:
    """A table for three aims, of persons."""
    return expost.synthesize(
        in_spark(session, crowd(), 2), schema=replace(BY_PERSON, target="town"), aims=AIMS, check=expost.Balanced(),
        ladder=Ladder.geometric(0.1, 2, 2, alpha=20), confidence=None, rows=300, learner=Conditional(),
        noise=SeededNoise(7),
    )  # fmt: skip


def test_a_rehearsal_over_persons_in_spark_repeats_itself(spark: "SparkSession") -> None:
    first, second = rehearsed(spark), rehearsed(spark)

    assert [reading.epsilon for reading in first.history] == [reading.epsilon for reading in second.history]
    assert first.release.value.collect() == second.release.value.collect()
    assert kind_of(first.release.value) is Kind.SPARK
    assert len(first.history) >= 1


def test_a_dataframe_is_collected_by_no_other_reader(spark: "SparkSession") -> None:
    frame = in_spark(spark, crowd(), 1)

    with pytest.raises(InvalidValue, match="read by synthesize and ask only"):
        Frame.of(frame)
