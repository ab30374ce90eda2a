#!/usr/bin/env python3
"""Runs clang-tidy over our sources with the compile commands of BUILD_DIR, two files at a time. Exits 1 on findings."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(sys.argv[1])
commands = json.loads((build / "compile_commands.json").read_text())
# Files that Highway compiles several times over would take minutes each and only repeat Highway's own findings.
files = sorted({entry["file"] for entry in commands if entry["file"].startswith((str(root / "src"), str(root / "apps")))
                and "foreach_target.h" not in pathlib.Path(entry["file"]).read_text()})


def tidy(file):
    result = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), file], capture_output=True, text=True)
    return file, result.returncode, result.stdout


failed = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for file, code, output in pool.map(tidy, files):
        if code != 0:
            failed += 1
            print(output)
print(f"clang-tidy: {len(files)} files, {failed} with findings")
sys.exit(1 if failed else 0)
