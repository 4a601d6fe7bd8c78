"""Scene 10: everything once more, on one page to keep."""

from collections.abc import Sequence
from math import exp

from sfumato.cli.tour.budget import Spent
from sfumato.cli.tour.files import Files
from sfumato.cli.tour.private import LIMIT_OF_MALLORY, Compared, Private, Purchase
from sfumato.cli.tour.quartiles import SPEND_ON_OCCUPATIONS, SPEND_ON_QUARTILES, Answered
from sfumato.cli.tour.release import Linked
from sfumato.cli.tour.totals import Differenced
from sfumato.cli.tour.town import Facts as TownFacts
from sfumato.cli.tour.words import MILLION, about, dollars
from sfumato.plots.bars import percent, shares
from sfumato.plots.compare import against_truth, estimates
from sfumato.plots.page import Block, Cell, Code, Facts, Figure, Section, Table, page
from sfumato.plots.price import belief, beliefs, spending

# An average whose error bar is wider than this to each side says little, and is left out of the plot.
WIDEST_ERROR = 12_000
FEWEST_DRAWN = 4


def report(
    files: Files,
    facts: TownFacts,
    linked: Linked,
    differenced: Differenced,
    private: Private,
    answered: Answered,
    spent: Spent,
    *,
    static: bool = False,
) -> str:
    """The page, in HTML."""
    lead: list[Block] = [
        f"A town of {facts.persons:,} people who do not exist, {facts.rows:,} visits to its clinic, two attacks, and "
        "the same questions asked privately. Every number on this page was computed in one run.",
        Facts(
            {
                "of the records without names got their name back": percent(linked.success),
                "off: a salary from two exact totals": dollars(differenced.error, cents=True),
                "off: the same salary from two private totals": about(private.attack.median_error),
                "error bars cover the truth": f"{private.covered} of {len(private.counts) + len(private.averages)}",
            }
        ),
    ]
    sections = [
        _linking(facts, linked),
        _differencing(differenced, private),
        _counts(private.counts),
        _averages(private.averages),
        _answers(answered),
        _budget([*private.purchases, *answered.purchases], spent),
        _epsilon(spent),
        Section("The policy", ["All that the owner had to write.", Code(files.policy.read_text(encoding="utf-8"))]),
    ]
    footer = "Made by sfumato demo. The true numbers are shown because nobody in this town exists."
    return page("A town, seen softly", sections, lead=lead, footer=footer, static=static)


def _linking(facts: TownFacts, linked: Linked) -> Section:
    labels = ("named rightly", "named by guessing")
    return Section(
        "Names come back",
        [
            "The clinic published its table without names and ids. Zip code, birth date and sex stayed in, and they "
            f"single out {percent(facts.unique_share)} of the town. A voter list of {linked.voters:,} people holds the "
            "same three columns, and names.",
            Figure(
                shares(labels, (linked.success, linked.chance), alarming=labels[:1]),
                f"One join names {percent(linked.success)} of {linked.records:,} records rightly.",
            ),
            Table(
                ["name", "born", "sex", "zip", "diagnosis"],
                [[one.name, one.birth_date, one.sex, one.zip, one.diagnosis] for one in linked.shown],
                caption="Three of them, made up like everybody here",
            ),
        ],
    )


def _differencing(differenced: Differenced, private: Private) -> Section:
    attack, victim = private.attack, differenced.pair.victim
    groups = {
        "exact": [differenced.estimate / MILLION],
        "private": [estimate / MILLION for estimate in attack.estimates],
    }
    return Section(
        "Two totals, one salary",
        [
            f"The second question leaves out one birthday of one district. Only {victim.name} has it, so the "
            "difference of the two totals is a salary.",
            Code(differenced.pair.written),
            Figure(
                estimates(
                    groups,
                    truth=victim.income / MILLION,
                    measure="the salary, as estimated (million dollars)",
                ),
                f"Exact totals miss the salary by {dollars(differenced.error, cents=True)}; private ones by about "
                f"{about(attack.median_error)}, {attack.median_error / victim.income:,.0f} times the salary itself.",
                Table(
                    ["attempt", "estimate"],
                    [
                        ["the truth", dollars(victim.income, cents=True)],
                        ["exact totals", dollars(differenced.estimate, cents=True)],
                        *(
                            [f"private, {place}", dollars(value, cents=True)]
                            for place, value in enumerate(attack.estimates, 1)
                        ),
                    ],
                ),
            ),
            f"A guess without any data comes within ${differenced.tolerance:,.0f} of the salary with a probability of "
            f"{percent(attack.chance)}. The promise allows an attempt {percent(attack.bound)}, and all attempts pooled "
            f"{percent(attack.pooled_bound)}. {attack.hits} of {len(attack.estimates)} attempts came so near.",
        ],
    )


def _counts(counts: Sequence[Compared]) -> Section:
    widest = max((count.high - count.low) / 2 for count in counts)
    return Section(
        "The crowd stays visible",
        [
            "Visits by education: what the clinic counted, and what an analyst was told.",
            Figure(
                _plot(counts, measure="visits"),
                f"Each count is good to about ±{widest:,.0f}: little for a large group, a blur for a small one.",
                _numbers(counts, "visits"),
            ),
        ],
    )


