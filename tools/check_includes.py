#!/usr/bin/env python3
"""Checks the include order of the house: each folder may include itself and what stands left of it.

core < sparse < kernel_map < conv < backend/* < plan < ops < io < nn < apps; siblings in backend/ never include each
other, and only io/, nn/ and apps/ may open files. Exits 1 and names each offending line.
"""
import pathlib
import re
import sys

ORDER = ["core", "sparse", "kernel_map", "conv", "backend", "plan", "ops", "io", "nn", "apps"]
PUBLIC = {  # public header -> layer
    "types.h": "core", "error.h": "core", "device.h": "core", "tensor.h": "core",
    "sparse_tensor.h": "sparse", "kernel_map.h": "kernel_map", "conv.h": "conv", "plan.h": "plan",
    "io.h": "io", "nn.h": "nn", "aerogel.h": "apps",
}
FILE_HEADERS = {"fstream", "cstdio", "filesystem", "stdio.h", "fcntl.h"}
MAY_OPEN_FILES = {"io", "nn", "apps"}
# Reads /proc/cpuinfo: a fact about the machine, not data.
FILE_EXEMPT = {"src/backend/cpu/cpu_info.cc"}


def layer_of(include: str):
    """(layer, backend folder or None) of an include path, or None for foreign headers."""
    parts = include.split("/")
    if parts[0] == "aerogel":
        if parts[1] == "ops":
            return ("ops", None)
        return (PUBLIC.get(parts[1]), None) if parts[1] in PUBLIC else None
    if parts[0] in ORDER:
        backend = parts[1] if parts[0] == "backend" and len(parts) > 2 else None
        return (parts[0], backend)
    return None


def check(root: pathlib.Path):
    problems = []
    for folder in ("src", "include/aerogel", "apps"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            relative = path.relative_to(root).as_posix()
            if folder == "src":
                own = layer_of(path.relative_to(root / "src").as_posix())
            elif folder == "apps":
                own = ("apps", None)
            else:
                own = layer_of("aerogel/" + path.relative_to(root / "include/aerogel").as_posix())
            if own is None or own[0] is None:
                problems.append(f"{relative}:1: no layer is known for this file")
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
                if not match:
                    continue
                include = match.group(1)
                if include in FILE_HEADERS and own[0] not in MAY_OPEN_FILES and relative not in FILE_EXEMPT:
                    problems.append(f"{relative}:{number}: {own[0]}/ may not open files, but includes <{include}>")
                target = layer_of(include)
                if target is None or target[0] is None:
                    continue
                if ORDER.index(target[0]) > ORDER.index(own[0]):
                    problems.append(f"{relative}:{number}: {own[0]}/ may not include {target[0]}/ ({include})")
                if target[1] and own[1] and target[1] != own[1]:
                    problems.append(f"{relative}:{number}: backend/{own[1]} may not include backend/{target[1]} ({include})")
    return problems


def self_test():
    """The checker must find a planted violation."""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("src/sparse", "src/backend/cpu", "include/aerogel", "apps"):
            (root / name).mkdir(parents=True)
        (root / "src/sparse/bad.cc").write_text('#include "ops/checks.h"\n#include <fstream>\n')
        (root / "src/backend/cpu/bad.cc").write_text('#include "backend/reference/sparse_conv.h"\n#include "core/half.h"\n')
        found = check(root)
        assert len(found) == 3, found


if __name__ == "__main__":
    self_test()
    root = pathlib.Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems) if problems else "include order: ok")
    sys.exit(1 if problems else 0)
