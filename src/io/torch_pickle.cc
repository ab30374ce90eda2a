#include "io/torch_pickle.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/core.h>

namespace aerogel::io {
namespace {

using Kind = PickleValue::Kind;

/// Walks dictionaries. Values may be shared, and a hostile pickle may nest them in a circle or share them so
/// often that the names double with each level: depth and visits are bounded.
class TensorFinder {
 public:
  explicit TensorFinder(const ByteReader& reader)
      : reader_(reader), visits_left_(reader.offset() + reader.remaining()) {}

  TorchPickle find(const PickleValue& root) {
    if (root.kind != Kind::kDict) {
      fail(fmt::format("expected a dictionary of tensors, found {}", kind_name(root.kind)));
    }
    walk(root, "", 0);
    return std::move(found_);
  }

 private:
  [[noreturn]] void fail(const std::string& wrong) const { reader_.fail_at(0, wrong); }

  void walk(const PickleValue& dictionary, const std::string& prefix, int depth) {
    constexpr int kMaxDepth = 32;
    if (depth == kMaxDepth)
      fail(fmt::format("expected dictionaries nested up to {} deep, found more", kMaxDepth));
    for (std::size_t i = 0; i + 1 < dictionary.items.size(); i += 2) {
      if (visits_left_-- == 0) fail("expected each dictionary about once, found them nested in each other");
      const PickleValue& key = *dictionary.items[i];
      const PickleValue& value = *dictionary.items[i + 1];
      if (value.kind != Kind::kDict && value.kind != Kind::kTensor) continue;
      if (key.kind != Kind::kText && key.kind != Kind::kInt) continue;
      const std::string name =
          prefix + (key.kind == Kind::kText ? std::string(key.text) : std::to_string(key.number));
      if (name.size() > kMaxName)
        fail(fmt::format("expected names up to {} bytes, found a longer one", kMaxName));
      if (value.kind == Kind::kDict) {
        walk(value, name + ".", depth + 1);
      } else {
        add(name, value);
      }
    }
  }

  std::size_t storage_of(const PickleValue& value, const std::string& name) {
    const auto [place, is_new] = storages_.emplace(std::string(value.text), found_.storages.size());
    if (is_new) {
      TorchStorage storage{std::string(value.text), value.dtype, static_cast<std::uint64_t>(value.number)};
      if (array_bytes({value.number}, value.dtype) < 0) {
        fail(fmt::format("{}: expected a storage below 2^63 bytes, found {} elements", excerpt(name),
                         value.number));
      }
      found_.storages.push_back(std::move(storage));
      used_.push_back(0);
    }
    const TorchStorage& storage = found_.storages[place->second];
    if (storage.dtype != value.dtype || storage.count != static_cast<std::uint64_t>(value.number)) {
      fail(fmt::format("{}: expected storage {} to have {} elements of {} as before, found {} of {}",
                       excerpt(name), excerpt(storage.key), storage.count, dtype_name(storage.dtype),
                       value.number, dtype_name(value.dtype)));
    }
    return place->second;
  }

  Dims dims_of(const PickleValue& value, const std::string& name, std::string_view what) const {
    Dims dims;
    for (const PickleValue* item : value.items) {
      if (item->kind != Kind::kInt || item->number < 0 || !item->text.empty()) {
        fail(fmt::format("{}: expected a {} of integers from 0 on, found {} {}", excerpt(name), what,
                         kind_name(item->kind), item->number));
      }
      if (dims.size() == Dims::kCapacity) {
        fail(fmt::format("{}: expected at most {} axes, found more", excerpt(name), Dims::kCapacity));
      }
      dims.push_back(item->number);
    }
    return dims;
  }

  void add(const std::string& name, const PickleValue& value) {
    TorchTensor tensor;
    tensor.name = name;
    tensor.storage = storage_of(*value.items[0], name);
    tensor.shape = dims_of(*value.items[2], name, "shape");
    tensor.strides = dims_of(*value.items[3], name, "stride");
    const PickleValue& offset = *value.items[1];
    if (offset.number < 0 || !offset.text.empty() || tensor.shape.size() != tensor.strides.size()) {
      fail(fmt::format("{}: expected an offset from 0 on and a stride for each axis, found {}, {} and {}",
                       excerpt(name), offset.number, tensor.shape.str(), tensor.strides.str()));
    }
    tensor.offset = static_cast<std::uint64_t>(offset.number);
    check_inside(tensor);
    if (!names_.insert(name).second)
      fail(fmt::format("expected distinct names, found {} twice", excerpt(name)));
    found_.tensors.push_back(std::move(tensor));
  }

  void check_inside(const TorchTensor& tensor) {
    const TorchStorage& storage = found_.storages[tensor.storage];
    const std::int64_t bytes = array_bytes(tensor.shape, storage.dtype);
    std::uint64_t last = tensor.offset;
    bool inside = bytes >= 0;
    for (int axis = 0; inside && bytes > 0 && axis < tensor.shape.size(); ++axis) {
      std::uint64_t reach = 0;
      inside = !__builtin_mul_overflow(static_cast<std::uint64_t>(tensor.shape[axis] - 1),
                                       static_cast<std::uint64_t>(tensor.strides[axis]), &reach) &&
               !__builtin_add_overflow(last, reach, &last);
    }
    if (!inside || (bytes > 0 && last >= storage.count)) {
      fail(fmt::format("{}: expected {} with strides {} from element {} inside a storage of {} elements",
                       excerpt(tensor.name), tensor.shape.str(), tensor.strides.str(), tensor.offset,
                       storage.count));
    }
    const std::uint64_t elements = static_cast<std::uint64_t>(bytes) / itemsize(storage.dtype);
    std::uint64_t most = 0;
    if (__builtin_mul_overflow(storage.count, kMaxReuse, &most)) most = UINT64_MAX;
    std::uint64_t& used = used_[tensor.storage];
    if (elements > most - used) {
      fail(fmt::format(
          "{}: expected the tensors of storage {} to need at most {} times its {} elements, found more",
          excerpt(tensor.name), excerpt(storage.key), kMaxReuse, storage.count));
    }
    used += elements;
  }

  static constexpr std::size_t kMaxName = 4096;

  const ByteReader& reader_;
  std::uint64_t visits_left_;
  TorchPickle found_;
  std::vector<std::uint64_t> used_;  // elements of each storage that tensors take
  std::unordered_map<std::string, std::size_t> storages_;
  std::set<std::string> names_;
};

}  // namespace

TorchPickle find_tensors(const PickleValue& root, const ByteReader& reader) {
  return TensorFinder(reader).find(root);
}

TorchPickle parse_torch_pickle(std::string_view bytes, const std::string& path) {
  ByteReader reader(bytes, path);
  Unpickler unpickler(reader);
  const PickleValue* root = unpickler.load();
  if (!reader.at_end())
    reader.fail(fmt::format("expected the end of the pickle, found {} more bytes", reader.remaining()));
  return find_tensors(*root, reader);
}

}  // namespace aerogel::io
