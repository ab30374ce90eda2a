#include <cmath>

#include "io_testing.h"
#include "shared_data.h"

namespace aerogel::io {
namespace {

std::int64_t size_of(const std::string& text) { return static_cast<std::int64_t>(text.size()); }

template <class T>
std::vector<T> values(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}
using Corners = std::vector<std::int64_t>;

TEST(Obj, ReadsVerticesFacesAndColours) {
  const Mesh mesh = parse_obj(
      "# made by hand\nmtllib a.mtl\no thing\nv 0 0 0 1 0.5 0\nv 1 0 0 0 0 1\r\nv 1 1e-1 0 1.0 1 1 1\n"
      "v -1 nan 2 0 0 0\nvt 0 0\nvn 0 0 1\ns off\nf 1 2 3\nf 1/1 2/1 3/1 4/1\nf -1//1 -2//1 -3//1\nf 1/1/1 "
      "2/1/1 3/1/1",
      "bytes");
  EXPECT_EQ(mesh.vertices.shape(), (Dims{4, 3}));
  EXPECT_EQ(mesh.vertices.data<double>()[7], 0.1);
  EXPECT_TRUE(std::isnan(mesh.vertices.data<double>()[10]));
  EXPECT_EQ(values<std::int64_t>(mesh.faces), (Corners{0, 1, 2, 0, 1, 2, 0, 2, 3, 3, 2, 1, 0, 1, 2}));
  EXPECT_FALSE(
      mesh.colours.defined());  // the third vertex has seven numbers, which writers order differently
}

TEST(Obj, KeepsColoursOfAllVertices) {
  const Mesh mesh = parse_obj("v 0 0 0 1 0.5 0\nv 1 0 0 0 0 1\n", "bytes");
  EXPECT_EQ(values<float>(mesh.colours), (std::vector<float>{1, 0.5, 0, 0, 0, 1}));
  EXPECT_FALSE(parse_obj("v 0 0 0 1 0.5 0\nv 1 0 0\n", "bytes").colours.defined());
}

TEST(Obj, RefusesBadLines) {
  const auto expect_bad = [](const std::string& text, std::int64_t offset, std::string_view part) {
    expect_format_error([&] { parse_obj(text, "bytes"); }, offset, part);
  };
  const std::string good = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  expect_bad("v 0 0\n", 0, "line 1: expected 3, 4, 6 or 7 numbers of a vertex, found 2");
  expect_bad(good + "v 0 0 0 1 1\n", 24, "line 4: expected 3, 4, 6 or 7 numbers of a vertex, found 5");
  expect_bad("v 0 0 0 1 1 1 1 1\n", 0, "found more");
  expect_bad("v 0 0 x\n", 0, "found \"x\"");
  expect_bad(good + "f 1 2\n", 24, "line 4: expected at least 3 corners");
  expect_bad(good + "f 1 2 0\n", 24, "found \"0\"");
  expect_bad(good + "f 1 2 -4\n", 24, "from -1 to -3, found \"-4\"");
  expect_bad(good + "f 1 2 1.5\n", 24, "found \"1.5\"");
  expect_bad(good + "f 1 2 99999999999999999999\n", 24, "line 4: expected the number of a vertex");
  expect_bad(good + "f 1 2 3\nf 1 2 4\n", 32, "face 1: expected vertices 0 to 2, found 3");
  expect_bad(
      "\x7f"
      "ELF\n",
      0, "line 1: expected a keyword of .obj");
}

TEST(Obj, ReadsRealMeshes) {
  const struct {
    const char* file;
    std::int64_t vertices, triangles;
  } meshes[] = {{"spot.obj", 2930, 5856}, {"suzanne.obj", 507, 968}, {"teapot.obj", 3644, 6320}};
  for (const auto& mesh : meshes) {
    const auto path = shared_data(std::string("data/meshes/") + mesh.file);
    if (!path) GTEST_SKIP() << "no " << mesh.file << " under AEROGEL_SHARED";
    const Mesh found = read_mesh(*path);
    EXPECT_EQ(found.vertices.size(0), mesh.vertices) << mesh.file;
    EXPECT_EQ(found.faces.size(0), mesh.triangles) << mesh.file;
  }
}

const std::string kPlyElements =
    "element vertex 4\nproperty float x\nproperty float y\nproperty double z\nproperty uchar red\n"
    "property uchar green\nproperty uchar blue\nelement face 2\nproperty uchar flag\n"
    "property list uchar int vertex_indices\nproperty list uchar float texcoord\nend_header\n";

TEST(PlyMesh, ReadsPolygonsAsFans) {
  const std::string ascii =
      "ply\nformat ascii 1.0\n" + kPlyElements +
      "0 0 0 255 0 0\n1 0 0 0 255 0\n1 1 0.1 0 0 51\n0 1 0 0 0 0\n7 4 0 1 2 3 1 0.5\n7 3 2 1 0 0\n";
  const auto vertex = [](float x, float y, double z, std::uint8_t r, std::uint8_t g, std::uint8_t b) {
    return raw(x, y, z, r, g, b);
  };
  const std::string binary = "ply\nformat binary_little_endian 1.0\n" + kPlyElements +
                             vertex(0, 0, 0, 255, 0, 0) + vertex(1, 0, 0, 0, 255, 0) +
                             vertex(1, 1, 0.1, 0, 0, 51) + vertex(0, 1, 0, 0, 0, 0) +
                             raw(std::uint8_t{7}, std::uint8_t{4}, 0, 1, 2, 3, std::uint8_t{1}, 0.5f) +
                             raw(std::uint8_t{7}, std::uint8_t{3}, 2, 1, 0, std::uint8_t{0});
  for (const std::string& bytes : {ascii, binary}) {
    const Mesh mesh = parse_ply_mesh(bytes, "bytes");
    EXPECT_EQ(values<double>(mesh.vertices), (std::vector<double>{0, 0, 0, 1, 0, 0, 1, 1, 0.1, 0, 1, 0}));
    EXPECT_EQ(values<std::int64_t>(mesh.faces), (Corners{0, 1, 2, 0, 2, 3, 2, 1, 0}));
    EXPECT_EQ(mesh.colours.data<float>()[8], 0.2f);
    EXPECT_TRUE(ply_has_faces(bytes, "bytes"));
  }
  expect_no_prefix(binary, [](std::string_view prefix) { parse_ply_mesh(prefix, "bytes"); });
}

TEST(PlyMesh, TakesPointsWithoutFaces) {
  const std::string bytes =
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty int x\nproperty int y\nproperty int z\nelement face "
      "0\n"
      "property list uchar int vertex_index\nend_header\n1 2 3\n";
  EXPECT_EQ(parse_ply_mesh(bytes, "bytes").faces.shape(), (Dims{0, 3}));
  EXPECT_FALSE(ply_has_faces(bytes, "bytes"));
}

TEST(PlyMesh, RefusesBadFaces) {
  const std::string head =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
      "element face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n";
  const auto expect_bad = [&](const std::string& face, std::string_view part) {
    expect_format_error([&] { parse_ply_mesh(head + face, "bytes"); }, size_of(head), part);
  };
  expect_bad("3 0 1 3\n", "face 0: expected vertices 0 to 2, found 3");
  expect_bad("3 0 1 -1\n", "expected the number of a vertex, found -1");
  expect_bad("3 0 1 1.5\n", "found 1.5");
  expect_bad("2 0 1\n", "face 0: expected at least 3 corners, found 2");
  expect_format_error(
      [] {
        parse_ply_mesh("ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n", "bytes");
      },
      0, "expected a vertex property y");
}

std::string padded(std::string text, char with) {
  text.append((4 - text.size() % 4) % 4, with);
  return text;
}

std::string glb(const std::string& json, const std::string& binary) {
  const std::string text = padded(json, ' ');
  const std::string body = raw(static_cast<std::uint32_t>(text.size()), std::uint32_t{0x4e4f534a}) + text +
                           raw(static_cast<std::uint32_t>(binary.size()), std::uint32_t{0x004e4942}) + binary;
  return "glTF" + raw(std::uint32_t{2}, static_cast<std::uint32_t>(12 + body.size())) + body;
}

/// Three vertices (0, 0, 0), (1, 0, 0), (0, 1, 0), then the indices 0 1 2 as u16.
const std::string kTriangle = raw(0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f) +
                              raw(std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{0});
const std::string kBuffers =
    R"("buffers":[{"byteLength":44}],
       "bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":6}],
       "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},
                    {"bufferView":1,"componentType":5123,"count":3,"type":"SCALAR"}],)";
