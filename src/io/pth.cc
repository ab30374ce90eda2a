// PyTorch checkpoints: a zip archive with NAME/data.pkl and NAME/data/KEY, or before 1.6 four pickles and the
// storages behind them.
//   source   PyTorch, torch/serialization.py
#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "io/byte_reader.h"
#include "io/parsers.h"
#include "io/torch_pickle.h"
#include "io/zip.h"

namespace aerogel::io {
namespace {

constexpr std::uint64_t kMaxPickleBytes = 64 << 20;
constexpr std::string_view kOldMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);

/// Copies the view of axis `axis` and the ones behind it, row by row.
void copy_view(const char* from, const Dims& shape, const Dims& strides, int axis, std::size_t size,
               char*& to) {
  if (axis == shape.size()) {
    std::memcpy(to, from, size);
    to += size;
    return;
  }
  if (axis + 1 == shape.size() && strides[axis] == 1) {
    std::memcpy(to, from, size * static_cast<std::size_t>(shape[axis]));
    to += size * static_cast<std::size_t>(shape[axis]);
    return;
  }
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    copy_view(from + static_cast<std::size_t>(i * strides[axis]) * size, shape, strides, axis + 1, size, to);
  }
}

/// `storage` holds the storage's bytes; the view lies inside it.
Tensor pack_view(const TorchTensor& view, DType dtype, std::string_view storage, std::endian order) {
  Tensor tensor = Tensor::empty(view.shape, dtype);
  const auto count = static_cast<std::size_t>(tensor.numel());
  if (count == 0) return tensor;
  const std::size_t size = itemsize(dtype);
  auto* data = static_cast<char*>(tensor.raw());
  char* to = data;
  copy_view(storage.data() + view.offset * size, view.shape, view.strides, 0, size, to);
  if (order != std::endian::native) swap_bytes(data, size, count);
  if (dtype == DType::kBool) normalize_bools(reinterpret_cast<std::uint8_t*>(data), count);
  return tensor;
}

/// The tensors of each storage; `bytes_of(storage)` gives its bytes, as many as it claims.
template <class BytesOf>
std::map<std::string, Tensor> build(const TorchPickle& pickle, std::endian order, const BytesOf& bytes_of) {
  std::vector<std::vector<const TorchTensor*>> by_storage(pickle.storages.size());
  for (const TorchTensor& tensor : pickle.tensors) by_storage[tensor.storage].push_back(&tensor);
  std::map<std::string, Tensor> tensors;
  for (std::size_t i = 0; i < by_storage.size(); ++i) {
    const auto bytes = bytes_of(pickle.storages[i]);
    for (const TorchTensor* view : by_storage[i]) {
      tensors.emplace(view->name, pack_view(*view, pickle.storages[i].dtype, bytes, order));
    }
  }
  return tensors;
}

std::map<std::string, Tensor> parse_zip(std::string_view bytes, const std::string& path) {
  constexpr std::string_view kPickle = "data.pkl";
  std::map<std::string, ZipMember> members;
  const ZipMember* pickle_member = nullptr;
  for (ZipMember& member : list_zip(bytes, path)) {
    const std::string name = member.name;
    const auto place = members.emplace(name, std::move(member)).first;
    if (name != kPickle && !name.ends_with("/" + std::string(kPickle))) continue;
    if (pickle_member != nullptr) {
      throw FormatError(
          path, -1,
          fmt::format("expected one data.pkl, found {} and {}", excerpt(name), excerpt(pickle_member->name)));
    }
    pickle_member = &place->second;
  }
  if (pickle_member == nullptr) {
    throw FormatError(path, -1, "expected a PyTorch archive with a member data.pkl, found none");
  }
  if (pickle_member->size > kMaxPickleBytes) {
    throw FormatError(
        path, static_cast<std::int64_t>(pickle_member->entry),
        fmt::format("expected a pickle of at most {} bytes, found {}", kMaxPickleBytes, pickle_member->size));
  }
  const std::string root = pickle_member->name.substr(0, pickle_member->name.size() - kPickle.size());
  const std::string text = unpack_zip_member(bytes, *pickle_member, path);
  const TorchPickle pickle = parse_torch_pickle(text, path + ":" + pickle_member->name);
  std::endian order = std::endian::little;
  if (const auto found = members.find(root + "byteorder");
      found != members.end() && found->second.size <= 16) {
    if (unpack_zip_member(bytes, found->second, path) == "big") order = std::endian::big;
  }
  return build(pickle, order, [&](const TorchStorage& storage) {
    const auto found = members.find(root + "data/" + storage.key);
    if (found == members.end()) {
      throw FormatError(path, -1, fmt::format("expected a member {}data/{}, found none", root, storage.key));
    }
    if (found->second.size != storage.bytes()) {
      throw FormatError(
          path, static_cast<std::int64_t>(found->second.entry),
          fmt::format("expected {} elements of {} in {}, found {} bytes", storage.count,
                      dtype_name(storage.dtype), excerpt(found->second.name), found->second.size));
    }
    return unpack_zip_member(bytes, found->second, path);
  });
}

