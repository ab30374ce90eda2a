#include <array>

#include <fmt/core.h>

#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

constexpr std::array kTypes = {DType::kF32, DType::kF64, DType::kI8,  DType::kU8,  DType::kI16,
                               DType::kU16, DType::kI32, DType::kU32, DType::kI64, DType::kU64};
constexpr std::array kLetters = {'F', 'F', 'I', 'U', 'I', 'U', 'I', 'U', 'I', 'U'};

char letter_of(DType dtype) {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i] == dtype) return kLetters[i];
  }
  return 'F';
}

}  // namespace

std::string encode_pcd(const PointTable& table, bool ascii) {
  std::vector<DType> dtypes;
  std::string fields;
  std::string sizes;
  std::string types;
  std::string counts;
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    dtypes.push_back(written_type(table, i, kTypes));
    fields += " " + table.names[i];
    sizes += fmt::format(" {}", itemsize(dtypes.back()));
    types += fmt::format(" {}", letter_of(dtypes.back()));
    counts += " 1";
  }
  const std::string header = fmt::format(
      "# .PCD v0.7\nVERSION 0.7\nFIELDS{}\nSIZE{}\nTYPE{}\nCOUNT{}\nWIDTH {}\nHEIGHT 1\n"
      "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS {}\nDATA {}\n",
      fields, sizes, types, counts, table.rows(), table.rows(), ascii ? "ascii" : "binary");
  return header + (ascii ? print_rows(table, dtypes) : pack_rows(table, dtypes));
}

}  // namespace aerogel::io
