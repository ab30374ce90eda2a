// What a PyTorch checkpoint says about its tensors, before any of their bytes are read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aerogel/types.h"

#include "io/byte_reader.h"
#include "io/pickle.h"

namespace aerogel::io {

struct TorchStorage {
  std::string key;
  DType dtype = DType::kF32;
  std::uint64_t count = 0;  ///< elements, a claim
  std::uint64_t bytes() const { return count * itemsize(dtype); }
};

/// A view of a storage that lies inside it.
struct TorchTensor {
  std::string name;
  std::size_t storage = 0;  ///< which of TorchPickle::storages
  std::uint64_t offset = 0;
  Dims shape;
  Dims strides;
};

struct TorchPickle {
  std::vector<TorchStorage> storages;  ///< distinct keys; bytes() does not overflow
  std::vector<TorchTensor> tensors;    ///< distinct names
};

/// The tensors below `root`, dictionaries joined by dots. The tensors of a storage need at most kMaxReuse
/// times its elements together: tied weights share one, and a stride of 0 must not make much from little.
TorchPickle find_tensors(const PickleValue& root, const ByteReader& reader);
inline constexpr std::uint64_t kMaxReuse = 8;

/// find_tensors of the one pickle in `bytes`.
TorchPickle parse_torch_pickle(std::string_view bytes, const std::string& path);

}  // namespace aerogel::io
