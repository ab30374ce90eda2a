#include "aerogel/error.h"

#include "fuzz_target.h"
#include "io/parsers.h"
#include "mesh_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check_mesh(aerogel::io::parse_glb(fuzz_bytes(data, size), "fuzz"));
  } catch (const aerogel::FormatError&) {
  }
  return 0;
}

namespace {

std::string number(std::size_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
  return bytes;
}

std::string glb(std::string json, const std::string& binary) {
  json.append((4 - json.size() % 4) % 4, ' ');
  const std::string body =
      number(json.size()) + "JSON" + json + number(binary.size()) + std::string("BIN\0", 4) + binary;
  return "glTF" + number(2) + number(12 + body.size()) + body;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  const std::string buffers =
      R"({"buffers":[{"byteLength":64}],"bufferViews":[{"buffer":0,"byteLength":36,"byteStride":12},)"
      R"({"buffer":0,"byteOffset":36,"byteLength":28}],"accessors":[)"
      R"({"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},)"
      R"({"bufferView":1,"componentType":5121,"count":3,"type":"SCALAR"},)"
      R"({"bufferView":1,"byteOffset":4,"componentType":5121,"normalized":true,"count":3,"type":"VEC4"}],)";
  const std::string meshes =
      R"("meshes":[{"primitives":[{"attributes":{"POSITION":0,"COLOR_0":2},"indices":1,"mode":4}]}])";
  const std::string binary = std::string(36, 'v') + std::string("\0\1\2\0", 4) + std::string(24, 'c');
  return {glb(buffers + meshes + "}", binary),
          glb(buffers + meshes +
                  R"(,"scene":0,"scenes":[{"nodes":[0,2]}],"nodes":[{"translation":[1,0,0],"children":[1]},)"
                  R"({"rotation":[0,0,0,1],"scale":[2,1,1],"mesh":0},)"
                  R"({"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,5,1],"mesh":0}],"extensionsRequired":["X"]})",
              binary)};
}
