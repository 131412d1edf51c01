"""Holds the sample outputs in documents against what the program prints.

samples.py [--write] PROGRAM DOCUMENT...: a sample is a fenced block below a line
`<!-- output of: fabricast ARGUMENTS -->`; with --write it is replaced by what the program prints now.
Run it from the root of the repository.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SAMPLE = re.compile(r"(<!-- output of: fabricast (.*?) -->\n```\n)(.*?)(```\n)", re.DOTALL)


def printed(program: str, arguments: str) -> str:
    command = [program, *arguments.split()]
    with tempfile.TemporaryDirectory() as folder:  # not the user's own store of results
        environment = {**os.environ, "FABRICAST_STORE": f"{folder}/results.sqlite"}
        return subprocess.run(
            command, check=True, stdout=subprocess.PIPE, encoding="utf-8", env=environment
        ).stdout


def main() -> int:
    arguments = sys.argv[1:]
    write = "--write" in arguments
    program, *documents = [word for word in arguments if word != "--write"]
    program = str(pathlib.Path(program).resolve())
    stale = 0
    for document in map(pathlib.Path, documents):
        text = document.read_text(encoding="utf-8")
        if not SAMPLE.search(text):
            print(f"{document}: no sample output", file=sys.stderr)
            stale += 1
        fresh = SAMPLE.sub(lambda m: m[1] + printed(program, m[2]) + m[4], text)
        if fresh == text:
            continue
        if write:
            document.write_text(fresh, encoding="utf-8")
        else:
            print(
                f"{document}: the sample is not what the program prints; bring it up to date with\n"
                f"python3 tests/golden/samples.py --write build/fabricast {document}",
                file=sys.stderr,
            )
            stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
