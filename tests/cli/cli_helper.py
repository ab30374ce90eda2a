"""What cli_test.sh asks of Python: odd inputs, JSON and arrays looked at, Ctrl-C. Standard library only."""

import array
import ast
import json
import math
import pathlib
import random
import re
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


def tensor_file(tensors):
    """Name → (shape, flat f32 values) as .safetensors."""
    header, body = {}, []
    end = 0
    for name, (shape, values) in tensors.items():
        body.append(struct.pack(f"<{len(values)}f", *values))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + len(body[-1])]}
        end += len(body[-1])
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(body)


def safetensors(tensors):
    return tensor_file({name: ([len(values)], values) for name, values in tensors.items()})


def read_safetensors(path):
    """Name → (dtype, shape, bytes)."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        tensors[name] = (entry["dtype"], entry["shape"], data[begin:end])
    return tensors


def make_weights(refusal, output):
    """Random weights of the parameters that a refusal to load a checkpoint lists as missing."""
    numbers = random.Random(5)
    tensors = {}
    for name, shape in re.findall(r"missing (\S+) \[([\d, ]+)\]", pathlib.Path(refusal).read_text()):
        shape = [int(extent) for extent in shape.split(",")]
        low, high = (0.5, 1.5) if name.endswith("running_var") else (-0.5, 0.5)
        tensors[name] = (shape, [numbers.uniform(low, high) for _ in range(math.prod(shape))])
    assert len(tensors) > 5, tensors.keys()
    pathlib.Path(output).write_bytes(tensor_file(tensors))
    with_prefix = {"backbone_3d." + name: tensor for name, tensor in tensors.items()}
    with_prefix["head.weight"] = ([4, 2, 3, 3], [0.25] * 72)  # dense, as torch stores it
    pathlib.Path("whole_" + output).write_bytes(tensor_file(with_prefix))
    kind = {name: ("f4", tuple(shape), values) for name, (shape, values) in tensors.items()}
    write_npz(pathlib.Path(output).stem + ".npz", kind)


def make_flat_kernels():
    """Convolutions whose taps are one axis; 9 taps are no cube."""
    tensors = {"cube.kernel": ([27, 2, 3], range(162)), "flat.kernel": ([9, 2, 3], range(54))}
    pathlib.Path("flat.safetensors").write_bytes(tensor_file(tensors))


def expect_same_tensors(one, other):
    one, other = read_safetensors(one), read_safetensors(other)
    assert one.keys() == other.keys(), one.keys() ^ other.keys()
    for name in one:
        assert one[name] == other[name], (name, one[name][:2], other[name][:2])


def expect_weights_json(path, convolutions):
    about = json.loads(pathlib.Path(path).read_text())
    assert about["convolutions"] == int(convolutions), about
    assert about["tensors"] == len(about["converted"]) + about["unchanged"], about
    for tensor in about["converted"]:
        assert math.prod(tensor["shape"]) == math.prod(tensor["to_shape"]), tensor


def make_meshes():
    """One tetrahedron in three formats; its extents are 1, 1 and 1."""
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    pathlib.Path("tetrahedron.obj").write_text(
        "".join("v %g %g %g\n" % c for c in corners) + "".join("f %d %d %d\n" % tuple(i + 1 for i in f) for f in faces)
    )
    pathlib.Path("torn.obj").write_text("v 0 0 0\nv 1 0 0\nf 1 2 3\n")
    pathlib.Path("tetrahedron.ply").write_bytes(
        b"ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        b"element face 4\nproperty list uchar int vertex_indices\nend_header\n"
        + b"".join(struct.pack(">3f", *c) for c in corners)
        + b"".join(struct.pack(">B3i", 3, *f) for f in faces)
    )
    data = b"".join(struct.pack("<3f", *c) for c in corners) + b"".join(struct.pack("<3H", *f) for f in faces)
    document = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": 72}],
        "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    pathlib.Path("tetrahedron.glb").write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)


def make_checkpoints():
    """What torch.save writes for {"state_dict": {"nobody.knows.this": tensor of 3}}, and a pickle that calls."""

    def text(value):
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + b"K\x03tQ"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\0K\x03\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtR"
    state = b"\x80\x02}" + text("state_dict") + b"}" + text("nobody.knows.this") + tensor + b"ss."
    with zipfile.ZipFile("foreign.pth", "w") as archive:
        archive.writestr("foreign/data.pkl", state)
        archive.writestr("foreign/data/0", struct.pack("<3f", 1, 2, 3))
        archive.writestr("foreign/version", "3\n")
    with zipfile.ZipFile("hostile.pth", "w") as archive:
        archive.writestr("hostile/data.pkl", b"\x80\x02cposix\nsystem\n" + text("touch ran") + b"\x85R.")


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
    make_meshes()
    make_checkpoints()
    make_flat_kernels()
    weights = safetensors({"nobody.knows.this": [1, 2, 3]})
    pathlib.Path("foreign.safetensors").write_bytes(weights)
    pathlib.Path("truncated.safetensors").write_bytes(weights[:-5])


def expect_run_files(folder, sites=None):
    folder = pathlib.Path(folder)
    names = {"features.npz", "features.ply", "report.json"}
    found = {path.name for path in folder.iterdir()}
    pictures = {view: {f"{view}_input.png", f"{view}_features.png"} for view in ("bev", "perspective")}
    views = [view for view in pictures if pictures[view] <= found]
    assert views and found == names.union(*(pictures[view] for view in views)), found
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


def expect_finer(folder, factor):
    """The cells of the output are `factor` times finer than the input's."""
    folder = pathlib.Path(folder)
    report = json.loads((folder / "report.json").read_text())
    voxel = read_npz(folder / "features.npz")["voxel"][1]
    for wide, fine in zip(report["voxel"], voxel):
        assert abs(wide / fine - float(factor)) < 1e-3, (report["voxel"], voxel)


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


def expect_surface_file(path, like, resolution):
    """The same voxels as in `like`; each point of them is a voxel's centre."""
    arrays, other = read_npz(path), read_npz(like)
    assert arrays["coords"][1] == other["coords"][1]
    rows = arrays["coords"][0][0]
    assert rows > 0 and max(arrays["spatial_shape"][1]) >= int(resolution)
    coords = arrays["coords"][1]
    assert max(coords) - min(c for i, c in enumerate(coords) if i % 4) == int(resolution) - 1
    assert list(arrays["points_per_voxel"][1]) == [1] * rows


def expect_convert_json(path, output):
    about = json.loads(pathlib.Path(path).read_text())
    assert about["output"] == output and about["rows"] == about["rows_read"] > 0, about
    named = about["columns"] + [note["column"] for note in about["dropped"]]
    wanted = ["x", "y", "z", "intensity", "label"] + about["zero_filled"]
    assert sorted(named) == sorted(wanted), about


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
    "make-weights": make_weights,
    "same-tensors": expect_same_tensors,
    "weights-json": expect_weights_json,
    "run-files": expect_run_files,
    "finer": expect_finer,
    "synth-file": expect_synth_file,
    "voxelize-file": expect_voxelize_file,
    "surface-file": expect_surface_file,
    "convert-json": expect_convert_json,
    "json": expect_json,
    "no-carriage-return": expect_no_carriage_return,
    "interrupt": interrupt,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