const std::string kMesh = R"("meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}])";

TEST(Glb, ReadsIndexedTriangles) {
  const std::string bytes = glb("{" + kBuffers + kMesh + "}", kTriangle);
  const Mesh mesh = parse_glb(bytes, "bytes");
  EXPECT_EQ(values<double>(mesh.vertices), (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(values<std::int64_t>(mesh.faces), (Corners{0, 1, 2}));
  expect_no_prefix(bytes, [](std::string_view prefix) { parse_glb(prefix, "bytes"); });
}

TEST(Glb, AppliesTheTransformsOfNodes) {
  // A quarter turn about z below a shift, and the same mesh again under a matrix.
  const std::string nodes =
      R"(,"scene":0,"scenes":[{"nodes":[0,2]}],"nodes":[
         {"translation":[10,0,0],"children":[1]},
         {"rotation":[0,0,0.7071067811865476,0.7071067811865476],"scale":[2,1,1],"mesh":0},
         {"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,5,1],"mesh":0}])";
  const Mesh mesh = parse_glb(glb("{" + kBuffers + kMesh + nodes + "}", kTriangle), "bytes");
  const std::vector<double> expected = {10, 0, 0, 10, 2, 0, 9, 0, 0, 0, 0, 5, 1, 0, 5, 0, 1, 5};
  ASSERT_EQ(mesh.vertices.numel(), 18);
  for (std::size_t i = 0; i < 18; ++i) EXPECT_NEAR(mesh.vertices.data<double>()[i], expected[i], 1e-12) << i;
  EXPECT_EQ(values<std::int64_t>(mesh.faces), (Corners{0, 1, 2, 3, 4, 5}));
}

TEST(Glb, ReadsStripsFansColoursAndStrides) {
  // Four interleaved vertices: position f32 ×3, colour u8 ×4 normalized.
  std::string binary;
  for (int i = 0; i < 4; ++i) {
    binary += raw(static_cast<float>(i), 0.f, 0.f, std::uint8_t{255}, std::uint8_t{0}, std::uint8_t{51},
                  std::uint8_t{255});
  }
  const auto file = [&](int mode) {
    return glb(R"({"buffers":[{"byteLength":64}],"bufferViews":[{"buffer":0,"byteLength":64,"byteStride":16}],
                 "accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},
                 {"bufferView":0,"byteOffset":12,"componentType":5121,"normalized":true,"count":4,"type":"VEC4"}],
                 "meshes":[{"primitives":[{"attributes":{"POSITION":0,"COLOR_0":1},"mode":)" +
                   std::to_string(mode) + "}]}]}",
               binary);
  };
  const Mesh strip = parse_glb(file(5), "bytes");
  EXPECT_EQ(values<std::int64_t>(strip.faces), (Corners{0, 1, 2, 1, 3, 2}));
  EXPECT_EQ(strip.vertices.data<double>()[9], 3);
  EXPECT_FLOAT_EQ(strip.colours.data<float>()[5], 0.2f);
  EXPECT_EQ(values<std::int64_t>(parse_glb(file(6), "bytes").faces), (Corners{0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(parse_glb(file(1), "bytes").faces.size(0), 0);  // lines have no surface
  expect_format_error([&] { parse_glb(file(4), "bytes"); }, 20, "expected three corners a triangle, found 4");
}

TEST(Glb, RefusesLyingFiles) {
  const auto expect_bad = [](const std::string& from, const std::string& to, std::string_view part) {
    std::string json = "{" + kBuffers + kMesh + "}";
    const std::size_t at = json.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
    expect_format_error([&] { parse_glb(glb(json, kTriangle), "bytes"); }, 20, part);
  };
  expect_bad(R"("count":3,"type":"VEC3")", R"("count":4,"type":"VEC3")",
             "accessors[0]: expected 4 rows of 12 bytes");
  expect_bad(R"("count":3,"type":"VEC3")", R"("count":18446744073709551615,"type":"VEC3")",
             "accessors[0]: expected");
  expect_bad(R"("count":3,"type":"VEC3")", R"("count":-3,"type":"VEC3")", "a whole number from 0 on");
  expect_bad(R"("count":3,"type":"VEC3")", R"("count":2,"type":"VEC3")",
             "indices: expected vertices 0 to 1, found 2");
  expect_bad(R"("byteLength":36)", R"("byteLength":36,"byteStride":4)", "4 apart");
  expect_bad(R"("byteLength":36)", R"("byteLength":4000000000)", "bufferViews[0]: expected 4000000000 bytes");
  expect_bad(R"("byteLength":44)", R"("byteLength":44,"uri":"a.bin")", "found another buffer");
  expect_bad(R"("bufferView":0)", R"("bufferView":7)", "expected an entry 7 of bufferViews, found 2");
  expect_bad(R"("bufferView":0,)", R"("sparse":{},)", "expected dense rows");
  expect_bad("5126", "5130", "found 5130");
  expect_bad("5123", "5122", "without a sign");
  expect_bad("\"VEC3\"", "\"MAT4\"", "found \"MAT4\"");
  expect_bad(R"("POSITION":0)", R"("POSITION":9)", "expected an entry 9 of accessors");
  expect_bad(R"("POSITION":0)", R"("POSITION":1)", "POSITION: expected VEC3");
  expect_bad(R"("indices":1)", R"("indices":1,"extensions":{"KHR_draco_mesh_compression":{}})", "draco");
  expect_bad(R"("buffers")", R"("extensionsRequired":["EXT_meshopt_compression"],"buffers")", "meshopt");
  expect_bad(R"("meshes":[{)", R"("scenes":[{"nodes":[0]}],"nodes":[{"children":[0]}],"meshes":[{)",
             "nodes[0]: expected nodes to form trees");
  expect_bad(R"("meshes":[{)", R"("scenes":[{"nodes":[0]}],"nodes":[{"scale":[1,2]}],"meshes":[{)",
             "scale: expected 3 numbers, found 2");
  expect_bad(R"("meshes":[{)", R"("scenes":[{"nodes":7}],"meshes":[{)", "nodes: expected an array");

  const std::string good = glb("{" + kBuffers + kMesh + "}", kTriangle);
  const auto expect_bad_bytes = [&](std::size_t at, const std::string& value, std::int64_t offset,
                                    std::string_view part) {
    std::string bytes = good;
    bytes.replace(at, value.size(), value);
    expect_format_error([&] { parse_glb(bytes, "bytes"); }, offset, part);
  };
  expect_bad_bytes(0, "GLTF", 0, "found \"GLTF\"");
  expect_bad_bytes(4, raw(std::uint32_t{1}), 4, "found 1");
  expect_bad_bytes(8, raw(std::uint32_t{9}), 8, "found 9");
  expect_bad_bytes(12, raw(std::uint32_t{4000000000}), 20, "expected 4000000000 bytes");
  expect_bad_bytes(16, "BIN", 16, "expected a JSON chunk");
  expect_format_error([&] { parse_glb(glb("{]", ""), "bytes"); }, 21, "expected JSON");
  expect_format_error([&] { parse_glb(glb("[]", ""), "bytes"); }, 20, "expected a JSON object");
}

TEST(Glb, BoundsInstances) {
  // A long strip that many nodes repeat.
  std::string nodes = R"("scenes":[{"nodes":[)";
  std::string list;
  for (int i = 0; i < 3000; ++i) {
    nodes += (i > 0 ? "," : "") + std::to_string(i);
    list += std::string(i > 0 ? "," : "") + R"({"mesh":0})";
  }
  nodes += "]}],\"nodes\":[" + list + "],";
  const std::string json = "{" + nodes +
                           R"("accessors":[{"componentType":5126,"count":30000,"type":"VEC3"}],
         "meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":5}]}]})";
  expect_format_error([&] { parse_glb(glb(json, std::string(30000, '\0')), "bytes"); }, 20,
                      "found more instances");
}

TEST(Mesh, KnowsItsEndings) {
  const ScratchFolder folder;
  write_file(folder / "a.OBJ", "v 0 0 0\n");
  EXPECT_EQ(read_mesh(folder / "a.OBJ").vertices.size(0), 1);
  EXPECT_THROW(read_mesh(folder / "a.stl"), InvalidArgument);
}

}  // namespace
}  // namespace aerogel::io
