// Named tensors: a 64-bit header length, a JSON header, then the tensors' bytes without gaps.
//   source   https://github.com/huggingface/safetensors, "Format"
#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "aerogel/io.h"

#include "io/byte_reader.h"
#include "io/parsers.h"
#include "io/safetensors_header.h"

namespace aerogel::io {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the original reader

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr TypeName kTypeNames[] = {{"F64", DType::kF64},   {"F32", DType::kF32}, {"F16", DType::kF16},
                                   {"BF16", DType::kBF16}, {"I64", DType::kI64}, {"I32", DType::kI32},
                                   {"I16", DType::kI16},   {"I8", DType::kI8},   {"U64", DType::kU64},
                                   {"U32", DType::kU32},   {"U16", DType::kU16}, {"U8", DType::kU8},
                                   {"BOOL", DType::kBool}};

std::string_view type_name(DType dtype) {
  return std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                      [&](const TypeName& type) { return type.dtype == dtype; })
      ->name;
}

DType entry_dtype(const SafetensorsEntry& entry, const ByteReader& reader) {
  const auto known = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                  [&](const TypeName& type) { return type.name == entry.dtype; });
  if (known == std::end(kTypeNames)) {
    reader.fail_at(kLengthBytes, fmt::format("expected a known dtype for {}, found {}", excerpt(entry.name),
                                             excerpt(entry.dtype)));
  }
  return known->dtype;
}

/// Each tensor has the bytes that its shape needs, and begins where the one before it ends.
void check_ranges(std::vector<SafetensorsEntry> entries, const ByteReader& reader) {
  for (const SafetensorsEntry& entry : entries) {
    const std::int64_t needed = array_bytes(entry.shape, entry_dtype(entry, reader));
    if (entry.begin > entry.end || needed < 0 ||
        static_cast<std::uint64_t>(needed) != entry.end - entry.begin) {
      reader.fail_at(kLengthBytes,
                     fmt::format("expected the bytes of {} {} for {}, found [{}, {})", entry.dtype,
                                 entry.shape.str(), excerpt(entry.name), entry.begin, entry.end));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t end = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != end) {
      reader.fail_at(kLengthBytes,
                     fmt::format("expected {} to begin at {} where the tensor before it ends, found {}",
                                 excerpt(entry.name), end, entry.begin));
    }
    end = entry.end;
  }
  if (end != reader.remaining()) {
    reader.fail(fmt::format("expected {} bytes of tensors, found {}", end, reader.remaining()));
  }
}

}  // namespace

std::map<std::string, Tensor> parse_safetensors(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  const auto length = reader.little<std::uint64_t>("the header length");
  if (length > reader.remaining() || length > kMaxHeaderBytes) {
    reader.fail_at(0, fmt::format("expected a header of at most {} bytes, found a claim of {}",
                                  std::min(reader.remaining(), kMaxHeaderBytes), length));
  }
  const std::string_view text = reader.take(length, "header");
  const std::vector<SafetensorsEntry> entries = parse_safetensors_header(text, path, kLengthBytes);
  check_ranges(entries, reader);
  const std::string_view data = bytes.substr(reader.offset());
  std::map<std::string, Tensor> tensors;
  for (const SafetensorsEntry& entry : entries) {
    const Tensor tensor = Tensor::empty(entry.shape, entry_dtype(entry, reader));
    tensors.emplace(entry.name, tensor);
    const std::size_t size = entry.end - entry.begin;
    if (size == 0) continue;
    auto* target = static_cast<char*>(tensor.raw());
    std::memcpy(target, data.data() + entry.begin, size);
    if constexpr (std::endian::native != std::endian::little) {
      swap_bytes(target, itemsize(tensor.dtype()), size / itemsize(tensor.dtype()));
    }
    if (tensor.dtype() == DType::kBool) normalize_bools(reinterpret_cast<std::uint8_t*>(target), size);
  }
  return tensors;
}

std::string encode_safetensors(const std::map<std::string, Tensor>& tensors) {
  // Wide types first, so that each tensor is aligned to its own width.
  std::vector<std::pair<std::string, Tensor>> ordered(tensors.begin(), tensors.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return itemsize(a.second.dtype()) > itemsize(b.second.dtype());
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::int64_t end = 0;
  for (const auto& [name, tensor] : ordered) {
    if (!tensor.defined() || name == "__metadata__") {
      throw InvalidArgument(fmt::format("[write_safetensors] expected a name and its tensor, got {} {}",
                                        excerpt(name), tensor.str()));
    }
    const std::vector<std::int64_t> shape(tensor.shape().begin(), tensor.shape().end());
    header[name] = {{"dtype", type_name(tensor.dtype())},
                    {"shape", shape},
                    {"data_offsets", {end, end + tensor.nbytes()}}};
    end += tensor.nbytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    throw InvalidArgument("[write_safetensors] expected names in UTF-8, got other bytes");
  }
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 255);
  bytes += text;
  bytes.reserve(bytes.size() + static_cast<std::size_t>(end));
  for (const auto& [name, tensor] : ordered) {
    const Tensor packed = tensor.contiguous();
    const std::size_t begin = bytes.size();
    if (packed.numel() > 0)
      bytes.append(static_cast<const char*>(packed.raw()), static_cast<std::size_t>(packed.nbytes()));
    if constexpr (std::endian::native != std::endian::little) {
      swap_bytes(bytes.data() + begin, itemsize(packed.dtype()), static_cast<std::size_t>(packed.numel()));
    }
  }
  return bytes;
}

std::map<std::string, Tensor> read_safetensors(const Path& path) {
  return parse_safetensors(read_file(path), path.string());
}

void write_safetensors(const Path& path, const std::map<std::string, Tensor>& tensors) {
  write_file(path, encode_safetensors(tensors));
}

}  // namespace aerogel::io
