#!/usr/bin/env python3
"""Rules for the sources that no compiler checks: tidy.py [ROOT].

Prints a line for each fault, FILE:LINE: what is wrong, and fails if there is
one. Each rule is a function from a file to its faults; tidy_test.py shows each
of them a fault.
"""

import pathlib
import re
import sys

CODE_FOLDERS = ("server", "state", "client", "tests", "examples")
CODE_SUFFIXES = {".cc", ".h"}
TEXT_SUFFIXES = CODE_SUFFIXES | {
    ".cmake", ".json", ".md", ".proto", ".py", ".sh", ".txt", ".txtpb",
    ".yaml", ".yml", "",
}
# Folders that are no sources.
SKIPPED = {"build", ".git", ".cache", "__pycache__", "node_modules"}

MAX_COLUMNS = 80
MAX_LINES = 600
SHORT_FOLDERS = ("server", "state", "client")

# What each folder may include besides the standard library, as prefixes of the
# path in the #include. The first folder that matches a file decides.
PROTOS = ("casement/v1/", "google/")
GRPC = ("grpc/", "grpcpp/")
INCLUDES = [
    ("server/engine/", ("absl/", "server/engine/", "xxhash.h")),
    ("server/runtime/",
     ("absl/", "server/engine/", "server/runtime/", "state/", "spdlog/",
      "POSIX")),
    ("server/rpc/",
     ("absl/", "server/engine/", "server/runtime/", "server/rpc/", "spdlog/",
      "xxhash.h") + PROTOS + GRPC),
    ("server/",
     ("absl/", "server/", "state/", "spdlog/", "POSIX") + PROTOS + GRPC),
    ("state/", ("absl/", "leveldb/", "state/", "xxhash.h", "POSIX")),
    ("client/tool/",
     ("absl/", "client/", "CLI/", "nlohmann/", "POSIX") + PROTOS + GRPC),
    ("client/", ("absl/", "client/", "POSIX") + PROTOS + GRPC),
    ("examples/", ("absl/", "client/") + PROTOS + GRPC),
]
# Headers of the C library and of the system; the engine needs none of them.
POSIX = re.compile(r"(?:sys/|netinet/|arpa/)?[a-z0-9_]+\.h")
STANDARD = re.compile(r"[a-z_0-9]+")

INCLUDE = re.compile(r'\s*#\s*include\s+(?:<([^>]+)>|"([^"]+)")')

# In pieces, so that this file does not hold them itself.
MARKERS = re.compile("|".join((r"\bTO" r"DO\b", r"\bFIX" r"ME\b",
                               r"\bXX" r"X\b", r"\bHA" r"CK\b",
                               r"^<<<" r"<<<< ", r"^>>>" r">>>> ")))
# Files that only the machine of whoever wrote the line has.
PLACES = re.compile(r"(?<![\w.])/(?:work|farm|home|root|Users)/[\w.]"
                    r"|\.\./shared\b|[.]library\b")

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
QUOTED_PATH = re.compile(
    r"`((?:server|state|client|proto|tests|scripts|examples|docs|cmake)"
    r"/[\w./-]+)`")


def includes_of(lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) or match.group(2)


def check_includes(path, lines, _root):
    """A folder includes only what it may depend on."""
    if pathlib.PurePath(path).suffix not in CODE_SUFFIXES:
        return
    for folder, allowed in INCLUDES:
        if path.startswith(folder):
            break
    else:
        return
    for number, header in includes_of(lines):
        if STANDARD.fullmatch(header):
            continue
        if "POSIX" in allowed and POSIX.fullmatch(header):
            continue
        if not header.startswith(allowed):
            yield number, f"{folder} may not include {header}"


def check_file_length(path, lines, _root):
    """A file of more than 600 lines wants to be two."""
    if path.split("/")[0] in SHORT_FOLDERS and len(lines) > MAX_LINES:
        yield len(lines), f"{len(lines)} lines, more than {MAX_LINES}"


def check_columns(path, lines, _root):
    """C++ fits in 80 columns, but for what can't be broken."""
    if pathlib.PurePath(path).suffix not in CODE_SUFFIXES:
        return
    for number, line in enumerate(lines, 1):
        if len(line) <= MAX_COLUMNS or INCLUDE.match(line):
            continue
        if "://" in line or line.startswith(("#ifndef ", "#define ", "#endif")):
            continue
        yield number, f"{len(line)} columns, more than {MAX_COLUMNS}"


def check_markers(_path, lines, _root):
    """Nothing is left for later in a comment."""
    for number, line in enumerate(lines, 1):
        match = MARKERS.search(line)
        if match:
            yield number, f"leftover marker {match.group().strip()}"


def check_places(_path, lines, _root):
    """No line names a place that a clone hasn't got."""
    for number, line in enumerate(lines, 1):
        match = PLACES.search(line)
        if match:
            yield number, f"a place on one machine only: {match.group()}"


def check_documents(path, lines, root):
    """Links and paths in documents lead to something."""
    if not path.endswith(".md"):
        return
    folder = (root / path).parent
    for number, line in enumerate(lines, 1):
        for target in LINK.findall(line):
            if "://" not in target and not (folder / target).exists():
                yield number, f"link to {target}, which isn't there"
        for target in QUOTED_PATH.findall(line):
            if not (root / target).exists():
                yield number, f"names {target}, which isn't there"


def check_quotes(path, lines, root):
    """Code in a document is code of an example, which the tests run."""
    if not path.endswith(".md"):
        return
    examples = [
        [line.strip() for line in file.read_text().splitlines()]
        for file in sorted(root.glob("examples/**/*"))
        if file.suffix in {".py", ".cc"}
    ]
    block = None
    for number, line in enumerate(lines, 1):
        if block is None:
            if line in ("```python", "```cpp"):
                block, begin = [], number
        elif line == "```":
            size = len(block)
            if not any(example[i:i + size] == block for example in examples
                       for i in range(len(example) - size + 1)):
                yield begin, "code that stands in no example"
            block = None
        else:
            block.append(line.strip())


RULES = (check_includes, check_file_length, check_columns, check_markers,
         check_places, check_documents, check_quotes)


def sources(root):
    for entry in sorted(root.iterdir()):
        if entry.name in SKIPPED or entry.is_symlink():
            continue
        if entry.is_dir():
            yield from sources(entry)
        elif entry.suffix in TEXT_SUFFIXES:
            yield entry


def faults(root):
    for source in sources(root):
        path = source.relative_to(root).as_posix()
        try:
            lines = source.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            yield f"{path}:1: not UTF-8"
            continue
        for rule in RULES:
            for number, what in rule(path, lines, root):
                yield f"{path}:{number}: {what}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(faults(root))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
