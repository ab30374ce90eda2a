#include <cstdlib>

#include "aerogel/error.h"

#include "checkpoint_seeds.h"
#include "fuzz_target.h"
#include "io/numbers.h"
#include "io/torch_pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aerogel::io;
  try {
    const TorchPickle pickle = parse_torch_pickle(fuzz_bytes(data, size), "fuzz");
    for (const TorchTensor& tensor : pickle.tensors) {
      const TorchStorage& storage = pickle.storages.at(tensor.storage);
      const auto bytes = array_bytes(tensor.shape, storage.dtype);
      if (bytes < 0 || static_cast<std::uint64_t>(bytes) / kMaxReuse > storage.bytes()) std::abort();
    }
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {pickled_state_dict(false), pickled_state_dict(true),
          "\x80\4\x95" + std::string(8, '\0') +
              "}\x94\x8c\5torch\x8c\x0d"
              "FloatStorage!\x93s."};
}
