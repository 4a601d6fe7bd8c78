"""Single doors: one place that charges, looks and releases, one that writes SQL, one a third-party package."""

import ast

import pytest

from tests.architecture.sources import Source, callers, imported, importers, sources


def outside_audit(names: set[str]) -> set[str]:
    """The auditor opens the gate on integers of its own and on tables it makes up; no private table is near it."""
    return {name for name in names if not name.startswith("audit/")}


def test_only_the_ledger_makes_receipts() -> None:
    assert outside_audit(callers("Receipt")) == {"ledger/ledger.py"}
    assert outside_audit(importers("sfumato.kernel.gate.Receipt")) == {"ledger/ledger.py", "door.py"}


def test_the_auditor_never_meets_a_session_or_a_ledger() -> None:
    for door in ("sfumato.session", "sfumato.ledger"):
        assert not any(name.startswith("audit/") for name in importers(door))


def test_only_the_door_opens_the_gate() -> None:
    assert outside_audit(importers("sfumato.kernel.gate.release")) == {"door.py"}
    assert "release" in source("door.py").calls()


@pytest.mark.parametrize("verb", ["found", "charge", "store", "fail"])
def test_only_the_door_pays_and_keeps(verb: str) -> None:
    assert callers(verb) == {"door.py"}


@pytest.mark.parametrize("verb", ["draw", "seal"])
def test_only_the_door_does_it_with_a_ledger(verb: str) -> None:
    """Mechanisms draw as well, and a watchdog interrupts; but none of them has a ledger."""
    assert callers(verb) & importers("sfumato.ledger.ledger.Ledger") == {"door.py"}


def test_only_the_session_and_its_envelopes_pass_the_door() -> None:
    assert importers("sfumato.door.answer") == {"session.py", "envelope.py"}
    assert importers("sfumato.door.sealed") == {"session.py"}
    assert callers("Draw") == {"envelope.py"}
    assert callers("Sealing") == {"session.py"}


def test_only_the_door_asks_an_engine_for_an_answer() -> None:
    """Through `look_at_all`, which alone runs queries; what an engine says of its state is no answer."""
    assert outside_audit(importers("sfumato.engines.arrange.look_at_all")) == {"door.py"}
    for verb, allowed in (("run", set()), ("rows", {"engines/arrange.py"})):
        with_an_engine = callers(verb) & (importers("sfumato.engines") | {"engines/arrange.py"})
        # The desk has a raw table of its own; `fit` counts cells for the owner, see below.
        assert with_an_engine - {"attacks/desk.py", "engines/duckdb/fit.py"} == allowed
    keeping = callers("kept") & (importers("sfumato.engines") | {"engines/copies.py"})
    assert keeping - {"session.py"} == {"engines/copies.py"}  # a session calls so what a ledger kept
    with_copies = importers("sfumato.engines.copies")
    assert callers("names") & with_copies == {"door.py"} <= with_copies


def test_exact_counts_of_cells_are_for_the_owners_own_commands() -> None:
    assert importers("sfumato.engines.duckdb.fit") == {"cli/check.py", "cli/init.py"}
    assert not importers("sfumato.engines.duckdb.fit") & importers("sfumato.ledger")


def test_plans_are_certified_by_the_kernel_alone() -> None:
    assert callers("Certified") == {"kernel/certify.py"}
    assert callers("CertifiedRelease") == {"kernel/certify.py"}


def test_an_analysts_session_has_no_verb_of_the_owner() -> None:
    """What a session shows of itself: neither its ledger nor the table in the owner's hands."""
    owners = {"ledger", "engine", "verify", "entries", "raise_limit", "limit_analyst", "session"}
    assert owners <= public(source("protected.py"), "Protected")
    assert not owners & public(source("session.py"), "Session")
    assert not importers("sfumato.protected") & {"session.py", "door.py"}


