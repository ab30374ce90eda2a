#include "aerogel/error.h"

#include "checkpoint_seeds.h"
#include "fuzz_target.h"
#include "io/parsers.h"
#include "io/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aerogel::io;
  try {
    // Whatever was read has its bytes: writing walks over all of them.
    encode_safetensors(parse_pth(fuzz_bytes(data, size), "fuzz"));
  } catch (const aerogel::FormatError&) {
  } catch (const aerogel::InvalidArgument&) {  // a name that is no UTF-8 cannot be written
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const std::string values(24, 'f');
  const std::string old = std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15) +
                          "\x80\2M\xe9\3." + "\x80\2}" + pickled_text("little_endian") + "\x88s." +
                          pickled_state_dict(true) + "\x80\2]" + pickled_text("0") + "a." + "\6" +
                          std::string(7, '\0') + values;
  return {aerogel::io::pack_zip({{"net/data.pkl", pickled_state_dict(false)},
                                 {"net/byteorder", "little"},
                                 {"net/data/0", values},
                                 {"net/version", "3\n"}}),
          old};
}
