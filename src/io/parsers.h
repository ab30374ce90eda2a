// The formats over bytes in memory: what the public readers and writers call, and what the fuzzers feed.
// `path` only names the bytes in a FormatError.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aerogel/io.h"

namespace aerogel::io {

/// A table of more columns is refused: an empty array may claim any number of them.
inline constexpr std::size_t kMaxColumns = 4096;

PointTable parse_kitti_bin(std::string_view bytes, const std::string& path,
                           const std::vector<std::string>& columns);
/// KITTI has four columns; nuScenes ends its files in .pcd.bin and adds the ring.
std::vector<std::string> bin_columns(const std::string& path);
PointTable parse_pcd(std::string_view bytes, const std::string& path);
PointTable parse_ply(std::string_view bytes, const std::string& path);
PointTable parse_las(std::string_view bytes, const std::string& path);
Mesh parse_obj(std::string_view bytes, const std::string& path);
Mesh parse_ply_mesh(std::string_view bytes, const std::string& path);
/// A header with a face element that has rows and corners; nothing is known about the body.
bool ply_has_faces(std::string_view bytes, const std::string& path);
Mesh parse_glb(std::string_view bytes, const std::string& path);
Tensor parse_npy(std::string_view bytes, const std::string& path);
std::map<std::string, Tensor> parse_npz(std::string_view bytes, const std::string& path);
std::map<std::string, Tensor> parse_safetensors(std::string_view bytes, const std::string& path);
std::map<std::string, Tensor> parse_pth(std::string_view bytes, const std::string& path);

/// One array of an .npz: `key`, or if empty the only one, or `points`, or `pc`; the others are not unpacked.
/// InvalidArgument lists the arrays there are.
Tensor parse_npz_array(std::string_view bytes, const std::string& path, const std::string& key);

/// [P, F >= 3] numbers as columns. `columns` names all F of them, or is empty for x, y, z, c3, …
PointTable points_from_array(const Tensor& array, const std::string& path,
                             const std::vector<std::string>& columns);

/// The array of parse_npz_array as points. Without options.columns a member `columns` names them, as
/// write_points has it.
PointTable parse_npz_points(std::string_view bytes, const std::string& path, const PointReadOptions& options);

std::string encode_npy(const Tensor& tensor);
std::string encode_npz(const std::map<std::string, Tensor>& tensors);
std::string encode_safetensors(const std::map<std::string, Tensor>& tensors);
/// The type that a column is written in: its own where that holds all values, or f32, or f64; of `known`
/// ones.
DType written_type(const PointTable& table, std::size_t column, std::span<const DType> known);

/// Rows of the columns, each in its dtype, little-endian.
std::string pack_rows(const PointTable& table, std::span<const DType> dtypes);

/// The rows as text, numbers as short as reads back the same.
std::string print_rows(const PointTable& table, std::span<const DType> dtypes);

std::string encode_ply(const Tensor& xyz, const std::vector<std::pair<std::string, Tensor>>& fields);
std::string encode_png(const Tensor& rgb);

std::string encode_ply_points(const PointTable& table, bool ascii);
std::string encode_pcd(const PointTable& table, bool ascii);
std::string encode_las(const PointTable& table, PointWriteReport& report);

/// ASCII letters only: names in headers.
std::string lower_case(std::string_view text);

/// InvalidArgument for names that the caller gave and that are empty or there twice.
void check_column_names(const std::vector<std::string>& names);

/// The first name that is there twice, or null.
const std::string* find_repeated(const std::vector<std::string>& names);

}  // namespace aerogel::io
