#!/usr/bin/env python3
"""Ctrl-C and SIGTERM at many moments of every command that writes: no half-written file, no temporary one, a clean end.

interrupt_test.py AEROGEL. Each command is first timed undisturbed, which also gives the files it should leave; then it is
interrupted at moments spread over that time. A file may be missing or whole, nothing else.
"""
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

MOMENTS = 7
INTERRUPTED = 130


def whole(path):
    """Whether a file is complete, by its own format's end."""
    data = path.read_bytes()
    if path.suffix == ".npz":
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    if path.suffix == ".png":
        return data.startswith(b"\x89PNG") and data[-8:-4] == b"IEND"
    if path.suffix == ".json":
        return isinstance(json.loads(data), dict)
    if path.suffix == ".ply":
        header, _, body = data.partition(b"end_header\n")
        lines = header.decode().splitlines()
        count = next(int(line.split()[2]) for line in lines if line.startswith("element vertex"))
        sizes = {"float": 4, "double": 8, "uchar": 1, "int": 4, "short": 2, "ushort": 2, "uint": 4}
        width = sum(sizes[line.split()[1]] for line in lines if line.startswith("property"))
        return len(body) == count * width
    if path.suffix == ".npy":
        return data.startswith(b"\x93NUMPY") and len(data) > 128
    return len(data) % 16 == 0  # .bin: rows of four f32


def files_under(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def main():
    aerogel = str(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="aerogel-interrupts-"))
    scan = folder / "scan.bin"
    subprocess.run([aerogel, "synth", "lidar:0", "--out", scan], check=True, stdout=subprocess.DEVNULL)
    small = ["--voxel", "0.4,0.4,0.15", "--range", "-40,-40,-2,40,40,4"]
    commands = {
        "run": ["run", "--network", "centerpoint", scan, *small, "--check", "--dump", "out/dump", "--out", "out/run"],
        "synth": ["synth", "lidar:1", "--out", "out/synth.bin"],
        "voxelize": ["voxelize", scan, *small, "--out", "out/voxels.npz"],
        "render": ["render", scan, "--out", "out/picture.png"],
        "bench": ["bench", "--geometry", "shell:32", "--cin", "16", "--cout", "16", "--max-seconds", "1"],
        "kernels": ["kernels"],
        "info": ["info"],
    }
    problems = []
    for name, arguments in commands.items():
        work = folder / name
        times = []
        expected = None
        for trial in range(MOMENTS + 1):
            shutil.rmtree(work, ignore_errors=True)
            (work / "out").mkdir(parents=True)
            number = signal.SIGTERM if trial % 2 else signal.SIGINT
            begin = time.monotonic()
            process = subprocess.Popen(
                [aerogel, *map(str, arguments)], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if trial:
                try:
                    process.wait(times[0] * (trial - 0.5) / MOMENTS)
                except subprocess.TimeoutExpired:
                    process.send_signal(number)
            _, errors = process.communicate(timeout=300)
            what = f"{name}, {number.name} at moment {trial} of {MOMENTS}"
            if not trial:
                times.append(time.monotonic() - begin)
                expected = {path.relative_to(work) for path in files_under(work)}
                if process.returncode != 0:
                    problems.append(f"{name} itself: exit {process.returncode}: {errors.decode()}")
            elif process.returncode == -number and time.monotonic() - begin < 0.2:
                pass  # before main() could ask for the signal
            elif process.returncode not in (0, INTERRUPTED):
                problems.append(f"{what}: exit {process.returncode}: {errors.decode()}")
            elif process.returncode == INTERRUPTED and b"interrupted" not in errors:
                problems.append(f"{what}: says {errors.decode()!r}")
            for path in files_under(work):
                if path.relative_to(work) not in expected:
                    problems.append(f"{what}: left {path.relative_to(work)}")
                elif not whole(path):
                    problems.append(f"{what}: {path.relative_to(work)} is half-written")
        print(f"{name}: {MOMENTS} interruptions over {times[0]:.2f} s, {len(expected)} files", flush=True)
    shutil.rmtree(folder)
    print("\n".join(problems) if problems else "interrupts: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
