"""The test of the tests: reference solutions and other right methods must pass, every mutant must fail.

Runs in this process: what is run is our own. A mutant that passes in one run of a hundred makes the check useless.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from sfumato.labs.answers import InNotebook
from sfumato.labs.build.data_files import data_files
from sfumato.labs.build.edition import Edition
from sfumato.labs.running import verdict_of
from sfumato.labs.source import Lab, read
from sfumato.labs.verdict import Verdict

Kind = Literal["reference", "other", "mutant"]
MUTANTS_MAY_PASS = 0.01
LANG = "en"


@dataclass(frozen=True, order=True)
class Subject:
    """One answer to one task: the reference, another right one, or a wrong one with the code its words must name."""

    task: str
    kind: Kind
    name: str
    source: str = ""
    code: str = ""


@dataclass(frozen=True)
class Row:
    """How often an answer passed, and how often a failure was given the code that names the mistake."""

    task: str
    kind: Kind
    name: str
    runs: int
    passed: int
    named: int
    code: str

    @property
    def good(self) -> bool:
        if self.kind != "mutant":
            return self.passed == self.runs
        right_words = not self.code or self.named >= (1 - MUTANTS_MAY_PASS) * (self.runs - self.passed)
        return self.passed <= MUTANTS_MAY_PASS * self.runs and right_words


def subjects(lab: Lab) -> list[Subject]:
    """All answers of a lab's mutants.py, and its own solutions."""
    module = lab.module("mutants")
    named = getattr(module, "NAMED", {})
    found = [Subject(task.id, "reference", "reference") for task in lab.tasks]
    kinds: tuple[tuple[Kind, dict[str, dict[str, str]]], ...] = (("other", module.OTHERS), ("mutant", module.MUTANTS))
    for kind, answers in kinds:
        found += [
            Subject(task, kind, name, source, named.get((task, name), ""))
            for task, sources in answers.items()
            for name, source in sources.items()
        ]
    return found


def solved(edition: Edition) -> tuple[dict[str, Any], Callable[[str], Any]]:
    """A namespace with the given cells and all solutions, and the tables of this variant as a student reads them."""
    pandas = import_module("pandas")
    texts = data_files(edition)
    names = edition.lab.module("numbers").files(edition.variant)
    frames = {key: pandas.read_csv(io.StringIO(texts[name])) for key, name in names.items() if name in texts}
    namespace: dict[str, Any] = {"__name__": "__main__"}
    wanted = [cell for cell in edition.lab.cells if cell.role in ("given", "task")]
    with _reading(pandas, texts), redirect_stdout(io.StringIO()):
        for cell in wanted:
            exec(_without_lab(edition.code(cell)), namespace)  # noqa: S102 - the lab's own cells
    return namespace, lambda key: frames[key].copy()


@contextmanager
def _reading(pandas: Any, texts: dict[str, str]) -> Iterator[None]:
    """While the given cells run, read_csv finds the files of the hand-out without a folder."""
    real = pandas.read_csv

    def read_csv(source: Any, *arguments: Any, **options: Any) -> Any:
        held = texts.get(source) if isinstance(source, str) else None
        return real(source if held is None else io.StringIO(held), *arguments, **options)

    pandas.read_csv = read_csv
    try:
        yield
    finally:
        pandas.read_csv = real


def _without_lab(source: str) -> str:
    """The line that opens check, hint and show needs a notebook's folder and is left out."""
    return "\n".join(line for line in source.split("\n") if not line.startswith("check, hint, show = lab("))


def judged(lab: Lab, number: int, seed: int, chosen: Sequence[Subject]) -> list[tuple[Subject, Verdict]]:
    """Verdicts of these answers for one variant and seed."""
    variant = lab.variant(number, seed)
    edition = Edition(lab, variant, LANG, teacher=True)
    namespace, table = solved(edition)
    return [
        (one, verdict_of(lab, one.task, InNotebook(answered(edition, namespace, one), table), variant))
        for one in chosen
    ]


def answered(edition: Edition, namespace: dict[str, Any], subject: Subject) -> dict[str, Any]:
    """The answer in place of the reference. The task's other functions are made anew, so that they call the answer."""
    if not subject.source:
        return namespace
    functions = dict(namespace)
    exec(edition.code(edition.lab.cell(subject.task)), functions)  # noqa: S102 - the lab's own cells
    before = dict(functions)
    exec(subject.source, functions)  # noqa: S102 - the lab's own mutants
    if all(functions.get(name) is before[name] for name in edition.lab.cell(subject.task).defines):
        raise KeyError(f"{edition.lab.slug}: {subject.task} {subject.name} defines nothing that is asked for")
    return functions


def _share(
    folder: Path, pairs: Sequence[tuple[int, int]], chosen: Sequence[Subject]
) -> list[tuple[Subject, bool, str]]:
    lab = read(folder)
    return [
        (subject, verdict.passed, verdict.code)
        for number, seed in pairs
        for subject, verdict in judged(lab, number, seed, chosen)
    ]


def selftest(
    lab: Lab,
    seeds: int,
    *,
    first: int = 1,
    mutant_seeds: int | None = None,
    workers: int = 1,
    tasks: Iterable[str] = (),
    report: Callable[[float], None] = lambda share: None,  # noqa: ARG005
) -> list[Row]:
    """Every answer on the seeds from the first on × variants; those of `mutants.py` up to `mutant_seeds` if given."""
    wanted = set(tasks)
    everything = [one for one in subjects(lab) if not wanted or one.task in wanted]
    references = [one for one in everything if one.kind == "reference"]
    fewer = seeds if mutant_seeds is None else min(seeds, mutant_seeds)
    jobs = [
        (lab.folder, ((number, seed),), everything if seed <= fewer else references)
        for seed in range(first, seeds + 1)
        for number in sorted(lab.variants)
    ]
    seen: dict[Subject, list[tuple[bool, str]]] = {one: [] for one in everything}
    for done, results in enumerate(_results(jobs, workers), start=1):
        for subject, passed, code in results:
            seen[subject].append((passed, code))
        report(done / len(jobs))
    return [_row(subject, outcomes) for subject, outcomes in seen.items()]


def _results(jobs: list[Any], workers: int) -> Iterator[list[tuple[Subject, bool, str]]]:
    if workers == 1:
        yield from (_share(*job) for job in jobs)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(_share, *zip(*jobs, strict=True))


def _row(subject: Subject, outcomes: Sequence[tuple[bool, str]]) -> Row:
    failed = [code for passed, code in outcomes if not passed]
    return Row(
        task=subject.task,
        kind=subject.kind,
        name=subject.name,
        runs=len(outcomes),
        passed=len(outcomes) - len(failed),
        named=sum(code == subject.code for code in failed),
        code=subject.code,
    )
