#!/usr/bin/env python3
"""Runs the commands of a document: console_test.py BIN_DIR SOURCE_DIR DOCUMENT

Each ```console block holds commands, after "$ ", and what they print. They run
in order in a fresh directory that has SOURCE_DIR's examples/, with the programs
of BIN_DIR and against the server at $CASEMENT_SERVER, and must print just that.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys


def commands_of(text):
    """(command, what it should print) for each command."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            # A command goes on in the next line after a backslash.
            yield re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part,
                               re.S).groups()


def main():
    bin_dir, source_dir, document = map(pathlib.Path, sys.argv[1:])
    scratch = pathlib.Path(os.environ["SCRATCH"])
    work = scratch / "work"
    work.mkdir()
    (work / "examples").symlink_to(source_dir / "examples")
    # A `casement` that finds this test's server by itself.
    wrapper = scratch / "casement"
    wrapper.write_text(f'#!/bin/sh\nexec "{bin_dir}/casement" --server '
                       '"$CASEMENT_SERVER" "$@"\n')
    wrapper.chmod(0o755)
    environment = dict(
        os.environ, PATH=f"{scratch}:{bin_dir}:{os.environ['PATH']}")

    commands = list(commands_of((source_dir / document).read_text()))
    if not commands:
        sys.exit(f"{document} has no commands")
    for command, wanted in commands:
        run = subprocess.run(
            ["bash", "-c", command], cwd=work, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0 or run.stdout != wanted:
            print(f"$ {command}exit code {run.returncode}\n{run.stderr}")
            sys.stdout.writelines(difflib.unified_diff(
                wanted.splitlines(True), run.stdout.splitlines(True),
                str(document), "printed"))
            sys.exit(1)
    print(f"{len(commands)} commands of {document} print what it says")


if __name__ == "__main__":
    main()
