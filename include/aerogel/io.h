// Files: one reader or writer per format. Every reader checks each byte it trusts; every writer writes a
// temporary name and renames, so that a failure leaves what was there.
//
//   throws   FormatError   readers: bad bytes, with the path, the byte offset, what was expected and found
//            DeviceError   the file system said no, naming the path
//   cost     one pass over the file, which is read whole
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aerogel/tensor.h"

namespace aerogel::io {

using Path = std::filesystem::path;

/// Columns of numbers with names, P rows each, all f64 so that survey coordinates keep their millimetres.
struct PointTable {
  std::vector<std::string> names;  ///< "x", "y", "z", "intensity", …; lower-cased as in the file's header
  std::vector<std::vector<double>> columns;  ///< [names.size()][P]
  std::vector<DType> dtypes;                 ///< how the file stores each column; empty: not known
  std::int64_t rows() const { return columns.empty() ? 0 : static_cast<std::int64_t>(columns[0].size()); }
  int find(const std::string& name) const;  ///< column number or −1; case does not matter
};

/// How to read raw columns: names for formats that have none. Empty takes the format's default
/// (.bin: x,y,z,intensity; .pcd.bin, as nuScenes has it, and ring; .npy and .npz: x,y,z then c3, c4, …).
struct PointReadOptions {
  std::vector<std::string> columns;
  std::string npz_key;  ///< which array of an .npz; empty = the only one, or `points`, or `pc`
};

/// Reads points by the file's ending: .bin (KITTI f32; .pcd.bin: nuScenes), .pcd, .ply, .las, .npy, .npz.
/// throws FormatError (path, byte offset, expected, found); DeviceError if it cannot be opened;
///        InvalidArgument for an unknown ending, listing the known ones, for what is no regular file, and for
///        options that do not fit the file.
PointTable read_points(const Path& path, const PointReadOptions& options = {});

/// The endings that read_points takes: ".bin", ".pcd", …
const std::vector<std::string>& point_endings();

struct PointWriteOptions {
  bool ascii = false;                ///< text instead of binary numbers, in .ply and .pcd
  std::vector<std::string> columns;  ///< which, in this order; empty: all that the format holds
};

/// What a format made of a table.
struct PointWriteReport {
  struct Note {
    std::string column;
    std::string why;
  };
  std::vector<std::string> written;      ///< columns, in the file's order
  std::vector<Note> dropped;             ///< columns that the format cannot hold
  std::vector<Note> rounded;             ///< columns whose values changed, and by how much at most
  std::vector<std::string> zero_filled;  ///< columns that the format demands and the table lacks
  std::int64_t rows = 0;
  std::int64_t rows_dropped = 0;  ///< without finite x, y and z, which .las cannot hold
};

/// Writes points by the file's ending. A column keeps the type that its file had, or the smallest that holds
/// its values.
///   .ply, .pcd   every column by name, binary little-endian or ascii
///   .npy         every column, f32 if that holds all values, else f64; no names
///   .npz         the same as `points`, and `columns`: the names, parted by commas, as bytes
///   .bin         f32 x, y, z, intensity; .pcd.bin also ring; or options.columns
///   .las         1.2, format 0 to 3; steps of a power of ten, at least 10^8 along the longest side
/// throws InvalidArgument: another ending; x, y or z absent where the format needs them; options.columns that
///        are not there; ascii where there is no such form. DeviceError: as write_file.
PointWriteReport write_points(const Path& path, const PointTable& table,
                              const PointWriteOptions& options = {});

/// Little-endian f32 rows without a header; as many columns as names.
///   source   Geiger et al. 2013, "Vision meets Robotics: The KITTI Dataset"
PointTable read_kitti_bin(const Path& path, const std::vector<std::string>& columns = {});

/// ascii, binary and binary_compressed. Fields of COUNT past one become name_0, name_1, …; padding (`_`) is
/// dropped.
///   source   "The PCD (Point Cloud Data) file format", Point Cloud Library
PointTable read_pcd(const Path& path);

/// ascii and binary. The vertex element's scalars become columns; its lists and the other elements are passed
/// over.
///   source   Turk 1994, "The PLY Polygon File Format"
PointTable read_ply(const Path& path);

/// LAS 1.0 to 1.4, point formats 0 to 10, not compressed. x, y, z are scaled and shifted in double; the other
/// columns have the names intensity, return_number, number_of_returns, classification, scan_angle (degrees),
/// gps_time, red, green, blue, nir, … of those that the format holds, and described extra bytes their own.
/// Wave packets and undescribed bytes are passed over.
PointTable read_las(const Path& path);

/// NumPy arrays: versions 1 to 3, C and Fortran order, both endiannesses; the result is native and C-ordered.
/// An .npz may hold stored and deflated members; those that do not end in .npy are passed over. An error
/// inside a member has the path `file.npz:member.npy` and its offset in the member's contents. Writing throws
/// InvalidArgument for bf16, which NumPy lacks.
///   source   NumPy Enhancement Proposal 1; PKWARE APPNOTE 6.3
Tensor read_npy(const Path& path);
std::map<std::string, Tensor> read_npz(const Path& path);
void write_npy(const Path& path, const Tensor& tensor);
void write_npz(const Path& path, const std::map<std::string, Tensor>& tensors);

/// Triangles of a surface. Faces index vertices and are checked.
struct Mesh {
  Tensor vertices;  ///< [V, 3] f64; NaN stays as it stands in the file
  Tensor faces;     ///< [F, 3] i64; a polygon of n corners became the n - 2 triangles of a fan
  Tensor colours;   ///< [V, 3] f32, 0 to 1, or undefined
};

/// Reads a mesh by the file's ending: .obj, .ply, .glb.
/// throws FormatError (path, byte offset, expected, found), DeviceError; InvalidArgument for another ending.
Mesh read_mesh(const Path& path);

/// The endings that read_mesh takes.
const std::vector<std::string>& mesh_endings();

/// Wavefront text: `v` with or without colours and `f` with indices from 1 on or from the end; other lines
/// are passed over.
Mesh read_obj(const Path& path);

/// Vertices and the list vertex_indices (or vertex_index) of faces; without faces F is 0.
Mesh read_ply_mesh(const Path& path);

/// glTF 2.0 in one binary file: the triangles of the scene with their nodes' transforms applied. Unsupported
/// parts that would change the surface (compression, sparse accessors, other files) are refused by name.
Mesh read_glb(const Path& path);

/// Tensors of a PyTorch checkpoint (torch.save; zip archives and the form before 1.6), read without running
/// anything: the pickle may name tensors, storages and dictionaries only, another global is a FormatError
/// that names it. Nested dictionaries are joined by dots; what is no tensor is passed over. Tensors are
/// packed copies; f16, bf16 and integers stay as stored.
///   key  takes only the dictionary of that name, without its prefix; InvalidArgument lists those there are
std::map<std::string, Tensor> read_pth(const Path& path, const std::string& key = "");

/// Named weights by ending: .safetensors; .npz; or .pth, .pt, .ckpt, of which the dictionary state_dict,
/// model_state, model_state_dict or model where there is one.
std::map<std::string, Tensor> read_weights(const Path& path);

/// Named tensors of a .safetensors file, without its `__metadata__`; f16 and bf16 stay as stored.
///   source   "Format", huggingface/safetensors
std::map<std::string, Tensor> read_safetensors(const Path& path);
void write_safetensors(const Path& path, const std::map<std::string, Tensor>& tensors);

/// Binary little-endian .ply with x, y, z and scalar fields, f32.
///   xyz [P, 3] f32; fields: name → [P] f32; comment: a line of the header, control characters become blanks
void write_ply(const Path& path, const Tensor& xyz, const std::vector<std::pair<std::string, Tensor>>& fields,
               std::string comment = "");

/// 8-bit RGB picture: [H, W, 3] u8.
///   throws   InvalidArgument   another dtype or shape
void write_png(const Path& path, const Tensor& rgb);

/// Text or bytes written and synced under a temporary name beside `path`, then renamed over it. DeviceError,
/// naming `path`, on failure: what was there stays, and no temporary file does. Links are followed;
/// permissions are kept. InvalidArgument if `path` is there and no regular file.
void write_file(const Path& path, std::string_view bytes);

/// The whole regular file; every reader gets its bytes here. InvalidArgument, without opening it, if `path`
/// is a folder, a pipe, a socket or a device; DeviceError if it cannot be read. Both name it.
std::string read_file(const Path& path);

}  // namespace aerogel::io
