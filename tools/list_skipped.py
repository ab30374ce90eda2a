#!/usr/bin/env python3
"""Names every skipped test with its reason: list_skipped.py FOLDER of GoogleTest's XML files (GTEST_OUTPUT=xml:FOLDER/).

ctest calls a run with skipped tests passed; without this list nobody would see that the data is missing.
"""
import collections
import pathlib
import sys
import tempfile
import xml.etree.ElementTree


def skipped(folder: pathlib.Path):
    """{reason: [suite.name, …]}, in the order of files."""
    found = collections.defaultdict(list)
    for path in sorted(folder.glob("*.xml")):
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            for mark in case.findall("skipped"):
                lines = [line for line in mark.get("message", "").splitlines() if line.strip()]
                reason = lines[-1].strip() if lines else "no reason given"  # the first one is file and line
                found[reason].append(f"{path.stem}: {case.get('classname')}.{case.get('name')}")
    return found


def report(folder: pathlib.Path):
    found = skipped(folder)
    count = sum(len(names) for names in found.values())
    lines = [f"skipped tests: {count}" if count else "skipped tests: none"]
    for reason, names in sorted(found.items(), key=lambda item: -len(item[1])):
        lines.append(f"  {reason}")
        lines.extend(f"    {name}" for name in names)
    return "\n".join(lines)


def self_test():
    """A skipped test must be listed, one that ran must not."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        assert report(folder) == "skipped tests: none", report(folder)
        (folder / "test_x.xml").write_text(
            '<testsuites><testsuite name="A"><testcase name="B" classname="A" result="skipped">'
            '<skipped message="a.cc:1&#x0A;data is absent&#x0A;"/></testcase>'
            '<testcase name="C" classname="A" result="completed"/></testsuite></testsuites>')
        assert report(folder) == "skipped tests: 1\n  data is absent\n    test_x: A.B", report(folder)


if __name__ == "__main__":
    self_test()
    if not any(pathlib.Path(sys.argv[1]).glob("*.xml")):
        sys.exit(f"list_skipped: {sys.argv[1]} holds no results")
    print(report(pathlib.Path(sys.argv[1])))
