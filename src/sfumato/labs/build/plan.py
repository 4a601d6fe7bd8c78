"""Many editions at once: one job for a variant in a language, several jobs side by side."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

from sfumato.labs.build.edition import Edition
from sfumato.labs.build.executing import Outputs
from sfumato.labs.build.files import KINDS, Kind, check_parity, fresh, write_edition
from sfumato.labs.build.pandoc import pandoc_path
from sfumato.labs.build.wordings import maker_needs, unknown_kind
from sfumato.labs.source import read

# module -> what needs it, and the package that has it
EXECUTED = {"nbclient": ("an executed notebook", "nbclient"), "nbformat": ("an executed notebook", "nbformat")}
WRITTEN: dict[Kind, tuple[str, str, str]] = {
    "docx": ("docx", "a Word document", "python-docx"),
    "pdf": ("typst", "a PDF", "typst"),
}


@dataclass(frozen=True, slots=True)
class Job:
    """One variant of a lab in one language, for students, teachers or both."""

    folder: Path  # of the lab's source
    variant: int
    lang: str
    editions: tuple[bool, ...]  # for teachers?
    kinds: tuple[Kind, ...]
    output: Path
    sheets: bool = False  # with a picture of all pages of each edition

    @property
    def name(self) -> str:
        return f"{self.folder.name} {self.variant} {self.lang}"


def kinds_of(names: Iterable[str]) -> tuple[Kind, ...]:
    """Kinds of files by their names; refuses others."""
    wanted = list(names)
    for name in wanted:
        if name not in KINDS:
            raise unknown_kind(name, KINDS)
    return tuple(kind for kind in KINDS if kind in wanted)


def build(jobs: Sequence[Job], output: Path, workers: int, done: Callable[[int, str], None]) -> list[Path]:
    """All files of all jobs. What is missing, wrong or in the way is said before anything is written."""
    _look_for_makers(jobs)
    for folder in {job.folder for job in jobs}:
        check_parity(read(folder))
    fresh(output)
    written: list[Path] = []
    with ProcessPoolExecutor(max(1, min(workers, len(jobs))), mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run, job): job for job in jobs}
        for count, future in enumerate(as_completed(waiting), start=1):
            written += future.result()
            done(count, waiting[future].name)
    return sorted(written)


def run(job: Job) -> list[Path]:
    """The files of one job. The teacher's edition is executed; of its figures students get those that are theory."""
    lab = read(job.folder)
    variant = lab.variant(job.variant)
    shown: Outputs | None = None
    written: list[Path] = []
    for teacher in sorted(job.editions, reverse=True):
        edition = Edition(lab, variant, job.lang, teacher)
        folder = job.output / lab.slug / job.lang / f"variant{job.variant}" / ("teacher" if teacher else "student")
        folder.mkdir(parents=True)
        files, shown = write_edition(edition, job.kinds, folder, shown, sheets=job.sheets)
        written += files
    return written


def workers_here() -> int:
    return os.cpu_count() or 1


def _look_for_makers(jobs: Sequence[Job]) -> None:
    """What is not installed is said before an hour of work and not after it."""
    kinds = {kind for job in jobs for kind in (*job.kinds, *(("pdf",) if job.sheets else ()))}
    if kinds - {"ipynb", "csv"}:
        pandoc_path()
    wanted = [(module, what, package) for kind, (module, what, package) in WRITTEN.items() if kind in kinds]
    if kinds - {"csv"} and any(True in job.editions for job in jobs):
        wanted += [(module, what, package) for module, (what, package) in EXECUTED.items()]
    for module, what, package in wanted:
        if find_spec(module) is None:
            raise maker_needs(what, package)
