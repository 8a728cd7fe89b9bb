"""What a plan shows of the looks at held-out records: how noisy each answer is, and what passes."""

from fractions import Fraction

from expost.checks.confidence import Confidence
from expost.protocols import Look
from expost.report.digits import plain


def look_heads(held: float | None) -> tuple[str, ...]:
    """The heads of the columns below; accuracies need a public number of records."""
    return ("noise of\nthe check", "passes\nfrom", *(("that is an\naccuracy of",) if held is not None else ()))


def look_cells(look: Look | None, target: Fraction, held: float | None, *, public: bool) -> tuple[str, ...]:
    """One rung: the standard error of the answer, the least margin that passes, and the same as an accuracy."""
    if look is None:
        return "none" if public else "not asked", "—", *(("—",) if held is not None else ())
    needed = () if held is None else (f"{float(target) + look.guard / held:.4f}",)
    return f"{look.std:.1f}", f"{look.guard:+.1f}", *needed


def look_words(
    target: Fraction, confidence: Confidence | None, *, share: Fraction, records: int | None, rung: str
) -> str:
    """What the columns mean, and what a pass will promise."""
    said = f"Accuracy to reach: {plain(float(target))}."
    if not share:
        return f"{said} The check is on public records, without noise."
    said = f"{said} Noise is a standard deviation; it and the margin are in records."
    if confidence is None:
        promised = (
            "This is the paper's check: a candidate passes when its noisy margin is at least 0, which does not promise "
            "that it is accurate enough."
        )
    else:
        looks = "one look" if confidence.looks == 1 else f"{confidence.looks} looks"
        promised = (
            f"A candidate passes when its noisy margin over the target is at least what the plan says; with "
            f"{plain(float(confidence.level))} confidence, over {looks}, none passes that is below the target on the "
            "held-out records."
        )
    if records is None:
        about = f"A share of {plain(float(share))} is held out; say --records to see margins as accuracies."
    else:
        about = f"A share of {plain(float(share))} of about {records:,} records is held out."
        if confidence is not None:
            about += f" A {rung} whose guard would be too wide is not asked about."
    return f"{said} {promised} {about}"
