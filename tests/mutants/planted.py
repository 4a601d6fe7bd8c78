"""Privacy bugs planted one at a time into the trusted files; the tests named beside each must notice it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """`old` occurs once in `file` and becomes `new`; `harm` says what that does to people or to the budget."""

    name: str
    file: str
    old: str
    new: str
    harm: str
    tests: tuple[str, ...]

    def planted(self, source: str) -> str:
        found = source.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: its old text occurs {found} times in {self.file}, not once")
        return source.replace(self.old, self.new)


FOUND = "tests/kernel/test_bounds.py"
CERTIFY, SENSITIVITY = "tests/kernel/test_certify.py", "tests/threats/test_sensitivity.py"
WORST = SENSITIVITY + "::test_the_worst_change_is_the_certified_one"
BULK, GATE, LEDGER = "tests/kernel/test_bulk.py", "tests/kernel/test_gate.py", "tests/ledger/test_ledger.py"
RANKS, LINES = "tests/kernel/test_ranks.py", "tests/kernel/test_rank_lines.py"

PLANTED = (
    # ---- how far one person moves an answer
    Mutant(
        "centred-sum-rounded-down",
        "kernel/certify.py",
        "most = max(lattice.upper - centre, centre - lattice.lower)",
        "most = (lattice.upper - lattice.lower) // 2",
        "half the width rounded down: one row at the far end moves the sum further than its noise covers",
        (CERTIFY, "tests/museum/test_opendp_314.py"),
    ),
    Mutant(
        "sensitivity-without-max-rows",
        "kernel/certify.py",
        "return Sensitivity(rows * most,",
        "return Sensitivity(most,",
        "a person with max_rows rows is protected like one row: max_rows times the ε that was paid",
        (CERTIFY,),
    ),
    Mutant(
        "lower-bound-forgotten",
        "kernel/certify.py",
        "most = max(abs(lattice.lower), abs(lattice.upper))",
        "most = max(lattice.upper, 1)",
        "a sum between -1000 and 1 gets the noise of a count",
        (CERTIFY, "tests/museum/test_diffprivlib_105.py"),
    ),
    Mutant(
        "dearest-release-only",
        "kernel/certify.py",
        "total = sum((_price(release, currency) for release in releases), Fraction(0))",
        "total = max(_price(release, currency) for release in releases)",
        "an average is a sum and a count and pays for one of them",
        (CERTIFY, "tests/museum/test_smartnoise_202.py"),
    ),
    Mutant(
        "unit-unchecked",
        "kernel/certify.py",
        "if plan.unit != schema.unit:",
        "if plan.unit is None:",
        "a plan for rows is answered on a table of people",
        (CERTIFY, SENSITIVITY + "::test_s7_a_plan_for_rows_on_a_table_of_people_is_refused"),
    ),
    # ---- the noise
    Mutant(
        "scale-inverted",
        "kernel/mechanisms.py",
        "return discrete_laplace(self.scale, count, entropy)",
        "return discrete_laplace(1 / self.scale, count, entropy)",
        "scale ε/Δ in place of Δ/ε: the smaller the ε, the less noise",
        ("tests/kernel/test_mechanisms.py", "tests/statistics/test_audit.py"),
    ),
    Mutant(
        "deviation-for-variance",
        "kernel/mechanisms.py",
        "return discrete_gaussian(self.variance, count, entropy)",
        "return discrete_gaussian(Fraction(self.deviation()), count, entropy)",
        "Gaussian noise of deviation √σ in place of σ",
        ("tests/kernel/test_mechanisms.py", "tests/statistics/test_audit.py"),
    ),
    Mutant(
        "gaussian-price-linear",
        "kernel/mechanisms.py",
        "return sensitivity**2 / (2 * self.variance)",
        "return sensitivity / (2 * self.variance)",
        "ρ = Δ/(2σ²) in place of Δ²/(2σ²): a sum of large numbers costs next to nothing",
        ("tests/kernel/test_mechanisms.py", CERTIFY),
    ),
    Mutant(
        "noise-never-negative",
        "kernel/bulk.py",
        "sign = -(words & np.uint64(1)).view(np.int64)",
        "sign = -(words & np.uint64(0)).view(np.int64)",
        "an answer is never below the truth, so the smaller neighbour is ruled out with certainty",
        (BULK, "tests/statistics/test_law.py"),
    ),
    Mutant(
        "zero-drawn-twice",
        "kernel/bulk.py",
        "offset = -t * log((1 + exp(-1 / t)) / 2) if two_sided and t else 0.0",
        "offset = 0.0",
        "plus and minus zero are both kept: the truth itself is told twice as often as ε allows",
        (BULK, "tests/statistics/test_law.py"),
    ),
    Mutant(
        "geometric-off-by-one",
        "kernel/bulk.py",
        "position += offset\n",
        "position += offset + 1\n",
        "noise is never 0, so every answer rules out one value with certainty",
        (BULK, "tests/statistics/test_law.py"),
    ),
    Mutant(
        "tail-cut-off",
        "kernel/bulk.py",
        "doubtful = uniform < TAIL",
        "doubtful = uniform <= 0",
        "far noise comes from too few bits: some values of the tail are never drawn, and their absence tells",
        (BULK,),
    ),
    Mutant(
        "gaussian-too-narrow",
        "kernel/bulk.py",
        "_acceptable(candidates, variance / scale, 2 * variance, entropy)",
        "_acceptable(candidates, variance / scale, variance, entropy)",
        "candidates far from the middle are thrown away too often: less noise than was paid for",
        (BULK, "tests/statistics/test_law.py"),
    ),
    Mutant(
        "boundary-decided-early",
        "kernel/lazy.py",
        "if prefix + 1 <= target - margin:",
        "if prefix <= target - margin:",
        "a uniform number that shares its first bits with the boundary always falls below it: the law is not exact",
        ("tests/kernel/test_lazy.py",),
    ),
    Mutant(
        "randomness-inherited-by-a-fork",
        "kernel/entropy.py",
        "parts = [ssl.RAND_bytes(8 *",
        'pool = globals().setdefault("POOL", np.random.default_rng())\n        parts = [pool.bytes(8 *',
        "forked workers repeat each other's noise: the difference of two answers has none",
        ("tests/kernel/test_entropy.py::test_forked_children_share_no_draw",),
    ),
    Mutant(
        "uniform-by-remainder",
        "kernel/entropy.py",
        "            if value < bound:\n                return value",
        "            return value % bound",
        "small values are drawn more often: no law built on it is exact",
        ("tests/kernel/test_entropy.py",),
    ),
    # ---- the door
    Mutant(
        "one-noise-for-all-groups",
        "kernel/gate.py",
        "mechanism.draw(len(entries), entropy).tolist()",
        "mechanism.draw(1, entropy).tolist() * len(entries)",
        "differences between groups carry no noise at all",
        (GATE,),
    ),
    Mutant(
        "receipt-opens-twice",
        "kernel/gate.py",
        "            self._unused.remove(digest)\n",
        "            self._unused.index(digest)\n",
        "one payment buys any number of fresh answers, whose mean is the truth",
        (GATE,),
    ),
    Mutant(
        "receipt-for-any-plan",
        "kernel/gate.py",
        "if digest not in self._unused:\n                raise receipt_used()\n            self._unused.remove(digest)",
        "if not self._unused:\n                raise receipt_used()\n            self._unused.pop()",
        "a cheap question is paid and a dear one is answered",
        (GATE,),
    ),
    # ---- choosing and showing keys
    Mutant(
        "choice-without-factor-two",
        "kernel/choice.py",
        "return self.epsilon / self.sensitivity / (1 if self.monotone else 2)",
        "return self.epsilon / self.sensitivity",
        "scores that move against each other cost 2ε where ε was paid",
        ("tests/kernel/test_choice.py",),
    ),
    Mutant(
        "first-success-wins",
        "kernel/choice.py",
        "return int(winners[entropy.below(len(winners))])",
        "return int(winners[0])",
        "no random order: a candidate behind the best one is never chosen, which tells who is best",
        ("tests/kernel/test_choice.py",),
    ),
    Mutant(
        "key-of-one-unit-as-of-two",
        "kernel/selection.py",
        "places = np.clip(units, 0, table.certain)",
        "places = np.clip(units + 1, 0, table.certain)",
        "a key that one person holds is shown with more than δ",
        ("tests/kernel/test_selection.py",),
    ),
    Mutant(
        "epsilon-for-every-key",
        "kernel/selection.py",
        "growth = growth_below(epsilon / max_groups, bits)",
        "growth = growth_below(epsilon, bits)",
        "a person with max_groups keys costs max_groups times ε",
        ("tests/kernel/test_selection.py",),
    ),
    # ---- the price and the budget
    Mutant(
        "conversion-too-cheap",
        "kernel/cost.py",
        "alpha * (1 - 1 / alpha).ln()) / above",
        "alpha * (1 - 1 / alpha).ln()) / alpha",
        "the ρ that (ε, δ) pays for is too large: every Gaussian answer has too little noise",
        ("tests/kernel/test_cost.py",),
    ),
    Mutant(
        "limit-compared-before-adding",
        "ledger/ledger.py",
        "        if amount > left:",
        "        if left <= 0:",
        "the last question may cost any amount",
        (LEDGER,),
    ),
    Mutant(
        "limit-for-each-analyst",
        "ledger/ledger.py",
        "return book.total, book.analyst_totals.get(analyst, Fraction(0)), book.delta_total",
        "return (book.analyst_totals.get(analyst, Fraction(0)),) * 2 + (book.delta_total,)",
        "every analyst gets the whole limit of the table; together they exceed it",
        (LEDGER,),
    ),
    Mutant(
        "total-rounded-down",
        "ledger/totals.py",
        "return Fraction(-((-total * ROUNDED_TO) // 1), ROUNDED_TO)",
        "return Fraction((total * ROUNDED_TO) // 1, ROUNDED_TO)",
        "charges smaller than the rounding are free, for ever",
        (LEDGER, "tests/threats/test_ledger.py::test_l8_unrelated_fractions_are_rounded_up_by_next_to_nothing"),
    ),
    Mutant(
        "request-id-buys-another-question",
        "ledger/ledger.py",
        "if same_request.question != payment.question:",
        "if False:",
        "a request id that was paid once gives a receipt for every other question",
        (LEDGER,),
    ),
    Mutant(
        "hash-without-the-analyst",
        "ledger/entry.py",
        "fields = [self.seq, self.kind, self.analyst, self.question,",
        "fields = [self.seq, self.kind, self.question,",
        "charges are moved to another analyst, and nobody notices",
        ("tests/ledger/test_chain.py",),
    ),
    Mutant(
        "charge-not-forced-to-disk",
        "ledger/chain.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = OFF",
        "a power cut forgets a charge whose answer was shown",
        (
            "tests/ledger/test_chain.py",
            "tests/threats/test_ledger.py::test_l3_the_charge_is_on_disk_before_the_first_byte_of_the_answer",
        ),
    ),
    Mutant(
        "anchor-compares-lengths",
        "ledger/anchor.py",
        "if not book.holds(*known):",
        "if book.seq < known[0]:",
        "another ledger, as long and with nothing spent, takes the place of this one",
        ("tests/ledger/test_anchor.py",),
    ),
    # ---- the SQL that an engine sees
    Mutant(
        "arithmetic-not-clamped",
        "engines/expressions.py",
        '        real = written if self._is_real(node) else f"CAST({written} AS DOUBLE)"\n',
        '        real = written if self._is_real(node) else f"CAST({written} AS DOUBLE)"\n'
        "        if isinstance(node, Arithmetic):\n"
        '            return f"TRY_CAST({real} * {double(2.0**-lattice.exponent)} AS BIGINT)"\n',
        "SUM(x * x) takes the values as they are: one row moves the sum without bound",
        ("tests/museum/test_smartnoise_201.py",),
    ),
    Mutant(
        "rows-bounded-in-each-group",
        "engines/emit.py",
        'total, many = ("n", "1") if not plan.keys else ("SUM(n) OVER person", "COUNT(*) OVER person")',
        'total, many = ("n", "1")',
        "a person adds max_rows rows to each of max_groups groups",
        (WORST,),
    ),
    Mutant(
        "counted-values-not-bounded",
        "engines/emit.py",
        'return f"CASE WHEN c{i} > most THEN most ELSE c{i} END"',
        'return f"c{i}"',
        "COUNT(x) counts all rows of a person, however many",
        (WORST,),
    ),
    Mutant(
        "centred-at-the-lower-bound",
        "engines/emit.py",
        'f"SUM(v{i}) - {huge(lattice.centre)} * COUNT(v{i}) AS s{i}"',
        'f"SUM(v{i}) - {huge(lattice.lower)} * COUNT(v{i}) AS s{i}"',
        "a person moves a centred sum by the whole width, its noise covers half of it",
        (WORST,),
    ),
    Mutant(
        "rows-without-id-kept",
        "engines/emit.py",
        "f'{person} IS NOT NULL'",
        "'TRUE'",
        "a person whose id is missing in some rows counts twice",
        (WORST,),
    ),
    Mutant(
        "undeclared-key-numbered",
        "engines/emit.py",
        'return f"CASE WHEN {written} BETWEEN {low} AND {high} THEN {position} END"',
        "return position",
        "a row outside the declared keys makes the question fail: the failure tells that it is there",
        (WORST,),
    ),
    Mutant(
        "quote-not-doubled",
        "engines/functions.py",
        'return "\'" + string.replace("\'", "\'\'") + "\'"',
        "return f\"'{string}'\"",
        "a text in WHERE ends the literal and goes on as SQL of the analyst's",
        ("tests/engines/test_duckdb.py::test_a_text_is_compared_and_never_read_as_sql",),
    ),
    # ---- bounds that are found
    Mutant(
        "found-sum-noise-for-one-step",
        "kernel/bounds.py",
        "sensitivity = self.rows * max(most, 1)",
        "sensitivity = self.rows",
        "a sum of values up to 100,000 gets the noise of a count",
        (FOUND,),
    ),
    Mutant(
        "finding-is-free",
        "kernel/bounds.py",
        "return laplace.epsilon(self.rows) + self.adding",
        "return self.adding",
        "the histogram that finds the bounds is not paid for",
        (FOUND,),
    ),
    Mutant(
        "clipped-cells-count-with-their-sums",
        "kernel/bounds.py",
        "total += found if edges[abs(place - middle) - 1] <= abs(most) else count * most",
        "total += found",
        "a value beyond the bounds found moves the sum by all of itself",
        (FOUND,),
    ),
    # ---- cells, quantiles, running totals, keys that are discovered
    Mutant(
        "slope-of-the-smaller-side",
        "kernel/ranks.py",
        "slope = max(node.inside.numerator, node.inside.denominator - node.inside.numerator)",
        "slope = min(node.inside.numerator, node.inside.denominator - node.inside.numerator)",
        "the 90th hundredth is chosen nine times as sharply as its ε allows",
        (RANKS + "::test_draws_follow_the_law",),
    ),
    Mutant(
        "quantile-without-max-rows",
        "kernel/ranks.py",
        "Fraction(slope * self.rows)",
        "Fraction(slope)",
        "a person with many rows moves a quantile like one row would",
        (RANKS + "::test_draws_follow_the_law",),
    ),
    Mutant(
        "bars-for-nothing",
        "kernel/ranks.py",
        "return sum(self.estimates) + 2 * sum(self.bars, Fraction(0))",
        "return sum(self.estimates, Fraction(0))",
        "error bars of quantiles look at the rows and are not paid for",
        (LINES + "::test_a_share_is_divided_and_never_exceeded",),
    ),
    Mutant(
        "rows-moved-to-make-room",
        "kernel/ranks.py",
        "order[number]",
        "number * parts // np.repeat(counts, counts)",
        "a row more moves the other rows of its cell, some of them into another piece",
        (LINES + "::test_a_row_more_is_one_part_more_and_moves_no_other",),
    ),
    Mutant(
        "shift-without-end",
        "kernel/ranks.py",
        "return min(self.enclosing(node) + self.miss(self.bars[node.depth], node.slope), FARTHEST)",
        "return self.enclosing(node) + self.miss(self.bars[node.depth], node.slope)",
        "with a tiny ε scores overflow: where they do depends on the rows, and the answer fails after it was paid",
        (LINES + "::test_however_small_epsilon_is_no_score_overflows",),
    ),
    Mutant(
        "runs-count-once",
        "kernel/choice.py",
        "            weights *= alike\n",
        "            weights *= 1\n",
        "an empty stretch of the line is chosen like a single place: the law is no longer the one that was proved",
        ("tests/kernel/test_choice.py::test_a_score_for_many_has_the_law_of_as_many_scores", RANKS),
    ),
    Mutant(
        "first-entry-of-a-column",
        "kernel/strategies.py",
        "squared = int((_roots(self.size) ** 2).sum())",
        "squared = int(_roots(self.size)[0]) ** 2",
        "a row counts in every later sum of a running total and is protected in the first of them",
        ("tests/kernel/test_strategies.py::test_norms_of_columns_by_brute_force",),
    ),
    Mutant(
        "people-in-one-group",
        "kernel/certify.py",
        "most = places if plan.open else min(places, plan.groups)",
        "most = 1",
        "a person who is counted in max_groups groups is protected in one",
        ("tests/kernel/test_certify_cells.py",),
    ),
    Mutant(
        "keys-found-for-nothing",
        "kernel/certify.py",
        "Cost(currency, total + selection.epsilon**2 / 2, selection.delta)",
        "Cost(currency, total, selection.delta)",
        "which keys are shown tells of the rows, and is not paid for",
        ("tests/kernel/test_certify_cells.py",),
    ),
    Mutant(
        "delta-of-one-question-alone",
        "ledger/ledger.py",
        "if delta_total + delta > terms.pot:",
        "if delta > terms.pot:",
        "every question may spend the whole δ again on discovering keys",
        (LEDGER + "::test_discovering_keys_takes_delta_from_a_pot",),
    ),
    Mutant(
        "keys-in-the-order-of-rows",
        "kernel/gate.py",
        "sorted(np.flatnonzero(selection.draw(units, entropy)).tolist(), key=lambda place: named[place])",
        "np.flatnonzero(selection.draw(units, entropy)).tolist()",
        "groups come in the order in which the engine met them, which tells whose rows come first",
        (GATE + "::test_groups_of_many_units_are_shown_sorted_and_others_are_not",),
    ),
    # ---- the gate for SQL, and numbers that people type
    Mutant(
        "unknown-parts-let-through",
        "query/sql_expressions.py",
        "if value not in (None, False, []) and part not in allowed:",
        'if part == "into" and part not in allowed:',
        "JOIN, DISTINCT, QUALIFY and the rest pass the allow-list; only the rewriting behind it still holds",
        ("tests/query/test_sql.py", "tests/query/test_fixtures.py"),
    ),
    Mutant(
        "numbers-shortened",
        "schema/numbers.py",
        "result = Fraction(value) if isinstance(value, Decimal | Fraction) else Fraction(int(value))",
        "result = Fraction(value).limit_denominator(10**6)",
        "a sensitivity of 0.0000014 becomes 0.000001, and its noise shrinks with it",
        ("tests/schema/test_numbers.py",),
    ),
)
