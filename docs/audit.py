"""Writes the table of docs/explanation/audit.md from a real run: python -m docs.audit (two minutes)."""

from pathlib import Path

from sfumato.audit.findings import Finding
from sfumato.audit.runs import everything
from sfumato.cli.audit import row

PAGE = Path(__file__).parent / "explanation" / "audit.md"
START, END = "<!-- measured -->", "<!-- end -->"


def table(findings: list[Finding]) -> str:
    lines = ["| what | check | claimed | measured | verdict |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*lines, *("| " + " | ".join(str(cell) for cell in row(one).values()) + " |" for one in findings)])


def main() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    own, planted = list(everything()), list(everything(planted=True))
    measured = (
        f"{len(own)} checks, {sum(one.violated for one in own)} violations:\n\n{table(own)}\n\n"
        f"{sum(one.violated for one in planted)} of {len(planted)} planted violations flagged:\n\n{table(planted)}"
    )
    PAGE.write_text(f"{before}{START}\n\n{measured}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
