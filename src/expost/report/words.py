"""Words: what a run came to, what it cost and how it was made, in whole sentences."""

import math

from expost.accounting.claim import Spent
from expost.accounting.curve import Tabulated
from expost.report import digits
from expost.report.answers import GAIN
from expost.report.digits import plain, price, small
from expost.report.facts import Facts
from expost.report.flat import compared_rungs, further, near
from expost.report.shares import asked_for, noisy_number
from expost.report.units import OF_PERSONS, by_row, by_unit
from expost.search import Ended

NOT_PRIVATE = "NOT PRIVATE: the noise was seeded, and whoever has the seed can subtract it."
FLOATING = "The noise was drawn in floating point, whose rounding the bound does not cover."
ONE_RECORD = "The bound covers one record; a person with several is protected less."
ONE_PERSON = "The bound covers one person with all their rows, however many; a household is protected less."
ONE_ROW = "A held-out person was judged by one of their rows, which was drawn at random."

VERDICTS = {True: "passed", False: "did not pass", None: "not checked"}
LOOKS = dict.fromkeys(("balanced check", "Gaussian check", "sparse vector check"), "a look at the held-out records")


def conclusion(facts: Facts) -> str:
    """The closing paragraph, with the warnings that the page of every job has in its banners."""
    floating, seeded = [FLOATING] if facts.floating else [], [NOT_PRIVATE] if facts.seeded else []
    return " ".join([result(facts), price_paid(facts), *floating, *seeded])


def forewords(facts: Facts) -> tuple[str, ...]:
    """The paragraphs before it: what could be had without any of this, and what the job warns of."""
    first = (facts.baseline,) if facts.baseline else ()
    return (*first, *(f"WARNING: {warning}" for _, warning in facts.warnings))


def price_paid(facts: Facts) -> str:
    """What the run cost, what the cost covers, and what else it might have cost."""
    about = ONE_PERSON if facts.neighbours in OF_PERSONS else ONE_RECORD
    return " ".join([cost(facts), covered(facts), about, *other_prices(facts)])


def headline(facts: Facts) -> str:
    """The result in one sentence."""
    stated, measure = math.isfinite(facts.epsilon), facts.measure
    for_this = f", for ε = {price(facts.epsilon)}" if stated else ""
    spent = f"; ε = {price(facts.epsilon)} was spent" if stated else ""
    if facts.unchecked:
        return f"Nothing was checked{spent}."
    if facts.asked is None or facts.several:
        found = _all_of_it(facts) if facts.several else ("A" if facts.reached else "No") + " candidate passed the check"
        return f"{found}{for_this if facts.reached else spent}."
    asked = asked_for(facts)
    if not facts.reached:
        return f"The {measure} of {asked} that was asked for was not confirmed{spent}."
    if not facts.divided:
        return f"The {measure} is at least {asked} on the public records of the check{for_this}."
    if facts.confidence is None:
        return f"The noisy {measure} is at least {asked}{for_this}; it is not known whether the true {measure} is."
    return f"The {measure} is at least {asked} on the {held_out(facts)}, with {sure(facts)}{for_this}."


def _all_of_it(facts: Facts) -> str:
    """Whether everything holds that was asked for, where that was several things."""
    if not facts.reached:
        return "Not everything that was asked for was confirmed"
    if not facts.divided:
        return "Everything that was asked for holds on the public records of the check"
    if facts.confidence is None:
        return "By the noisy answer everything that was asked for holds; whether it truly does is not known"
    return f"Everything that was asked for holds on the {held_out(facts)}, with {sure(facts)}"


def result(facts: Facts) -> str:
    """What passed the check and what that says, or what is known where nothing did."""
    if facts.unchecked:
        return f"Nothing was checked: whoever ran the procedure chose to keep {facts.job.rung} {len(facts.rungs)}."
    if facts.reached:
        return f"{facts.job.passed(facts)} {_evidence(facts)}"
    if facts.asked is None:
        return f"No candidate passed the check: {ending(facts)}. {last_checked(facts)}"
    if facts.several:
        asked = "; ".join(goal.words for goal in facts.goals)
        return f"Of what was asked for ({asked}) NOT all was confirmed: {ending(facts)}. {last_checked(facts)}"
    plain_enough = "accuracy" in facts.measure or facts.measure == GAIN
    meant = f" ({facts.goals[0].words})" if facts.goals and not plain_enough else ""
    missed = f"The {facts.measure} of {asked_for(facts)} that was asked for{meant} was NOT confirmed: {ending(facts)}."
    return f"{missed} {last_checked(facts)}"


