"""Every wording of the package, said once with arguments that read naturally, for the page of errors."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import sfumato
from docs import lab_wordings
from sfumato import errors
from sfumato.query.sql_instead import FUNCTIONS_INSTEAD, KINDS, PARTS
from sfumato.query.sql_refusals import REASONS

Wording = Callable[..., errors.SfumatoError]
Table = Callable[[tuple[str, ...], list[tuple[str, ...]]], str]

# Modules of wordings in the order of the page, and what they are about. A module that is not listed comes last.
TITLES = {
    "sfumato.query.wordings": "Questions",
    "sfumato.answers.wordings": "Answers",
    "sfumato.query.source_wordings": "Joins and sub-queries",
    "sfumato.engines.wordings": "Tables and files",
    "sfumato.tables.wordings": "Files without a budget",
    "sfumato.schema.wordings": "Declarations",
    "sfumato.schema.beside_wordings": "Lookups and further tables",
    "sfumato.kernel.wordings": "Mechanisms",
    "sfumato.ledger.wordings": "The ledger",
    "sfumato.learn.wordings": "Learners",
    "sfumato.noise.wordings": "Noise",
    "sfumato.accounting.wordings": "Accounting",
    "sfumato.devices.wordings": "Devices",
    "sfumato.local.wordings": "Local privacy",
    "sfumato.geo.wordings": "Places",
    "sfumato.anonymise.wordings": "Anonymising",
    "sfumato.attacks.wordings": "Attacks",
    **lab_wordings.TITLES,
    "sfumato.cli.wordings": "Commands",
}
# Arguments with which a wording reads naturally; `package.name` where two packages have the name. A wording that is not
# listed gets some by the names of its parameters.
SAMPLES: dict[str, tuple[Any, ...]] = {
    **lab_wordings.SAMPLES,
    "not_a_number": ("spend", "'much'"),
    "not_finite": ("epsilon",),
    "not_positive": ("spend", "-1"),
    "out_of_range": ("delta", "0", "1", "2"),
    "too_small": ("max_rows", "1", "0"),
    "not_whole": ("max_rows", "2.5"),
    "missing_argument": ("spend", "spend=0.5"),
    "missing_extra": ("to_pandas", "pandas", "pandas"),
    "layout_unknown": ("people.ledger", ["trigger no_delete"]),
    "journal_beside": ("people.ledger-journal",),
    "anchor_went_back": ("people.ledger.anchor",),
    "entry_senseless": (12, "has a total that is not the sum of the charges"),
    "not_a_file": ("ledger", "people.ledger"),
    "bounds_reversed": ("90", "17"),
    "repeated_category": ("yes",),
    "groups_above_rows": (2, 5),
    "not_of_kind": ("row", "id"),
    "people_unknown": ("COUNT(DISTINCT card)",),
    "keys_need_people": ("town",),
    "each_above_rows": (2, 5),
    "default_above": ("max_rows", 20, 10),
    "argument_unknown": ("max_row", ("max_rows", "max_groups", "max_rows_per_group", "clipped")),
    "clipped_is_yes_or_no": ("int",),
    "cap_above_rows": ("max_groups", 5, 2),
    "caps_without_rows": ("max_groups",),
    "join_multiplies": (513, 60, 4096),
    "unit_column_declared": ("user_id",),
    "policy_missing": ("people.toml",),
    "policy_malformed": ("people.toml", "Expected '=' after a key (at line 3, column 9)"),
    "policy_unknown": ("people.toml", "budget", "epsilom", ("epsilon", "delta")),
    "policy_lacks": ("people.toml", "budget", "epsilon", "epsilon = 3"),
    "policy_exists": ("people.toml",),
    "file_missing": ("people.csv",),
    "file_unreadable": ("people.csv", "it is not valid UTF-8"),
    "file_not_understood": ("people.csv", "it is not valid UTF-8"),
    "tables.kind_unknown": ("people.xlsx", (".csv", ".json", ".parquet")),
    "format_unknown": ("xml", ("csv", "json", "parquet")),
    "row_torn": ("people.csv", 3, 4, 5),
    "one_array": ("people.json",),
    "folder_names": ("zip",),
    "frame_unknown": ("list",),
    "policy_wrong": (
        "people.toml",
        "age",
        errors.UsageError("lower bound 90 is not below upper bound 17.", "Swap or widen the bounds."),
    ),
    "column_absent": ("incme", ("age", "income")),
    "too_long": (12_000, 10_000),
    "not_sql": ("it stops making sense at 'FRM'",),
    "not_supported": ("HAVING here", "What works: SELECT keys, COUNT(*) … GROUP BY keys."),
    "unknown_table": ("peple", "people"),
    "unknown_column": ("incme", ("age", "income")),
    "no_bounds": ("SUM(income)", "income"),
    "category_unbounded": ("MAX(smoker)", "smoker", [0, 1]),
    "division_unbounded": ("SUM(income / age)",),
    "wrong_type": ('"zip" is a text', "this needs a number"),
    "identifier_used": ("name",),
    "keys_undeclared": ("zip",),
    "over_key_budget": ("1e-06", "2e-07"),
    "too_many_keys": (1_000_000, 100_000),
    "select_without_group": ("sex",),
    "bounds_too_wide": ("SUM(income * 1e100 * 1e100 * 1e100)",),
    "duplicate_output": ("n",),
    "mechanism_switched_off": ("ranks",),
    "allow_unknown": ("rank", ("additive", "ranks")),
    "plan_refused": ("an aggregate is constant",),
    "spend_buys_nothing": ("1e-99",),
    "spend_too_small": ("0.001",),
    "over_budget": ("0.5", "the table", "0.2", "3"),
    "ledger_differs": ("the table", "people", "persons"),
    "limit_differs": ("epsilon 3", "epsilon 5"),
    "request_conflict": ("id-17",),
    "question_not_text": ("int",),
    "error_depends": ("income",),
    "which_column": (["n", "income"],),
    "error_out_of_reach": ("1e-09", "999000"),
    "not_drawable": ("mode",),
    "part_refused": ("a condition", "1 = 1) OR (2 = 2"),
    "part_not_text": ("a condition", "int"),
    "keys_need_delta": ("town",),
    "not_measured": ("cuont", ["count", "income"]),
    "refused_because": ("INTERVAL", "dates are compared and counted, not moved", "Write the day: DATE '2024-01-31'."),
    "function_unknown": ("MEDAIN", ["MEDIAN", "ABS"], ["ABS", "ROUND", "FLOOR"]),
    "distinct_of_several": (["zip", "sex"],),
    "not_in_answer": ("age", ["sex", "n"]),
    "sorted_by_computed": ("n / 2", ["sex", "n"]),
    "not_listed": ("sex", "Femal", ["female", "male"]),
    "mode_unlisted": ("MODE(zip)", "zip"),
    "bounds_lost": ("AVG(LN(cost))", "LN", "LN(GREATEST(cost, 1))"),
    "date_unbounded": ("AVG(YEAR(seen))", "seen"),
    "calls_too_deep": (4,),
    "too_many_casts": (4,),
    "too_large": (5_000,),
    "too_many_joins": (4,),
    "too_many_tables": (8,),
    "too_many_levels": (5,),
    "argument_wrong": ("ROUND", "whole numbers from -15 to 15 after its first argument"),
    "keys_endless": ("LEFT(…)",),
    "not_computed": ("UPPER", ["ABS", "ROUND"]),
    "column_beside_answers": ("age",),
    "nothing_to_compute": ("HISTOGRAM(age, 3)", "a list or a most frequent value"),
    "total_of_answers": ("SUM(AVG(age)) OVER ()",),
    "total_before_having": ("share",),
    "rolled_up_keys": ("town",),
    "not_rolled_up": ("median_age",),
    "total_of_totals": ("COUNT(*) / SUM(COUNT(*)) OVER ()",),
    "no_key_left": ("age", 17, 90, 3),
    "name_of_a_column": ("month",),
    "number_and_truth": ("smoker", "true", 1),
    "sub_query_limited": ("LIMIT",),
    "sub_query_distinct": (),
    "join_kind": ("CROSS JOIN",),
    "join_condition": ("USING names several columns",),
    "join_of_people": ("user_id",),
    "join_off_key": ("regions", "code"),
    "join_of_kinds": ("age", "code"),
    "lookup_first": ("regions",),
    "column_unnamed": ("age / 10",),
    "fold_unknown": ("MEDIAN(cost)",),
    "fold_of_many": ("user_id",),
    "unit_id_renamed": ("user_id",),
    "unit_id_computed": ("user_id",),
    "plain_beside_fold": ("day",),
    "engines.kind_unknown": ("people.xlsx",),
    "table_needed": ("hospital.duckdb", ()),
    "table_absent": ("hospital.duckdb", "vists", ("visits",)),
    "view_refused": ("hospital.duckdb", "latest"),
    "folder_mixed": ("visits", "2024.parquet"),
    "event_unknown": ("laplac", ("laplace", "gaussian")),
    "event_malformed": ("'laplace'",),
    "event_parameters": ("laplace", "one epsilon above 0"),
    "delta_used_up": ("1e-06", "1e-06"),
    "too_fine": ("laplace", "epsilon below 100"),
    "neighbours_unknown": ("'swap'",),
    "filter_refuses": ("epsilon 2", "epsilon 1"),
    "limit_too_small": ("1000",),
    "times_not_whole": ("2.5",),
    "figure_without_plot": ("losses",),
    "figure_takes_one": ("losses", 2),
    "two_roles": ("age", "quasi", "sensitive"),
    "k_above_rows": (50, 20),
    "choice_unknown": ("distance", "equall", ("equal", "ordered")),
    "needs_sensitive": ("l",),
    "unreachable": ("k=5",),
    "lattice_too_large": (2_000_000, 1_000_000),
    "hierarchy_needs": ("zip", "intervals", "numbers"),
    "key_too_short": (8, 16),
    "measure_unknown": ("entropie", ("entropy", "discernibility")),
    "suppression_above": (0.08, 0.05),
    "rows_differ": (100, 90),
    "role_unknown": ("age", "quasy", ("quasi", "sensitive")),
    "one_text": ("columns", "age"),
    "attacks.lengths_differ": ("weights", 3, 5),
    "attack_unknown": ("lnk", ("link", "difference")),
    "attacks.not_numeric": ("released", "zip"),
    "wants_numbers": ("compared", "zip"),
    "too_few_complete": (20, 300, 100, "income"),
    "one_value_only": ("country",),
    "too_many_values": ("zip", 2_400, 100),
    "too_few_of_a_kind": ("diagnosis", 3, 9),
    "needs_columns": ("link", "the quasi-identifiers", "--quasi age,sex"),
    "nothing_to_attack": ("target",),
    "row_outside": ("known", 100),
    "bad_positions": ([(3, "the latitude is 91"), (7, "the longitude is missing")],),
    "not_a_position": ("(100, 200)",),
    "not_geojson": ("it has no features",),
    "not_a_metric": ("d(1, 3) is above d(1, 2) + d(2, 3)",),
    "geo.device_differs": ("level",),
    "local.device_differs": (),
    "item_unknown": ([2, 5], 10),
    "vectors_unusable": ("one is not finite",),
    "protocol_unknown": ("oe", ("oue", "olh")),
    "domain_too_large": (2_000, 1_000, "oue"),
    "epsilon_missing": ("oue",),
    "epsilon_too_large": ("200", 100),
    "local.epsilon_too_small": ("1e-9", "1e-6"),
    "noise.epsilon_too_small": ("1e-9",),
    "option_unknown": ("bit", "rappor", ("bits", "hashes")),
    "rappor_option_wrong": ("p equals q",),
    "value_outside": (3, "the value is not in the domain"),
    "report_wrong": (3, "it is not a whole number"),
    "reports_of_another": (3, "epsilon 1", "epsilon 2"),
    "spec_unusable": ("it has no protocol",),
    "confidence_wrong": ("2",),
    "state_unusable": ("device.json", "it is not JSON"),
    "state_unwritable": ("device.json", "no space left on device"),
    "state_linked": ("device.json",),
    "state_gone": ("device.json",),
    "state_went_back": ("device.json",),
    "state_replaced": ("device.json",),
    "liars_wrong": ("-1",),
    "text_outside": (3, 20),
    "value_unknown": ("str",),
    "sensitivity_not_whole": ("0.5",),
    "mechanism_unknown": ("laplac", ("laplace", "gaussian")),
    "delta_without_use": ("laplace",),
    "candidates_unusable": ("set",),
    "scores_do_not_match": (3, 2),
    "classical_outside_proof": ("2",),
    "lookup_repeats": ("regions", "code", "'DE'"),
    "not_declared_as": ("regions", "Lookup"),
    "category_not_list": ("yes",),
    "analyst_unplain": ("'research '",),
    "folder_missing": ("ledgers/people.ledger",),
    "not_a_date": ("'yesterday'",),
}
BY_NAME: dict[str, Any] = {
    "what": "epsilon",
    "shown": "-1",
    "path": "people.ledger",
    "name": "income",
    "column": "income",
    "table": "people",
    "call": "SUM(income)",
    "limit": 30,
    "entry": 12,
    "seen": 11,
    "anchored": 12,
    "value": "yes",
    "row": 3,
    "rows": 100,
    "found": 3,
    "needed": 10,
    "minimum": 20,
    "least": 2,
    "size": 3,
    "length": 20,
    "reach_km": 1000,
    "reason": "it ends too early",
    "kind": "list",
    "method": "microaggregation",
    "attack": "link",
    "package": "pandas",
    "cost": "0.5",
    "left": "0.2",
    "key": "code",
    "missing": 2,
    "level": 1,
}
BY_ANNOTATION: dict[str, Any] = {"str": "…", "int": 3, "float": 0.5, "bool": True, "Iterable[str]": ("age", "income")}


def modules() -> list[str]:
    """Every module of wordings, those with a title first."""
    root = Path(str(sfumato.__file__)).parent
    found = [
        ".".join(("sfumato", *path.relative_to(root).with_suffix("").parts)) for path in root.rglob("*wordings.py")
    ]
    return [*TITLES, *sorted(set(found) - set(TITLES))]


def wordings_of(module: str) -> list[Wording]:
    """In the order of the file."""
    own = import_module(module)
    return [
        each for each in vars(own).values() if inspect.isfunction(each) and each.__module__ == module and kind_of(each)
    ]


def kind_of(wording: Wording) -> type[errors.SfumatoError] | None:
    """The error it makes."""
    kind = getattr(wording, "__annotations__", {}).get("return")
    return kind if isinstance(kind, type) and issubclass(kind, errors.SfumatoError) else None


def said(wording: Wording) -> str:
    error = wording(*sample(wording))
    return "\n".join([f"**{wording.__name__}**", "", "```text", f"{type(error).__name__}: {error}", "```"])


def sample(wording: Wording) -> tuple[Any, ...]:
    package = wording.__module__.split(".")[-2]
    for name in (f"{package}.{wording.__name__}", wording.__name__):
        if name in SAMPLES:
            return SAMPLES[name]
    written = ast.parse(textwrap.dedent(inspect.getsource(wording))).body[0]
    if not isinstance(written, ast.FunctionDef):
        raise TypeError(f"{wording!r} is no function")
    kinds = {part.arg: ast.unparse(part.annotation) for part in written.args.args if part.annotation is not None}
    return tuple(BY_NAME.get(name, BY_ANNOTATION.get(kind, "…")) for name, kind in kinds.items())


def by_kind() -> dict[type[errors.SfumatoError], list[Wording]]:
    """The wordings of `sfumato.errors` under the error they make, in the order of the tree."""
    found: dict[type[errors.SfumatoError], list[Wording]] = {
        kind: []
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.SfumatoError) and kind is not errors.SfumatoError
    }
    for wording in wordings_of("sfumato.errors"):
        kind = kind_of(wording)
        if kind is not None:
            found[kind].append(wording)
    return {kind: wordings for kind, wordings in found.items() if wordings}


def wordings_page(table: Table) -> Iterator[str]:
    yield "## What they say"
    for kind, wordings in by_kind().items():
        yield f"### {kind.__name__} ({kind.exit_code})"
        yield from map(said, wordings)
    for module in modules():
        yield f"## {TITLES.get(module, module)}"
        yield from map(said, wordings_of(module))
    yield from refused_parts(table)


def refused_parts(table: Table) -> Iterator[str]:
    """What people often write in a question, and what works in its place."""
    yield "## Other ways to write it"
    yield "What a question cannot have, as people write it. The refusal names it, with this reason and this hint."
    rows = [(f"`{name}`", reason, nearest) for name, reason, nearest in REASONS.values()]
    rows += [
        (", ".join(f"`{text}`" for text in instead.written), instead.reason, instead.nearest)
        for instead in dict.fromkeys((*KINDS.values(), *PARTS.values(), *FUNCTIONS_INSTEAD))
    ]
    yield table(("written", "why not", "what works"), rows)
