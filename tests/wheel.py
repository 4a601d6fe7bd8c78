"""python -m tests.wheel FOLDER: the wheel in a folder, in an empty environment, answers and makes a lab offline."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.labs.offline import offline, refusal

LOCKS = Path(__file__).parents[1] / "locks"
PEOPLE = "age,town\n" + "".join(f"{20 + i % 50},Ulm\n" for i in range(1000))
ASKED = """
import pathlib, sfumato as sf
assert pathlib.Path(sf.__file__).is_relative_to(pathlib.Path.cwd()), sf.__file__
columns = {"age": sf.Int(17, 90), "town": sf.Category(["Ulm"])}
with sf.protect("people.csv", unit=sf.Row(), columns=columns, budget=sf.Budget(epsilon=100)) as session:
    found = session.ask("SELECT COUNT(*) AS n FROM people", spend=50).rows[0]["n"]
assert abs(found - 1000) < 10, found
"""
BUILD = ("labs", "build", "--lab", "2", "--variant", "1", "--lang", "zh", "--output", "built")
MADE = [
    f"lab02_laplace/zh/variant1/{whose}/lab02-variant1-zh-{whose}.{kind}"
    for whose in ("student", "teacher")
    for kind in ("docx", "html", "ipynb", "pdf")
]


def main(folder: Path) -> int:
    wheels = list(folder.glob("sfumato-*.whl"))
    if len(wheels) != 1:
        print(f"{folder} holds {len(wheels)} wheels of sfumato, not one.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        venv.create(root / "empty", with_pip=True)
        python = root / "empty" / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--require-hashes", "-r", LOCKS / "core.lock"], check=True)
        subprocess.run([*install, "--no-deps", wheels[0].resolve()], check=True)
        (root / "people.csv").write_text(PEOPLE)
        subprocess.run([python, "-c", ASKED], cwd=root, check=True)
        subprocess.run([python.with_name("sfumato"), "--version"], cwd=root, check=True)
        start = [python.with_name("sfumato"), "labs", "start", "2", "--lang", "ru", "--no-hand-out", "--output", "lab"]
        subprocess.run(start, cwd=root, check=True, stdout=subprocess.DEVNULL)
        if not (root / "lab" / "lab02.ipynb").is_file():
            print("the wheel makes no notebook.", file=sys.stderr)
            return 1
        if why := refusal():
            print(why, file=sys.stderr)
            return 1
        subprocess.run([*install, "--require-hashes", "-r", LOCKS / "labs.lock"], check=True)
        subprocess.run(offline(python.with_name("sfumato"), *BUILD), cwd=root, check=True)
        made = sorted(path.relative_to(root / "built").as_posix() for path in (root / "built").rglob("lab02-*"))
        if made != MADE:
            print(f"the wheel builds {made}, not {MADE}.", file=sys.stderr)
            return 1
    print(f"{wheels[0].name} installs, answers, starts a lab, and builds one without a network.")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