def _evidence(facts: Facts) -> str:
    """What a pass says about the target, and about people who are not in the data."""
    if facts.asked is None:
        return "Only whoever wrote the rule can say what passing it is worth."
    people = "For new people there is also the sampling error of the records that were used for the check."
    people = by_unit(people, facts.neighbours) if facts.divided else people
    if facts.several:
        noisy = f" The noisy least margin was {last_answer(facts)}." if facts.measured else ""
        return f"{_all_of_it(facts)}.{noisy} {people}"
    asked, measure, answer = asked_for(facts), facts.measure, last_answer(facts)
    if facts.divided and facts.confidence is None:
        noisy = f"Its noisy {facts.scale} was {answer}. " if facts.measured else ""
        return (
            f"{noisy}This is the paper's check, which accepts whatever the noise lifts above the target: it does NOT "
            f"promise that the true {measure} is {asked}."
        )
    certain = f"With {sure(facts)}, the" if facts.divided else "The"
    noisy = f" (the noisy {facts.scale} was {answer})" if facts.measured else ""
    if facts.elsewhere is not None and facts.held is not None:
        people = (
            f"For new people like those in the data it is at least {digits.least(facts.elsewhere)} (again with "
            f"{sure(facts)}); the difference is the sampling error of about {round(facts.held, -1):,.0f} "
            f"{by_unit('held-out records', facts.neighbours)}."
        )
    those = by_unit("those records", facts.neighbours) if facts.divided else "those records"
    return f"{certain} {measure} on {those} is at least {asked}{noisy}. {people}"


def held_out(facts: Facts) -> str:
    """What a candidate was judged on: the records held out, or the persons, by one row of each where that is so."""
    held = by_unit("held-out records", facts.neighbours)
    return f"{held} (one row of each)" if judged_by_one_row(facts) else held


def judged_by_one_row(facts: Facts) -> bool:
    """Whether a held-out person, who may have several rows, was judged by one of them."""
    return facts.one_row and facts.divided and facts.neighbours in OF_PERSONS


def sure(facts: Facts) -> str:
    """The confidence of a pass."""
    assert facts.confidence is not None  # asked for where there is one
    return f"{plain(float(facts.confidence.level))} confidence"


def ending(facts: Facts) -> str:
    """Why the run ended."""
    following = facts.ahead[0].epsilon if facts.ahead else None
    return why_ended(facts.ended, len(facts.rungs), cap=facts.cap, following=following, rung=facts.job.rung)


def why_ended(ended: Ended, taken: int, *, cap: float | None, following: float | None, rung: str) -> str:
    """Why a run ended after this number of rungs; ``following`` is what the next one would have cost, if known."""
    if ended is Ended.EXHAUSTED:
        return f"{rung} {taken} was the last"
    if ended is Ended.CAPPED and cap is not None and following is not None:
        refused = f"{rung} {taken + 1}, which would have cost ε = {price(following)}"
        return f"the cap of ε = {cap:g} left no room for {refused}"
    return str(ended.value)


def last_checked(facts: Facts) -> str:
    """What is known of the candidate where nothing passed."""
    place, taken, rung = facts.judged, len(facts.rungs), facts.job.rung
    if place is None:
        return f"No {rung} was checked, so nothing is known about the {facts.measure}."
    said = f"{rung.capitalize()} {place}, the last one checked, did not pass."
    if (compared := compared_rungs(facts)) is not None:
        was = " and ".join(f"{answer_on(facts, each)} on {rung} {each}" for each in compared)
        said = f"{further(facts)}The noisy {facts.scale} was {was}, which is handed over{near(facts, place)}."
    elif facts.answer(facts.rungs[place - 1]) is not None:
        said = f"On {rung} {place}, the last one checked, the noisy {facts.scale} was {last_answer(facts)}."
    if facts.sampling is not None:
        said += f" The sampling error comes on top: up to {digits.points(facts.sampling)}."
    return said if place == taken else f"{said} What is handed over is {rung} {taken}, which was not checked."