def _averages(averages: Sequence[Compared]) -> Section:
    sharpest = sorted(average.high - average.low for average in averages)
    widest = max(2 * WIDEST_ERROR, sharpest[FEWEST_DRAWN - 1])
    sharp = [average for average in averages if average.high - average.low <= widest]
    left_out = len(averages) - len(sharp)
    sentence = "The more visits stand behind an average, the sharper it is."
    if left_out:
        sentence += f" {left_out} of {len(averages)} groups are too small for this price; the table has them."
    return Section(
        "Averages, too",
        [
            "Average income by education, at most $200,000 counted of each: the owner declared that bound, so that no "
            "single salary can move a total by more.",
            Figure(_plot(sharp, measure="average income", prefix="$"), sentence, _numbers(averages, "average income")),
        ],
    )


def _answers(answered: Answered) -> Section:
    shown, hidden = answered.occupations, answered.hidden
    blocks: list[Block] = [
        "All of people and not of visits: one row each, so that a frequent visitor weighs no more than others.",
        Figure(
            _plot(answered.quartiles, measure="income", prefix="$"),
            f"Three quartiles of income, asked as one question for {SPEND_ON_QUARTILES:g}.",
            _numbers(answered.quartiles, "income", "quartile"),
        ),
        Figure(
            _plot(answered.ages, measure="people"),
            f"A histogram of ages, bought for its error: ±{answered.wanted_error:g} costs {answered.price_of_ages:g}.",
            _numbers(answered.ages, "people", "age"),
        ),
    ]
    if shown:
        blocks.append(
            Figure(
                _plot(shown, measure="people"),
                f"Occupations that nobody listed, discovered for {SPEND_ON_OCCUPATIONS:g}: {answered.discovering}.",
                _numbers(shown, "people", "occupation"),
            )
        )
    if hidden:
        kept = ", ".join(f"{one.label} ({one.people:,})" for one in hidden)
        blocks.append(f"Kept back, and not even mentioned to an analyst, with the people who have them: {kept}.")
    return Section("More than counts", blocks)


def _budget(purchases: Sequence[Purchase], spent: Spent) -> Section:
    return Section(
        "What it cost",
        [
            "Every question is charged before it looks at the data. The same question again is free, because it gets "
            f"the same answer: asked {spent.repeated.times} times more, it told nothing new.",
            Figure(
                spending(
                    [purchase.spend for purchase in purchases],
                    [purchase.spent for purchase in purchases],
                    limit=spent.limit,
                ),
                f"{spent.charges} questions, whose spends add up to {spent.sum_of_spends:.1f}, cost epsilon "
                f"{spent.spent:.2f} together: many small questions are cheaper than their sum.",
                Table(
                    ["question", "asked by", "spend", "spent in all"],
                    [
                        [place, purchase.analyst, f"{purchase.spend:.1f}", f"{purchase.spent:.4f}"]
                        for place, purchase in enumerate(purchases, start=1)
                    ],
                ),
            ),
            Table(
                ["what was tried", "what the ledger said"],
                [
                    ["one more question, when the analyst's budget was gone", spent.refusal],
                    ["a charge made free in a copy", spent.tampering],
                    ["an older copy put back", spent.rollback],
                    ["verifying the ledger itself", f"{spent.entries} entries, all sound."],
                ],
            ),
        ],
    )


def _epsilon(spent: Spent) -> Section:
    high = belief(0.5, spent.limit)[1]
    marks = [
        (f"Mallory, {LIMIT_OF_MALLORY}", float(LIMIT_OF_MALLORY)),
        (f"spent, {spent.spent:.2f}", spent.spent),
        (f"limit, {spent.limit:g}", spent.limit),
    ]
    rows = [(name.partition(",")[0], epsilon, *belief(0.5, epsilon)) for name, epsilon in marks]
    return Section(
        "What epsilon means",
        [
            "Somebody gives even odds that a person is in the data, and then sees every answer. Epsilon limits how far "
            "the answers can move those odds, whoever asks and whatever they know: by a factor of e to the epsilon.",
            Figure(
                beliefs(marks),
                f"Even at the limit, even odds become {exp(spent.limit):.0f} to 1 at the very most: a belief of 50 % "
                f"stays below {percent(high)}.",
                Table(
                    ["epsilon", "value", "belief stays above", "and below"],
                    [[name, f"{epsilon:.2f}", percent(low), percent(top)] for name, epsilon, low, top in rows],
                ),
            ),
            "This is the worst case, against somebody who knows everything about everybody else, and it holds but for "
            "a probability of delta, one in a million. Most answers move a belief far less.",
        ],
    )


def _plot(compared: Sequence[Compared], *, measure: str, prefix: str = "") -> object:
    return against_truth(
        [one.label for one in compared],
        [one.true for one in compared],
        [one.private for one in compared],
        [(one.low, one.high) for one in compared],
        measure=measure,
        prefix=prefix,
    )


def _numbers(compared: Sequence[Compared], measure: str, key: str = "education") -> Table:
    rows: list[list[Cell]] = [
        [
            one.label,
            round(one.true),
            round(one.private),
            f"{one.low:,.0f} to {one.high:,.0f}",
            "yes" if one.covered else "no",
        ]
        for one in compared
    ]
    return Table([key, "true", "private", "95 % error bar", "covers the truth"], rows, caption=measure)
