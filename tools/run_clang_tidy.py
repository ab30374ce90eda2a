#!/usr/bin/env python3
"""Runs clang-tidy over our sources with the compile commands of BUILD_DIR. Exits 1 on findings.

The files of one folder are read in batches, as one translation unit: nearly all of clang-tidy's time goes into the
headers, which a batch shares. So the names that a file keeps to itself must be its folder's only ones of that name.
"""
import collections
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
commands = {entry["file"]: entry for entry in json.loads((build / "compile_commands.json").read_text())}


def command_like(folder):
    """The compile command of a file of this folder, or of the unity file that stands for its files."""
    for file, entry in commands.items():
        if pathlib.Path(file).parent == folder or f"/{folder.name}/CMakeFiles/" in file:
            return entry
    sys.exit(f"error: {build}/compile_commands.json names no file of {folder}; expected a configured build folder")


def batches():
    folders = collections.defaultdict(list)
    for top in ("src", "apps"):
        for file in sorted((root / top).rglob("*.cc")):
            # What Highway compiles several times over would take minutes each and only repeat Highway's own findings.
            if "foreach_target.h" not in file.read_text():
                folders[file.parent].append(file)
    for folder, files in folders.items():
        parts = -(-len(files) // BATCH)
        for part in range(parts):
            yield folder, files[part::parts]


def tidy(batch):
    folder, files = batch
    entry = command_like(folder)
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
