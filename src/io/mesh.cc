#include <fmt/core.h>
#include <fmt/ranges.h>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "io/parsers.h"

namespace aerogel::io {

const std::vector<std::string>& mesh_endings() {
  static const std::vector<std::string> kEndings = {".obj", ".ply", ".glb"};
  return kEndings;
}

Mesh read_mesh(const Path& path) {
  const std::string ending = lower_case(path.extension().string());
  if (ending == ".obj") return read_obj(path);
  if (ending == ".ply") return read_ply_mesh(path);
  if (ending == ".glb") return read_glb(path);
  throw InvalidArgument(fmt::format("[read_mesh] expected a file ending in one of {}, found {}",
                                    fmt::join(mesh_endings(), " "), path.string()));
}

}  // namespace aerogel::io
