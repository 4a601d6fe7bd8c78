"""sfumato labs demo | list | start | build | abreast: laboratory work for students, editions for teachers."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import labs_course, labs_demo
from sfumato.cli.format import Format, Usual, WithoutRows
from sfumato.cli.output import print_record, print_rows, split
from sfumato.cli.progress import progress
from sfumato.errors import not_whole
from sfumato.labs.abreast import record as record_abreast
from sfumato.labs.abreast import stale, stale_strings
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.files import KINDS, notebook_name, write_student_folder
from sfumato.labs.build.plan import Job, build, kinds_of, workers_here
from sfumato.labs.languages import COMPLETE, language
from sfumato.labs.source import Lab, load, named, numbers_of_labs
from sfumato.labs.words import text

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Laboratory work: notebooks that check themselves, hand-outs, a whole course.",
)

Language = Annotated[str, typer.Option(help="The language: en, ru, vi or zh.")]


class For(StrEnum):
    """Who reads an edition."""

    student = "student"
    teacher = "teacher"
    both = "both"


app.command()(labs_demo.demo)


@app.command("list")
def list_labs(
    lang: Language = "en", format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table
) -> None:
    """All labs, with their hours, what comes before them, and their languages."""
    columns = ["lab", "title", "hours", "after", "variants", "languages"]
    rows = [
        {
            "lab": lab.number,
            "title": lab.words(lang).title,
            "hours": lab.hours,
            "after": ", ".join(map(str, lab.prerequisites)),
            "variants": len(lab.variants),
            "languages": ", ".join(lab.prose),
        }
        for lab in map(load, numbers_of_labs())
    ]
    print_rows(columns, rows, format, footer="sfumato labs start 2 --variant 3 --lang en")


@app.command()
def start(
    lab: Annotated[str, typer.Argument(help="The number of the lab.")],
    variant: Annotated[int, typer.Option(help="Your variant.")] = 1,
    lang: Language = "en",
    output: Annotated[Path | None, typer.Option(help="The folder to make; lab02-variant3-en if left out.")] = None,
    hand_out: Annotated[
        bool, typer.Option(help="With the hand-out as a web page (needs pandoc, of sfumato[labs]).")
    ] = True,
    format: Annotated[WithoutRows, typer.Option(help="How to print.")] = Format.table,
) -> None:
    """Make a folder to work in: the notebook, its data, the hand-out. Needs no network."""
    chosen = named(lab)
    edition = Edition(chosen, chosen.variant(variant), chosen.words(lang).lang, teacher=False)
    folder = output or Path(f"lab{chosen.number:02}-variant{variant}-{lang}")
    written = write_student_folder(edition, folder, ("html",) if hand_out else ())
    opened = f"jupyter lab {folder / notebook_name(edition)}"
    files = language(lang).comma.join(path.name for path in written)
    said = text("shell.started", lang, title=edition.title, files=files, folder=str(folder), command=opened)
    record = {
        "lab": chosen.number,
        "variant": variant,
        "lang": lang,
        "folder": str(folder),
        "files": [path.name for path in written],
        "open": opened,
    }
    print_record(record, said, format)


@app.command("build")
def build_editions(
    lab: Annotated[str, typer.Option(help="Numbers of labs, e.g. 1,2; all if left out.")] = "",
    variant: Annotated[str, typer.Option(help="Numbers of variants, e.g. 3 or 1,2; all if left out.")] = "",
    lang: Annotated[str, typer.Option(help="Languages, e.g. en,ru; all four if left out.")] = ",".join(COMPLETE),
    edition: Annotated[For, typer.Option(help="For whom.")] = For.both,
    kinds: Annotated[str, typer.Option(help="Kinds of files.")] = ",".join(KINDS),
    sheets: Annotated[
        bool, typer.Option("--sheets", help="With a picture of all printed pages of each edition.")
    ] = False,
    output: Annotated[Path, typer.Option(help="The folder to make.")] = Path("labs"),
    jobs: Annotated[int | None, typer.Option(min=1, help="How many run side by side; one a core if left out.")] = None,
    format: Annotated[WithoutRows, typer.Option(help="How to print.")] = Format.table,
) -> None:
    """Make editions for students and teachers: .ipynb, .docx, .pdf, .html, .csv. The teacher's are executed.

    sfumato labs build --lab 2 --variant 3 --lang ru
    """
    labs = [named(word) for word in split(lab)] if lab else [load(number) for number in numbers_of_labs()]
    wanted = kinds_of(split(kinds))
    editions = {For.student: (False,), For.teacher: (True,), For.both: (True, False)}[edition]
    planned = [
        Job(each.folder, number, each.words(code).lang, editions, wanted, output, sheets)
        for each in labs
        for number in _variants(each, variant)
        for code in split(lang)
    ]
    with progress("Building …") as done:
        written = build(
            planned, output, jobs or workers_here(), lambda count, now: done(count / len(planned), f"Built {now}")
        )
    behind = [said for each in labs for said in stale(each)]
    record = {
        "folder": str(output),
        "editions": len(planned) * len(editions),
        "files": len(written),
        "behind": behind,
    }
    said = "\n".join([f"{record['editions']} editions, {len(written)} files in {output}.", *behind])
    print_record(record, said, format)


@app.command("abreast")
def abreast_command(
    record: Annotated[
        bool, typer.Option("--record", help="Write down that the languages say the same now, as abreast.toml.")
    ] = False,
    format: Annotated[WithoutRows, typer.Option(help="How to print.")] = Format.table,
) -> None:
    """Say which pieces of a lab changed in one language and not in the others since they were last abreast."""
    labs = [load(number) for number in numbers_of_labs()]
    if record:
        record_abreast(labs)
    behind = [*stale_strings(), *(said for lab in labs for said in stale(lab))]
    said = f"{len(behind)} pieces are not abreast." if behind else "All languages are abreast."
    print_record({"behind": behind}, "\n".join([*behind, said]), format)
    if behind:
        raise typer.Exit(1)


def _variants(lab: Lab, written: str) -> list[int]:
    """Those that were asked for, each of which must exist."""
    if not written:
        return list(lab.variants)
    return [lab.variant(_whole(word)).number for word in split(written)]


def _whole(word: str) -> int:
    if not word.isdecimal():
        raise not_whole("variant", f'"{word}"')
    return int(word)


labs_course.register(app)