/// Magic, protocol, facts about the system, the object, the storages' keys; then per key its count and bytes.
std::map<std::string, Tensor> parse_old(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  reader.seek(kOldMagic.size(), "the protocol");
  Unpickler unpickler(reader);
  const PickleValue* protocol = unpickler.load();
  if (protocol->kind != PickleValue::Kind::kInt || protocol->number != 1001) {
    reader.fail(
        fmt::format("expected protocol 1001, found {} {}", kind_name(protocol->kind), protocol->number));
  }
  std::endian order = std::endian::little;
  const PickleValue* system = unpickler.load();
  for (std::size_t i = 0; system->kind == PickleValue::Kind::kDict && i + 1 < system->items.size(); i += 2) {
    if (system->items[i]->text == "little_endian" && system->items[i + 1]->number == 0)
      order = std::endian::big;
  }
  const PickleValue* object = unpickler.load();
  const PickleValue* keys = unpickler.load();
  if (keys->kind != PickleValue::Kind::kList) {
    reader.fail(fmt::format("expected the list of the storages' keys, found {}", kind_name(keys->kind)));
  }
  const TorchPickle pickle = find_tensors(*object, reader);
  std::map<std::string_view, const PickleValue*> claimed;  // also of tensors in lists, which are passed over
  for (const PickleValue* storage : unpickler.storages()) claimed.emplace(storage->text, storage);
  std::map<std::string_view, std::string_view> found;
  for (const PickleValue* key : keys->items) {
    const auto storage = claimed.find(key->text);
    if (key->kind != PickleValue::Kind::kText || storage == claimed.end()) {
      reader.fail(
          fmt::format("expected the key of a storage that the object names, found {}", excerpt(key->text)));
    }
    const PickleValue& claim = *storage->second;
    const std::uint64_t at = reader.offset();
    const auto count = reader.little<std::uint64_t>("the count of a storage");
    const std::int64_t size = array_bytes({claim.number}, claim.dtype);
    if (count != static_cast<std::uint64_t>(claim.number) || size < 0) {
      reader.fail_at(at, fmt::format("expected {} elements in storage {}, found {}", claim.number,
                                     excerpt(claim.text), count));
    }
    found[claim.text] = reader.take(static_cast<std::uint64_t>(size), "a storage");
  }
  return build(pickle, order, [&](const TorchStorage& storage) {
    const auto place = found.find(storage.key);
    if (place == found.end())
      reader.fail(fmt::format("expected storage {}, found none", excerpt(storage.key)));
    return place->second;
  });
}

std::string first_part(const std::string& name) { return name.substr(0, name.find('.')); }

/// Only the tensors under `key.`, without it.
std::map<std::string, Tensor> select(std::map<std::string, Tensor> tensors, const std::string& key,
                                     const std::string& path) {
  if (key.empty()) return tensors;
  const std::string prefix = key + ".";
  std::map<std::string, Tensor> chosen;
  std::set<std::string> known;
  for (auto& [name, tensor] : tensors) {
    known.insert(first_part(name));
    if (name.starts_with(prefix)) chosen.emplace(name.substr(prefix.size()), std::move(tensor));
  }
  if (chosen.empty()) {
    throw InvalidArgument(fmt::format("[read_pth] {} has no dictionary of tensors {}; it has: {}", path, key,
                                      fmt::join(known, ", ")));
  }
  return chosen;
}

}  // namespace

std::map<std::string, Tensor> parse_pth(std::string_view bytes, const std::string& path) {
  if (bytes.starts_with("PK")) return parse_zip(bytes, path);
  if (bytes.starts_with(kOldMagic)) return parse_old(bytes, path);
  throw FormatError(path, 0,
                    fmt::format("expected a PyTorch checkpoint (a zip archive, or PyTorch's magic number "
                                "pickled), found {}",
                                excerpt(bytes.substr(0, 16))));
}

std::map<std::string, Tensor> read_pth(const Path& path, const std::string& key) {
  return select(parse_pth(read_file(path), path.string()), key, path.string());
}

std::map<std::string, Tensor> read_weights(const Path& path) {
  const std::string ending = lower_case(path.extension().string());
  if (ending == ".safetensors") return read_safetensors(path);
  if (ending == ".npz") return read_npz(path);
  if (ending != ".pth" && ending != ".pt" && ending != ".ckpt") {
    throw InvalidArgument(
        fmt::format("[read_weights] expected a file ending in one of .safetensors .npz .pth .pt .ckpt, "
                    "found {}",
                    path.string()));
  }
  std::map<std::string, Tensor> tensors = read_pth(path);
  for (const char* key : {"state_dict", "model_state", "model_state_dict", "model"}) {
    const bool is_there = std::any_of(tensors.begin(), tensors.end(), [&](const auto& entry) {
      return entry.first.starts_with(std::string(key) + ".");
    });
    // A module of the network may be called `model` too: then others stand beside it.
    const bool alone = std::all_of(tensors.begin(), tensors.end(), [](const auto& entry) {
      return entry.first.starts_with("model.") || entry.first.starts_with("optimizer.");
    });
    if (is_there && (alone || std::string_view(key) != "model"))
      return select(std::move(tensors), key, path.string());
  }
  return tensors;
}

}  // namespace aerogel::io
