"""python -m tests.mutants [--only NAME …] [--workers N] [--format table|json] [--write]"""

import sys

from tests.mutants.run import main

sys.exit(main(sys.argv[1:]))
