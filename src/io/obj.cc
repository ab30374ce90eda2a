// Wavefront text: vertices and faces, of which only the corners' vertices count.
//   source   Wavefront Technologies, "Object Files (.obj)", appendix B1
#include <charconv>

#include <fmt/core.h>

#include "aerogel/io.h"

#include "io/byte_reader.h"
#include "io/mesh_builder.h"
#include "io/numbers.h"
#include "io/parsers.h"

namespace aerogel::io {
namespace {

/// Reads line by line; a refusal names the line too, since people look for it in an editor.
class ObjReader {
 public:
  ObjReader(std::string_view bytes, const std::string& path) : reader_(bytes, path), mesh_(reader_) {}

  Mesh read() {
    while (!reader_.at_end()) {
      offset_ = reader_.offset();
      ++line_;
      std::string_view words = reader_.line();
      const std::string_view keyword = next_word(words);
      if (keyword == "v") vertex(words);
      if (keyword == "f") face(words);
      const bool known = keyword.empty() || keyword[0] == '#' || (keyword[0] >= 'a' && keyword[0] <= 'z');
      if (!known) fail(fmt::format("expected a keyword of .obj, found {}", excerpt(keyword)));
    }
    return mesh_.finish();
  }

 private:
  [[noreturn]] void fail(const std::string& wrong) const {
    reader_.fail_at(offset_, fmt::format("line {}: {}", line_, wrong));
  }

  /// x y z, then nothing, a weight, three colours, or both of these, whose order differs between writers.
  void vertex(std::string_view words) {
    double numbers[7];
    std::size_t count = 0;
    for (std::string_view word = next_word(words); !word.empty(); word = next_word(words)) {
      if (count == 7) fail("expected 3, 4, 6 or 7 numbers of a vertex, found more");
      if (!parse_number(word, numbers[count++])) {
        fail(fmt::format("expected a number of a vertex, found {}", excerpt(word)));
      }
    }
    if (count != 3 && count != 4 && count < 6) {
      fail(fmt::format("expected 3, 4, 6 or 7 numbers of a vertex, found {}", count));
    }
    for (std::size_t i = 0; i < 3; ++i) mesh_.add_coordinate(numbers[i]);
    for (std::size_t i = 3; count == 6 && i < 6; ++i) mesh_.add_colour(numbers[i]);
  }

  /// v, v/vt, v//vn or v/vt/vn: from 1 on, or below 0 from the last vertex so far.
  void face(std::string_view words) {
    corners_.clear();
    for (std::string_view word = next_word(words); !word.empty(); word = next_word(words)) {
      const std::string_view digits = word.substr(0, word.find('/'));
      std::int64_t index = 0;
      const char* end = digits.data() + digits.size();
      const auto [stopped, error] = std::from_chars(digits.data(), end, index);
      if (error != std::errc() || stopped != end || index == 0 || index < -mesh_.vertices()) {
        fail(fmt::format("expected the number of a vertex, from 1 on or from -1 to -{}, found {}",
                         mesh_.vertices(), excerpt(word)));
      }
      corners_.push_back(index > 0 ? index - 1 : mesh_.vertices() + index);
    }
    if (corners_.size() < 3)
      fail(fmt::format("expected at least 3 corners of a face, found {}", corners_.size()));
    mesh_.add_polygon(offset_, corners_);
  }

  ByteReader reader_;
  MeshBuilder mesh_;
  std::vector<std::int64_t> corners_;
  std::uint64_t offset_ = 0;
  std::int64_t line_ = 0;
};

}  // namespace

Mesh parse_obj(std::string_view bytes, const std::string& path) { return ObjReader(bytes, path).read(); }

Mesh read_obj(const Path& path) { return parse_obj(read_file(path), path.string()); }

}  // namespace aerogel::io
