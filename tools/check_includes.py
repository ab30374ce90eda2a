#!/usr/bin/env python3
"""Checks the include order of the house: each folder may include itself and what stands left of it.

core < sparse < kernel_map < conv < backend/* < plan < ops < io < nn < capi < apps; siblings in backend/ never include each
other, only io/, nn/ and apps/ may open files or call POSIX, core/parallel.* is the only door to threads, and the
library never reads the environment. Exits 1 and names each offending line.
"""
import pathlib
import re
import sys

ORDER = ["core", "sparse", "kernel_map", "conv", "backend", "plan", "ops", "io", "nn", "capi", "apps"]
PUBLIC = {  # public header -> layer
    "types.h": "core", "error.h": "core", "device.h": "core", "tensor.h": "core",
    "sparse_tensor.h": "sparse", "kernel_map.h": "kernel_map", "conv.h": "conv", "plan.h": "plan",
    "io.h": "io", "nn.h": "nn", "weight_layout.h": "nn", "capi.h": "capi", "aerogel.h": "apps",
}
# What opens files or calls the operating system; POSIX headers are those in sys/ and these.
SYSTEM_HEADERS = {"fstream", "cstdio", "filesystem", "stdio.h", "fcntl.h", "unistd.h", "dirent.h", "sched.h", "dlfcn.h"}
MAY_CALL_THE_SYSTEM = {"io", "nn", "apps"}
SYSTEM_EXEMPT = {
    "src/backend/cpu/cpu_info.cc",  # /proc/cpuinfo: a fact about the machine, not data
    "src/backend/cpu/peak.cc",  # cache sizes, and how often the measuring thread was interrupted
    "src/core/parallel.cc",  # the cores this process may use
}
THREAD_HEADERS = {"thread", "pthread.h", "execution"}  # and tbb/
DOOR_TO_THREADS = {"src/core/parallel.h", "src/core/parallel.cc"}
ENVIRONMENT = re.compile(r"\b(getenv|secure_getenv|setenv|putenv|environ)\b")


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
            library = own[0] != "apps"
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if library and ENVIRONMENT.search(line.split("//")[0]):
                    problems.append(f"{relative}:{number}: the library may not read the environment")
                match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
                if not match:
                    continue
                include = match.group(1)
                system = include in SYSTEM_HEADERS or include.startswith("sys/")
                if system and own[0] not in MAY_CALL_THE_SYSTEM and relative not in SYSTEM_EXEMPT:
                    problems.append(f"{relative}:{number}: {own[0]}/ may not call the system, but includes <{include}>")
                threads = include in THREAD_HEADERS or include.startswith("tbb/")
                if library and threads and relative not in DOOR_TO_THREADS:
                    problems.append(f"{relative}:{number}: threads go through core/parallel.h, not <{include}>")
                target = layer_of(include)
                if target is None or target[0] is None:
                    continue
                if ORDER.index(target[0]) > ORDER.index(own[0]):
                    problems.append(f"{relative}:{number}: {own[0]}/ may not include {target[0]}/ ({include})")
                if target[1] and own[1] and target[1] != own[1]:
                    problems.append(f"{relative}:{number}: backend/{own[1]} may not include backend/{target[1]} ({include})")
    return problems


PLANTED = {  # file: (contents, how many violations)
    "src/sparse/bad.cc": ('#include "ops/checks.h"\n#include <fstream>\n', 2),
    "src/backend/cpu/bad.cc": ('#include "backend/reference/sparse_conv.h"\n#include "core/half.h"\n', 1),
    "src/conv/system.cc": ("#include <unistd.h>\n#include <sys/mman.h>\n#include <dirent.h>\n", 3),
    "src/ops/threads.cc": ("#include <thread>\n#include <tbb/parallel_for.h>\n#include <mutex>\n", 2),
    "src/io/environment.cc": ('// getenv is not read\nconst char* x = std::getenv("X");\n#include <unistd.h>\n', 1),
    "include/aerogel/types.h": ('#include "aerogel/nn.h"\n', 1),
    "src/core/parallel.h": ("#include <thread>\n#include <tbb/task_arena.h>\n", 0),
    "apps/aerogel/main.cc": ('#include <thread>\nconst char* x = getenv("X");\n', 0),
    "src/unknown/file.cc": ("\n", 1),
}


def self_test():
    """The checker must find every planted violation and nothing else."""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, (contents, _) in PLANTED.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(contents)
        found = check(root)
        for name, (_, expected) in PLANTED.items():
            ours = [problem for problem in found if problem.startswith(name + ":")]
            assert len(ours) == expected, (name, ours)


if __name__ == "__main__":
    self_test()
    root = pathlib.Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems) if problems else "include order: ok")
    sys.exit(1 if problems else 0)
