#!/usr/bin/env python3
"""Runs clang-tidy over our sources with the compile commands of BUILD_DIR. Exits 1 on findings.

The files of one folder are read in batches, as one translation unit: nearly all of clang-tidy's time goes into the
headers, which a batch shares. So the names that a file keeps to itself must be its folder's only ones of that name.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BATCH = 12
root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(sys.argv[1]).resolve()
commands = json.loads((build / "compile_commands.json").read_text())
TARGETS = {"src": "CMakeFiles/aerogel", "apps": "CMakeFiles/aerogel_cli_parts"}


def command_of(target):
    """The compile command of a file of this target; they differ in names only."""
    for entry in commands:
        if f"{target}.dir/" in entry["command"]:
            return entry
    sys.exit(f"error: {build}/compile_commands.json compiles nothing for {target}; expected a configured build folder")


def batches():
    for top, target in TARGETS.items():
        folders = {}
        for file in sorted((root / top).rglob("*.cc")):
            # What Highway compiles several times over would take minutes each and only repeat Highway's own findings.
            if "foreach_target.h" not in file.read_text():
                folders.setdefault(file.parent, []).append(file)
        for folder, files in folders.items():
            parts = -(-len(files) // BATCH)
            for part in range(parts):
                yield command_of(target), folder, files[part::parts]


def tidy(batch):
    entry, folder, files = batch
    with tempfile.TemporaryDirectory(prefix="aerogel-tidy-") as scratch:
        unit = pathlib.Path(scratch) / "batch.cc"
        unit.write_text("".join(f'#include "{file}"\n' for file in files))
        command = re.sub(r" -o \S+ -c \S+", "", entry["command"]) + f" -I{folder} -o {scratch}/batch.o -c {unit}"
        database = [{"directory": entry["directory"], "file": str(unit), "command": command}]
        (pathlib.Path(scratch) / "compile_commands.json").write_text(json.dumps(database))
        result = subprocess.run(["clang-tidy", "--quiet", "-p", scratch, f"--config-file={root}/.clang-tidy",
                                 "--checks=-bugprone-suspicious-include", str(unit)], capture_output=True, text=True)
    return result.returncode, result.stdout, len(files)


failed = files = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for code, output, count in pool.map(tidy, batches()):
        files += count
        if code != 0:
            failed += 1
            print(output)
print(f"clang-tidy: {files} files, {failed} batches with findings")
sys.exit(1 if failed else 0)