def last_answer(facts: Facts) -> str:
    """The last answer of the check, a margin with its unit."""
    unit = by_unit(" records", facts.neighbours) if facts.measured and not facts.shares else ""
    return f"{answer_on(facts, facts.judged)}{unit}"


def answer_on(facts: Facts, place: int | None) -> str:
    """What the check said of the rung with this number, from 1: a noisy value where it reveals one, or the verdict."""
    if place is None:
        return VERDICTS[None]
    found = facts.answer(facts.rungs[place - 1])
    return VERDICTS[facts.rungs[place - 1].passed] if found is None else noisy_number(facts, found)


def cost(facts: Facts) -> str:
    """The statement."""
    if math.isfinite(facts.epsilon):
        per = by_unit("per record", facts.neighbours)
        return f"This cost ε = {price(facts.epsilon)} at δ = {small(facts.delta)}, {per}."
    if facts.pledge is None:
        return "No (ε, δ) statement covers this run: no rule for stating one was pledged before it."
    return "No (ε, δ) statement covers this run: its pledge makes no claim about what was spent."


def renyi_cost(facts: Facts, spent: Spent) -> str:
    """A Rényi bound for readers: ρ = 0.0005, or with its constant; at one order if some have no closed form."""
    if facts.tabulated or isinstance(spent.curve, Tabulated):
        return f"ε = {price(spent.at(facts.order))} at α = {float(facts.order):g}"
    told = []
    for line in spent.curve.lines:
        constant = f"ξ = {price(float(line.xi))}, " if line.xi else ""
        told.append(f"{constant}ρ = {price(float(line.rho))}")
    return " or ".join(told)


def covered(facts: Facts) -> str:
    """What the bound is about."""
    looks = by_unit(" Every look at the held-out records is included.", facts.neighbours) if facts.looked else ""
    free = " The check read public records only, which costs nothing." if facts.on_public else ""
    return f"{facts.job.covered}{looks}{free}"


def other_prices(facts: Facts) -> list[str]:
    """What the run would have cost, had it stopped one rung earlier or gone on as far as it might."""
    taken, stops, ahead, rung = len(facts.rungs), facts.stops, facts.ahead, facts.job.rung
    within = [stop for stop in ahead if facts.allowed(stop.epsilon)]
    told = []
    if 1 < taken == len(stops) - len(ahead):
        told.append(f"Stopping one {rung} earlier would have cost ε = {price(stops[taken - 2].epsilon)}.")
    if within and len(within) == len(ahead):
        told.append(f"The last {rung} would have cost ε = {price(within[-1].epsilon)}.")
    elif within:
        last = last_allowed(facts)
        told.append(f"{last[:1].upper()}{last[1:]} would have cost ε = {price(within[-1].epsilon)}.")
    return told


def last_allowed(facts: Facts) -> str:
    """The last rung that the cap has room for; a cap that is the price of one, as a ledger sets it, is told as that."""
    last = f"the last {facts.job.rung}"
    if facts.cap is None:
        return last
    is_price = any(stop.epsilon == facts.cap for stop in facts.stops)
    return f"{last} within the cap of ε = {price(facts.cap) if is_price else f'{facts.cap:g}'}"


def pledged(facts: Facts) -> str:
    """How the lines of the bill become one statement."""
    told = ["Each line is a Rényi bound ξ + ρα, at every order α."]
    if facts.tabulated:
        told = [
            f"Each line is a Rényi bound, shown at the order α = {float(facts.order):g}; the receipt has all orders."
        ]
    told.append(by_row("Lines that read the same records add up.", facts.neighbours))
    if facts.divided:
        nobody = by_unit("because no record is in both", facts.neighbours)
        told.append(f"Of the two parts of the split only the dearer counts, {nobody} ({facts.because}).")
    if facts.pledge is None:
        return " ".join([*told, "No rule that turns the sum into ε was pledged, so none is stated."])
    told.append("The rule that turns the sum into ε was pledged before any data was touched.")
    return " ".join([*told, f"{facts.reason[:1].upper()}{facts.reason[1:]}."])
