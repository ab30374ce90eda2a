#include "io/gltf.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace aerogel::io {
namespace {

struct ComponentType {
  std::uint64_t code;
  DType dtype;
  double largest;  // what a normalized integer of this type counts as 1
};
constexpr ComponentType kComponentTypes[] = {{5120, DType::kI8, 127},           {5121, DType::kU8, 255},
                                             {5122, DType::kI16, 32767},        {5123, DType::kU16, 65535},
                                             {5125, DType::kU32, 4294967295.0}, {5126, DType::kF32, 1}};

}  // namespace

std::vector<double> GltfAccessor::read(std::size_t column) const {
  std::vector<double> values(count);
  if (first == nullptr || count == 0) return values;
  decode_column(first + column * itemsize(dtype), stride, dtype, std::endian::little, values);
  if (scale == 1) return values;
  for (double& value : values) value = std::max(value * scale, -1.0);
  return values;
}

const GltfDocument::Json* GltfDocument::array(const Json& object, const char* name) const {
  const auto found = object.find(name);
  if (found == object.end()) return nullptr;
  if (!found->is_array()) fail(fmt::format("{}: expected an array, found {}", name, found->type_name()));
  return &*found;
}

const GltfDocument::Json& GltfDocument::entry(const char* name, std::uint64_t index) const {
  const Json* entries = array(json_, name);
  if (entries == nullptr || index >= entries->size()) {
    fail(fmt::format("expected an entry {} of {}, found {}", index, name,
                     entries == nullptr ? 0 : entries->size()));
  }
  const Json& found = (*entries)[index];
  if (!found.is_object())
    fail(fmt::format("{}[{}]: expected an object, found {}", name, index, found.type_name()));
  return found;
}

std::uint64_t GltfDocument::count(const Json& object, const char* name,
                                  std::optional<std::uint64_t> fallback) const {
  const auto found = object.find(name);
  if (found == object.end()) {
    if (!fallback) fail(fmt::format("expected a number {}, found none", name));
    return *fallback;
  }
  return index(*found, name);
}

std::uint64_t GltfDocument::index(const Json& item, const char* what) const {
  if (!item.is_number_unsigned()) {
    fail(fmt::format("{}: expected a whole number from 0 on, found {}", what, item.type_name()));
  }
  return item.get<std::uint64_t>();
}

std::optional<std::vector<double>> GltfDocument::numbers(const Json& object, const char* name,
                                                         std::size_t size) const {
  const Json* found = array(object, name);
  if (found == nullptr) return std::nullopt;
  std::vector<double> values;
  for (const Json& item : *found) {
    if (!item.is_number() || values.size() == size) break;
    values.push_back(item.get<double>());
  }
  if (found->size() != size || values.size() != size) {
    fail(fmt::format("{}: expected {} numbers, found {} values", name, size, found->size()));
  }
  return values;
}

std::string_view GltfDocument::view(std::uint64_t index, std::uint64_t& stride) const {
  const Json& view = entry("bufferViews", index);
  const std::uint64_t buffer = count(view, "buffer");
  if (buffer != 0 || entry("buffers", 0).contains("uri")) {
    fail(
        fmt::format("bufferViews[{}]: expected bytes of this file's own chunk, found another buffer", index));
  }
  const std::uint64_t offset = count(view, "byteOffset", 0);
  const std::uint64_t length = count(view, "byteLength");
  stride = count(view, "byteStride", 0);
  if (offset > binary_.size() || length > binary_.size() - offset) {
    fail(fmt::format("bufferViews[{}]: expected {} bytes from byte {} on in a binary chunk of {}", index,
                     length, offset, binary_.size()));
  }
  return binary_.substr(offset, length);
}

GltfAccessor GltfDocument::accessor(std::uint64_t index) const {
  const Json& stored = entry("accessors", index);
  if (stored.contains("sparse"))
    fail(fmt::format("accessors[{}]: expected dense rows, found sparse ones", index));
  const std::uint64_t code = count(stored, "componentType");
  const auto type = std::find_if(std::begin(kComponentTypes), std::end(kComponentTypes),
                                 [&](const ComponentType& known) { return known.code == code; });
  if (type == std::end(kComponentTypes)) {
    fail(fmt::format("accessors[{}]: expected a component type 5120 to 5126, found {}", index, code));
  }
  GltfAccessor accessor;
  accessor.dtype = type->dtype;
  if (const auto found = stored.find("normalized"); found != stored.end() && *found == true) {
    accessor.scale = 1 / type->largest;
  }
  const auto shape = stored.find("type");
  const std::string name = shape != stored.end() && shape->is_string() ? shape->get<std::string>() : "";
  if (name != "SCALAR" && name != "VEC3" && name != "VEC4") {
    fail(fmt::format("accessors[{}]: expected SCALAR, VEC3 or VEC4, found {}", index, excerpt(name)));
  }
  accessor.width = name == "SCALAR" ? 1 : name == "VEC3" ? 3 : 4;
  accessor.count = count(stored, "count");
  if (!stored.contains("bufferView")) {
    // Rows of zeros need no bytes in the file: the count is believed only as far as the file is long.
    if (accessor.count > binary_.size()) {
      fail(fmt::format("accessors[{}]: expected rows in a view, found {} rows without one", index,
                       accessor.count));
    }
    return accessor;
  }
  const std::string_view bytes = view(count(stored, "bufferView"), accessor.stride);
  const std::uint64_t row = accessor.width * itemsize(accessor.dtype);
  if (accessor.stride == 0) accessor.stride = row;
  const std::uint64_t offset = count(stored, "byteOffset", 0);
  std::uint64_t needed = 0;
  const bool fits =
      accessor.stride >= row && offset <= bytes.size() &&
      (accessor.count == 0 || (!__builtin_mul_overflow(accessor.count - 1, accessor.stride, &needed) &&
                               needed <= bytes.size() - offset && row <= bytes.size() - offset - needed));
  if (!fits) {
    fail(fmt::format("accessors[{}]: expected {} rows of {} bytes, {} apart, from byte {} on in a view of {}",
                     index, accessor.count, row, accessor.stride, offset, bytes.size()));
  }
  accessor.first = bytes.data() + offset;
  return accessor;
}

}  // namespace aerogel::io
