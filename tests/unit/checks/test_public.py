"""A public check judges by what was released, without noise."""

import pytest

from expost.checks.public import PublicCheck
from expost.protocols import Verdict


@pytest.mark.parametrize(("candidate", "passed"), [(3, False), (4, True)])
def test_the_verdict_is_that_of_the_rule(candidate: int, passed: bool) -> None:
    check: PublicCheck[int] = PublicCheck(lambda value: value > 3)

    assert check.verdict(candidate) == Verdict(passed)


def test_a_public_verdict_has_no_noise_to_report() -> None:
    verdict = PublicCheck[int](lambda value: True).verdict(0)

    assert (verdict.margin, verdict.std) == (None, None)
