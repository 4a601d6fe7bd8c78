"""Single doors: one place that charges, one that releases, one that writes SQL, one a third-party package."""

import ast

import pytest

from tests.architecture.sources import Source, callers, importers, sources


def outside_audit(names: set[str]) -> set[str]:
    """The auditor opens the gate on integers of its own and on tables it makes up; no private table is near it."""
    return {name for name in names if not name.startswith("audit/")}


def test_only_the_ledger_makes_receipts() -> None:
    assert outside_audit(callers("Receipt")) == {"ledger/ledger.py"}
    assert outside_audit(importers("sfumato.kernel.gate.Receipt")) == {"ledger/ledger.py"}


def test_the_auditor_never_meets_a_session_or_a_ledger() -> None:
    for door in ("sfumato.session", "sfumato.ledger"):
        assert not any(name.startswith("audit/") for name in importers(door))


def test_only_the_session_opens_the_gate() -> None:
    assert outside_audit(importers("sfumato.kernel.gate.release")) == {"session.py"}
    assert "release" in set(next(source for source in sources() if source.name == "session.py").calls())


def test_only_the_gate_and_the_ledger_make_releases() -> None:
    assert callers("Release") == {"kernel/gate.py", "ledger/releases.py"}


def test_only_the_session_pays() -> None:
    assert importers("sfumato.ledger.payment.Payment") == {"ledger/ledger.py", "session.py"}
    assert callers("Payment") == {"session.py"}


def test_a_receipt_is_redeemed_in_the_gate_before_anything_is_drawn() -> None:
    gate = next(source for source in sources() if source.name == "kernel/gate.py")
    assert callers("redeem") == {"kernel/gate.py"}
    release = next(node for node in gate.tree.body if isinstance(node, ast.FunctionDef) and node.name == "release")
    lines = {
        node.func.attr: node.lineno
        for node in ast.walk(release)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert lines["redeem"] < lines["draw"]


def test_the_charge_comes_before_the_engine() -> None:
    session = next(source for source in sources() if source.name == "session.py")
    ask = next(node for node in ast.walk(session.tree) if isinstance(node, ast.FunctionDef) and node.name == "_answer")
    lines: dict[str, int] = {}
    for node in ast.walk(ask):
        if isinstance(node, ast.Call):
            lines.setdefault(_called(node), node.lineno)
    assert lines["charge"] < lines["look_at_all"] < lines["store"]


def test_whatever_looks_at_the_data_leaves_at_a_tick() -> None:
    session = next(source for source in sources() if source.name == "session.py")
    timed = [
        node
        for node in ast.walk(session.tree)
        if isinstance(node, ast.With) and "leaving_at_a_tick()" in [ast.unparse(item) for item in node.items]
    ]
    calls = [node for node in ast.walk(session.tree) if isinstance(node, ast.Call)]
    assert not [
        call for call in calls if _called(call) in ("run", "rows", "kept")
    ]  # the engine is asked through `look_at_all` alone
    looks = {id(call) for call in calls if _called(call) == "look_at_all"}
    assert looks
    assert looks <= {id(node) for block in timed for node in ast.walk(block)}


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
    assert outside_audit(importers("sfumato.engines.sql.counting.emit")) == {"session.py"}
    assert outside_audit(importers("sfumato.engines.sql.counting")) <= {
        "session.py",
        "engines/duckdb/engine.py",
        "engines/spark.py",
    }


def test_only_engines_ledger_and_tour_execute_sql() -> None:
    """The tour plays the attacker on its own made-up town."""
    executing = {
        name
        for name in callers("execute") | callers("executemany") | callers("sql")
        if not name.startswith("query/sql")
    }
    others = {name for name in executing if not name.startswith(("engines/", "cli/tour/"))}
    assert others == {"ledger/chain.py", "ledger/layout.py"}


def test_the_analysts_text_is_parsed_in_nine_files() -> None:
    parts = ("", "_calls", "_expressions", "_functions", "_hints", "_instead", "_parts", "_refusals", "_sources")
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
    assert {name for name in importers(module) if not name.startswith("simulate/")} == set()
    for source in sources():
        if not source.name.startswith("simulate/"):
            assert not any(_is_numpy_random(node) for node in ast.walk(source.tree)), source.name


def _is_numpy_random(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "random"
        and isinstance(node.value, ast.Name)
        and node.value.id in ("np", "numpy")
    )


def test_nothing_is_evaluated_or_unpickled() -> None:
    assert callers("eval") | callers("exec") == set()
    for module in ("pickle", "marshal", "shelve", "subprocess", "yaml", "socket", "urllib.request", "http.client"):
        homes = {name for name in importers(module) if not name.startswith(("labs/", "server/"))}
        assert homes == set(), module


def test_every_error_is_one_of_ours() -> None:
    """A builtin error means a bug: where people's input arrives, errors.py has a sentence for it."""
    for source in sources():
        if source.name.startswith(("session", "cli/", "query/")) and not source.name.startswith("cli/tour/"):
            assert not set(_raised(source)) & {"Exception", "RuntimeError", "AssertionError"}, source.name


def _raised(source: Source) -> list[str]:
    raised = [node.exc for node in ast.walk(source.tree) if isinstance(node, ast.Raise)]
    calls = [error.func if isinstance(error, ast.Call) else error for error in raised]
    return [called.id for called in calls if isinstance(called, ast.Name)]


def test_no_assert_guards_anything_in_the_package() -> None:
    """python -O would remove it."""
    for source in sources():
        assert not any(isinstance(node, ast.Assert) for node in ast.walk(source.tree)), source.name


def test_no_function_imports_the_package() -> None:
    for source in sources():
        if source.name != "__init__.py":
            for function in ast.walk(source.tree):
                if isinstance(function, ast.FunctionDef):
                    inside = Source(source.name, ast.unparse(function))
                    assert not any(name.startswith("sfumato") for name in inside.imports()), source.name