def public(where: Source, name: str) -> set[str]:
    (found,) = (node for node in where.tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    methods = {node.name for node in found.body if isinstance(node, ast.FunctionDef)}
    kept = {
        node.attr for node in ast.walk(found) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    return {each for each in methods | kept if not each.startswith("_")}


def source(name: str) -> Source:
    return next(each for each in sources() if each.name == name)


def test_only_the_gate_and_the_ledger_make_releases() -> None:
    assert callers("Release") == {"kernel/gate.py", "ledger/releases.py"}


def test_only_the_session_says_what_to_pay_for() -> None:
    assert importers("sfumato.ledger.payment.Payment") == {
        "door.py",
        "ledger/bought.py",
        "ledger/ledger.py",
        "session.py",
    }
    assert callers("Payment") == {"session.py"}


def test_a_receipt_is_redeemed_in_the_gate_before_anything_is_drawn() -> None:
    gate = source("kernel/gate.py")
    assert callers("redeem") == {"kernel/gate.py"}
    release = next(node for node in gate.tree.body if isinstance(node, ast.FunctionDef) and node.name == "release")
    lines = {
        node.func.attr: node.lineno
        for node in ast.walk(release)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert lines["redeem"] < lines["draw"]


def test_the_charge_comes_before_the_engine() -> None:
    """Read here, and watched in tests/session/test_door.py."""
    lines: dict[str, int] = {}
    for node in ast.walk(source("door.py").tree):
        if isinstance(node, ast.Call):
            lines[_called(node)] = min(node.lineno, lines.get(_called(node), node.lineno))
    assert lines["found"] < lines["slot"] < lines["charge"] <= lines["draw"] < lines["_drawn"]
    assert lines["look_at_all"] < lines["release"] < lines["store"]


def test_whatever_looks_at_the_data_leaves_at_a_tick() -> None:
    door = source("door.py")
    timed = [
        node
        for node in ast.walk(door.tree)
        if isinstance(node, ast.With) and ast.unparse(node.items[0]).startswith("leaving_at_a_tick(")
    ]
    calls = [node for node in ast.walk(door.tree) if isinstance(node, ast.Call)]
    assert not [
        call for call in calls if _called(call) in ("run", "rows", "kept")
    ]  # the engine is asked by `look_at_all`
    inside = {id(node) for block in timed for node in ast.walk(block)}
    assert inside & {id(call) for call in calls if _called(call) == "_drawn"}
    assert not [call for call in calls if _called(call) == "_drawn" and id(call) not in inside]
    (drawn,) = (node for node in door.tree.body if isinstance(node, ast.FunctionDef) and node.name == "_drawn")
    assert {id(call) for call in calls if _called(call) == "look_at_all"} <= {id(node) for node in ast.walk(drawn)}


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


@pytest.mark.parametrize("module", ["samplers", "borders"])
def test_only_mechanisms_use_samplers(module: str) -> None:
    folders = {name.split("/")[0] for name in importers(f"sfumato.kernel.{module}")}
    assert folders <= {"kernel", "noise", "local", "geo", "audit"}


def test_only_the_session_and_public_mechanisms_touch_the_systems_randomness() -> None:
    users = importers("sfumato.kernel.entropy.SystemEntropy") | callers("SystemEntropy")
    assert {name.split("/")[0] for name in users} <= {"session.py", "noise", "local", "geo", "audit"}


def test_only_the_emitter_writes_sql_for_questions() -> None:
    assert outside_audit(importers("sfumato.engines.sql.counting.emit")) == {"door.py"}
    assert outside_audit(importers("sfumato.engines.sql.counting")) <= {
        "door.py",
        "engines/duckdb/engine.py",
        "engines/spark.py",
    }


def test_only_engines_ledger_and_tour_execute_sql() -> None:
    """The tour plays the attacker on its own made-up town; a lab's notebook is executed, not SQL."""
    executing = {
        name
        for name in callers("execute") | callers("executemany") | callers("sql")
        if not name.startswith("query/sql")
    }
    others = {name for name in executing if not name.startswith(("engines/", "cli/tour/"))}
    assert others - {"labs/build/executing.py"} == {"ledger/chain.py", "ledger/layout.py"}


def test_the_analysts_text_is_parsed_in_fourteen_files() -> None:
    parts = ("", "_calls", "_dialect", "_expressions", "_foreign", "_formulas", "_functions", "_hints", "_instead")
    parts += ("_parts", "_positions", "_refusals", "_rollup", "_sources")
    assert importers("sqlglot") == {f"query/sql{part}.py" for part in parts}


@pytest.mark.parametrize(
    ("package", "homes"),
    [
        # The engine, and what brings tables in front of it; questions go through engines/duckdb/engine.py alone.
        (
            "duckdb",
            {
                "engines/duckdb/engine.py",
                "engines/duckdb/in_place.py",
                "engines/duckdb/sources.py",
                "engines/duckdb/tables.py",
            },
        ),
        # A ledger is written; a table in a SQLite file is only read, in another file that never meets a ledger.
        ("sqlite3", {"ledger/chain.py", "ledger/layout.py", "engines/duckdb/sqlite.py"}),
        ("ssl", {"kernel/entropy.py"}),
    ],
)
def test_few_files_a_package(package: str, homes: set[str]) -> None:
    assert {name for name in importers(package) if not name.startswith("cli/tour/")} == homes


@pytest.mark.parametrize("module", ["random", "numpy.random"])
def test_seeded_generators_stay_in_simulate(module: str) -> None:
    """Students' functions take a generator of NumPy, and one file makes those."""
    at_home = ("simulate/", "labs/generators.py")
    assert {name for name in importers(module) if not name.startswith(at_home)} == set()
    for source in sources():
        if not source.name.startswith(at_home):
            assert not any(_is_numpy_random(node) for node in source.nodes), source.name


def _is_numpy_random(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "random"
        and isinstance(node.value, ast.Name)
        and node.value.id in ("np", "numpy")
    )


def test_nothing_is_evaluated_or_unpickled() -> None:
    # A student's code, inside of the box; and the answers that ship with the labs, to test the checks.
    assert callers("eval") | callers("exec") == {"labs/grade/child.py", "labs/selftest.py"}
    for module in ("pickle", "marshal", "shelve", "subprocess", "yaml", "socket", "urllib.request", "http.client"):
        homes = {name for name in importers(module) if not name.startswith(("labs/", "server/"))}
        assert homes == set(), module


def test_every_error_is_one_of_ours() -> None:
    """A builtin error means a bug: where people's input arrives, errors.py has a sentence for it."""
    for source in sources():
        if source.name.startswith(("session", "protected", "door", "cli/", "query/")) and not source.name.startswith(
            "cli/tour/"
        ):
            assert not set(_raised(source)) & {"Exception", "RuntimeError", "AssertionError"}, source.name


def _raised(source: Source) -> list[str]:
    raised = [node.exc for node in source.nodes if isinstance(node, ast.Raise)]
    calls = [error.func if isinstance(error, ast.Call) else error for error in raised]
    return [called.id for called in calls if isinstance(called, ast.Name)]


def test_no_assert_guards_anything_in_the_package() -> None:
    """python -O would remove it."""
    for source in sources():
        assert not any(isinstance(node, ast.Assert) for node in source.nodes), source.name


def test_no_function_imports_the_package() -> None:
    for source in sources():
        if source.name != "__init__.py":
            for function in source.nodes:
                if isinstance(function, ast.FunctionDef):
                    inside = imported(ast.walk(function))
                    assert not any(name.startswith("sfumato") for name in inside), source.name
