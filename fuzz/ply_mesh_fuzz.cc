#include "aerogel/error.h"

#include "fuzz_target.h"
#include "io/parsers.h"
#include "mesh_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto bytes = fuzz_bytes(data, size);
    const auto mesh = aerogel::io::parse_ply_mesh(bytes, "fuzz");
    check_mesh(mesh);
    if (mesh.faces.size(0) > 0 && !aerogel::io::ply_has_faces(bytes, "fuzz")) std::abort();
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const std::string elements =
      "element vertex 4\nproperty char x\nproperty char y\nproperty uchar z\nproperty uchar red\n"
      "property uchar green\nproperty ushort blue\nelement face 1\nproperty uchar flag\n"
      "property list uchar char vertex_index\nproperty list uchar float texcoord\nend_header\n";
  std::string body;
  for (int i = 0; i < 4; ++i) body += "xyzrgbb";
  body += std::string("f\4\0\1\2\3\1uuuu", 11);
  return {"ply\nformat ascii 1.0\n" + elements +
              "0 0 0 1 2 3\n1 0 0 1 2 3\n1 1 0 1 2 3\n0 1 0 1 2 3\n0 4 0 1 2 3 1 0.5\n",
          "ply\nformat binary_little_endian 1.0\n" + elements + body,
          "ply\nformat binary_big_endian 1.0\n" + elements + body};
}
