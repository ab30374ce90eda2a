// What every mesh that a reader returns must fulfil.
#pragma once

#include <cstdlib>

#include "aerogel/io.h"

inline void check_mesh(const aerogel::io::Mesh& mesh) {
  const auto* faces = mesh.faces.data<std::int64_t>();
  for (std::int64_t i = 0; i < mesh.faces.numel(); ++i) {
    if (faces[i] < 0 || faces[i] >= mesh.vertices.size(0)) std::abort();
  }
  if (mesh.colours.defined() && mesh.colours.size(0) != mesh.vertices.size(0)) std::abort();
}
