"""What cli_test.sh asks of Python: odd inputs, JSON and arrays looked at, Ctrl-C. Standard library only."""

import array
import ast
import json
import pathlib
import signal
import struct
import subprocess
import sys
import time
import zipfile


def read_npz(path):
    """Name → (shape, flat values) of an .npz with little-endian C-ordered members."""
    kinds = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u1": "B"}
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            size = struct.unpack_from("<H", data, 8)[0]
            header = ast.literal_eval(data[10 : 10 + size].decode("latin1"))
            values = array.array(kinds[header["descr"][1:]])
            values.frombytes(data[10 + size :])
            arrays[name.removesuffix(".npy")] = (header["shape"], values)
    return arrays


def write_npz(path, arrays):
    """Name → (dtype, shape, flat values)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, (kind, shape, values) in arrays.items():
            header = repr({"descr": "<" + kind, "fortran_order": False, "shape": shape}).encode()
            header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
            body = array.array({"f4": "f", "i4": "i"}[kind], values).tobytes()
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body)


def safetensors(tensors):
    header, body = {}, b""
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [len(body), len(body) + 4 * len(values)]}
        body += struct.pack(f"<{len(values)}f", *values)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def make_inputs():
    nan = float("nan")
    rows = [1, 2, 3, 0.5, 1, nan, 3, 0.5, 4, 5, 6, 0.5]
    pathlib.Path("nan.bin").write_bytes(struct.pack("<12f", *rows))
    pathlib.Path("ragged.bin").write_bytes(struct.pack("<12f", *rows)[:-3])
    pathlib.Path("empty.bin").write_bytes(b"")
    pathlib.Path("huge.pcd").write_text(
        "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1000000000000\nHEIGHT 1\n"
        "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 1000000000000\nDATA binary\n"
    )
    pathlib.Path("no_z.ply").write_text(
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float a\n"
        "end_header\n1 2 3\n"
    )
    sites = ("i4", (2, 4), [0, 0, 0, 0, 0, 1, 2, 3])
    write_npz("nan_features.npz", {"coords": sites, "features": ("f4", (2, 1), [1, nan])})
    write_npz("outside.npz", {"coords": sites, "spatial_shape": ("i4", (3,), [2, 2, 2])})
    pathlib.Path("torn.npz").write_bytes(pathlib.Path("outside.npz").read_bytes()[:-30])
    weights = safetensors({"nobody.knows.this": [1, 2, 3]})
    pathlib.Path("foreign.safetensors").write_bytes(weights)
    pathlib.Path("truncated.safetensors").write_bytes(weights[:-5])


def expect_run_files(folder, sites=None):
    folder = pathlib.Path(folder)
    names = {"features.npz", "features.ply", "bev_input.png", "bev_features.png", "report.json"}
    assert {path.name for path in folder.iterdir()} == names, list(folder.iterdir())
    report = json.loads((folder / "report.json").read_text())
    assert report["planned_peak_bytes"] == report["met_peak_bytes"], report
    assert report["weights"] == "untrained weights", report["weights"]
    assert sites is None or report["sites"] == int(sites), report["sites"]
    assert report["layers"], "no layers"
    arrays = read_npz(folder / "features.npz")
    rows, channels = arrays["features"][0]
    assert (rows, channels) == (report["output_sites"], report["output_channels"])
    assert arrays["indices"][0] == (rows, 4)
    assert all(value == value and abs(value) < 1e30 for value in arrays["features"][1])
    meta = json.loads(bytes(arrays["meta"][1]))
    assert meta["weights"] == "untrained weights", meta
    ply = (folder / "features.ply").read_bytes()
    assert b"\ncomment untrained weights\n" in ply[:400], ply[:400]
    assert ply.startswith(b"ply\n") and f"element vertex {rows}\n".encode() in ply


def expect_synth_file(path):
    arrays = read_npz(path)
    (rows, width), coords = arrays["coords"]
    shape = arrays["spatial_shape"][1]
    assert rows > 0 and width == 4
    for axis in range(3):
        column = coords[axis + 1 :: 4]
        assert min(column) >= 0 and max(column) < shape[axis]
    if "points" in arrays:
        assert arrays["label"][0] == arrays["points"][0][:1]
        assert arrays["site_label"][0] == (rows,)


def expect_voxelize_file(path, most_points=None, most_voxels=None):
    arrays = read_npz(path)
    (rows, width), coords = arrays["coords"]
    assert rows > 0 and width == 4 and set(coords[0::4]) == {0}
    assert arrays["features"][0] == (rows, 5)
    assert arrays["points_per_voxel"][0] == (rows,)
    assert arrays["voxel"][0] == (3,) and arrays["range"][0] == (6,) and arrays["spatial_shape"][0] == (3,)
    assert json.loads(bytes(arrays["meta"][1]))["features"] == ["x", "y", "z", "intensity", "label"]
    ids = arrays["point_voxel"][1]
    assert max(ids) == rows - 1
    # A voxel's mean lies in its cell.
    lo, size, features = arrays["range"][1], arrays["voxel"][1], arrays["features"][1]
    for i in range(rows):
        for axis in range(3):
            cell = (features[i * 5 + axis] - lo[axis]) / size[axis]
            assert abs(cell - coords[i * 4 + 3 - axis] - 0.5) < 0.51, (i, axis, cell)
    if most_points is None:
        assert "points" not in arrays and sum(arrays["points_per_voxel"][1]) == sum(i >= 0 for i in ids)
        return
    assert rows == int(most_voxels) and -1 in ids
    assert arrays["points"][0] == (rows, int(most_points), 5)
    assert max(arrays["points_per_voxel"][1]) == int(most_points)


def expect_json(path, key):
    lines = pathlib.Path(path).read_text().splitlines()
    assert len(lines) == 1, f"{len(lines)} lines"
    assert key in json.loads(lines[0])


def expect_no_carriage_return(path):
    assert b"\r" not in pathlib.Path(path).read_bytes()


def interrupt(*command):
    """SIGINT after the first file in the folder behind --dump; 130 expected."""
    dump = pathlib.Path(command[command.index("--dump") + 1])
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while process.poll() is None and not list(dump.glob("*.npy")) and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, (process.returncode, errors)
    assert b"interrupted" in errors and b"\r" not in errors, errors


COMMANDS = {
    "make-inputs": make_inputs,
    "run-files": expect_run_files,
    "synth-file": expect_synth_file,
    "voxelize-file": expect_voxelize_file,
    "json": expect_json,
    "no-carriage-return": expect_no_carriage_return,
    "interrupt": interrupt,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
