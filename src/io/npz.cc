// Archives of .npy members. A FormatError inside a member names it as path:member, with the offset in its
// contents.
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "io/parsers.h"
#include "io/zip.h"

namespace aerogel::io {
namespace {

constexpr std::string_view kEnding = ".npy";

/// The array's name, or nothing if the member is no array.
std::optional<std::string> array_name(const ZipMember& member) {
  if (!member.name.ends_with(kEnding)) return std::nullopt;
  return member.name.substr(0, member.name.size() - kEnding.size());
}

Tensor unpack_array(std::string_view bytes, const ZipMember& member, const std::string& path) {
  return parse_npy(unpack_zip_member(bytes, member, path), path + ":" + member.name);
}

}  // namespace

std::map<std::string, Tensor> parse_npz(std::string_view bytes, const std::string& path) {
  std::map<std::string, Tensor> tensors;
  for (const ZipMember& member : list_zip(bytes, path)) {
    if (const auto name = array_name(member)) tensors.emplace(*name, unpack_array(bytes, member, path));
  }
  return tensors;
}

Tensor parse_npz_array(std::string_view bytes, const std::string& path, const std::string& key) {
  std::map<std::string, ZipMember> arrays;
  for (const ZipMember& member : list_zip(bytes, path)) {
    if (const auto name = array_name(member)) arrays.emplace(*name, member);
  }
  auto chosen = arrays.find(key);
  if (key.empty()) {
    chosen = arrays.size() == 1 ? arrays.begin() : arrays.find("points");
    if (chosen == arrays.end()) chosen = arrays.find("pc");
  }
  if (chosen == arrays.end()) {
    std::string names;
    for (const auto& [name, member] : arrays) names += (names.empty() ? "" : ", ") + name;
    throw InvalidArgument(fmt::format("[read_points] {} has no array {}; it has: {}", path,
                                      key.empty() ? "points or pc, nor only one" : key, names));
  }
  return unpack_array(bytes, chosen->second, path);
}

PointTable parse_npz_points(std::string_view bytes, const std::string& path,
                            const PointReadOptions& options) {
  const Tensor array = parse_npz_array(bytes, path, options.npz_key);
  std::vector<std::string> names = options.columns;
  for (const ZipMember& member : list_zip(bytes, path)) {
    if (!names.empty() || member.name != "columns.npy") continue;
    const Tensor text = unpack_array(bytes, member, path);
    if (text.dtype() != DType::kU8 || text.shape().size() != 1 || text.numel() == 0) continue;
    std::string_view left(reinterpret_cast<const char*>(text.data<std::uint8_t>()),
                          static_cast<std::size_t>(text.numel()));
    for (std::size_t comma = 0; comma != std::string_view::npos; left.remove_prefix(comma + 1)) {
      comma = left.find(',');
      names.emplace_back(left.substr(0, comma));
      if (comma == std::string_view::npos) break;
    }
    if (array.shape().size() != 2 || static_cast<std::int64_t>(names.size()) != array.size(1)) names.clear();
  }
  return points_from_array(array, path, names);
}

std::string encode_npz(const std::map<std::string, Tensor>& tensors) {
  std::vector<std::pair<std::string, std::string>> members;
  members.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    members.emplace_back(name + std::string(kEnding), encode_npy(tensor));
  }
  return pack_zip(members);
}

std::map<std::string, Tensor> read_npz(const Path& path) { return parse_npz(read_file(path), path.string()); }

void write_npz(const Path& path, const std::map<std::string, Tensor>& tensors) {
  write_file(path, encode_npz(tensors));
}

}  // namespace aerogel::io
