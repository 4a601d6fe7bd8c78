"""Draws the pictures of README, tutorials and the page on attacks: python docs/images/make.py

ask.svg is what `sfumato ask` prints, attack.png what `sfumato attack` draws; answer.png and report.png are the page of
the demo, seen by a browser (chromium). lab.png is drawn by lab.py, which needs more packages.
"""

import io
import json
import re
import shutil
import subprocess
from contextlib import redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from sfumato.cli.main import run
from sfumato.plots.compare import against_truth
from sfumato.plots.page import Figure, page

HERE = Path(__file__).parent
QUESTION = "SELECT sex, COUNT(*) AS visits, AVG(income) AS income FROM town GROUP BY sex"
BROWSER = "chromium"
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars")
PAPER = TerminalTheme((251, 250, 255), (59, 58, 82), [(59, 58, 82)] * 8)
WIDTH = 88


def main() -> None:
    with TemporaryDirectory() as folder:
        output = Path(folder)
        found = json.loads(printed("demo", "--fast", "--format", "json", "--output", folder))
        (HERE / "ask.svg").write_text(asked(output / "town.toml"), encoding="utf-8")
        printed("attack", "reconstruction", "--plot", str(HERE / "attack.png"))
        if shutil.which(BROWSER) is None:
            print("No chromium: answer.png and report.png are left as they are.")
            return
        (output / "answer.html").write_text(answer(found["private"]["counts"]), encoding="utf-8")
        photograph(output / "answer.html", HERE / "answer.png", "800,660")
        photograph(output / "report.html", HERE / "report.png", "860,1250")


def printed(*arguments: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out), suppress(SystemExit):
        run(list(arguments))
    return out.getvalue()


def asked(policy: Path) -> str:
    """The command and its answer as a picture of a terminal, with the fonts of whoever looks at it."""
    text = printed("ask", str(policy), QUESTION, "--spend", "0.5")
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False)
    console.print(Text.assemble(("$ ", "bold"), "sfumato ask town.toml --spend 0.5 \\"))
    console.print(f'    "{QUESTION}"', markup=False)
    console.print(Text(text.replace("; left", ";\nleft")), end="")
    form = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    form = form.replace("Fira Code", "ui-monospace, Menlo, Consolas").replace(
        "<!-- Generated with Rich https://www.textualize.io -->", ""
    )
    return console.export_svg(title="sfumato ask", theme=PAPER, code_format=form, unique_id="sfumato")


def answer(counts: list[dict[str, Any]]) -> str:
    """One figure of the report on a page of its own."""
    figure = against_truth(
        [one["label"] for one in counts],
        [one["true"] for one in counts],
        [one["private"] for one in counts],
        [(one["low"], one["high"]) for one in counts],
        measure="visits",
    )
    bare = "<style>h1 { display: none } main { padding-top: 1.5rem }</style></head>"
    return page(
        "Visits by education", [], lead=[Figure(figure, "Visits by education: true, and privately answered")]
    ).replace("</head>", bare)


def photograph(source: Path, target: Path, size: str) -> None:
    options = [f"--window-size={size}", "--virtual-time-budget=5000", f"--screenshot={target}", source.as_uri()]
    subprocess.run([BROWSER, *OPTIONS, *options], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    main()
