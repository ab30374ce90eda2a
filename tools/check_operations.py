#!/usr/bin/env python3
"""Checks docs/operations.md: every verb of ours is declared, every test named there exists, every verb has a row.

Exits 1 and names each offending line.
"""
import pathlib
import re
import sys

VERB = re.compile(r"^(?:[\w:<>]+(?:<[\w ]+>)?) (\w+)\(", re.MULTILINE)
TEST = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
NO_ROWS = {"fold_batch_norm", "conv_kind_name"}  # helpers of a verb, not operations


def rows_of(page: str):
    """(line number, verb, test) of every table row."""
    for number, line in enumerate(page.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or cells[0] == "operation" or set(cells[0]) == {"-"}:
            continue
        if len(cells) != 7:
            yield number, None, None
        else:
            yield number, cells[1].strip("`"), cells[6].strip("`")


def check(page: str, verbs: set, tests: set):
    problems = []
    seen = set()
    for number, verb, test in rows_of(page):
        if verb is None:
            problems.append(f"docs/operations.md:{number}: expected seven cells")
            continue
        seen.add(verb)
        if verb not in verbs:
            problems.append(f"docs/operations.md:{number}: include/aerogel/ops/ declares no {verb}")
        if test not in tests:
            problems.append(f"docs/operations.md:{number}: tests/ has no {test}")
    for verb in sorted(verbs - seen - NO_ROWS):
        problems.append(f"docs/operations.md: no row for {verb}")
    return problems


def self_test():
    """Each planted mistake must be found, and nothing else."""
    good = "| operation | ours | a | b | c | d | test |\n|---|---|---|---|---|---|---|\n| x | `relu` | no | no | no | no | `A.B` |\n"
    assert check(good, {"relu"}, {"A.B"}) == []
    assert len(check(good, {"relu", "silu"}, {"A.B"})) == 1
    assert len(check(good, {"relu"}, {"A.C"})) == 1
    assert len(check(good.replace("relu", "silu"), {"relu"}, {"A.B"})) == 2
    assert len(check(good.replace(" no |", "", 1), {"relu"}, {"A.B"})) == 2


if __name__ == "__main__":
    self_test()
    root = pathlib.Path(__file__).resolve().parent.parent
    verbs = set()
    for header in (root / "include/aerogel/ops").glob("*.h"):
        verbs |= set(VERB.findall(header.read_text()))
    tests = set()
    for source in (root / "tests").rglob("*.cc"):
        tests |= {".".join(match) for match in TEST.findall(source.read_text())}
    problems = check((root / "docs/operations.md").read_text(), verbs, tests)
    print("\n".join(problems) if problems else "operations: ok")
    sys.exit(1 if problems else 0)
