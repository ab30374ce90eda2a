#include "io_testing.h"

namespace aerogel::io {
namespace {

const Tensor kArray = Tensor::from<float>({2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});

TEST(Points, ReadsEveryEndingInAnyCase) {
  const ScratchFolder folder;
  write_npy(folder / "a.NPY", kArray);
  write_npz(folder / "a.Npz", {{"pc", kArray}, {"other", Tensor::zeros({1}, DType::kI8)}});
  write_file(folder / "a.BIN", raw(1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f));
  write_ply(folder / "a.PLY", Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 5, 6, 7}),
            {{"c3", Tensor::from<float>({2}, std::vector<float>{4, 8})}});
  write_file(folder / "a.Pcd",
             "FIELDS x y z c3\nSIZE 4 4 4 4\nTYPE F F F F\nWIDTH 2\nDATA ascii\n1 2 3 4\n5 6 7 8\n");
  for (const char* name : {"a.NPY", "a.Npz", "a.BIN", "a.PLY", "a.Pcd"}) {
    const PointTable table = read_points(folder / name);
    ASSERT_EQ(table.names.size(), 4u) << name;
    EXPECT_EQ(table.columns[0], (std::vector<double>{1, 5})) << name;
    EXPECT_EQ(table.columns[3], (std::vector<double>{4, 8})) << name;
  }
}

TEST(Points, NamesTheColumnsOfArrays) {
  EXPECT_EQ(points_from_array(kArray, "bytes", {}).names, (std::vector<std::string>{"x", "y", "z", "c3"}));
  EXPECT_EQ(points_from_array(kArray, "bytes", {"z", "y", "x", "t"}).find("t"), 3);
  EXPECT_THROW(points_from_array(kArray, "bytes", {"x", "y", "z"}), InvalidArgument);
  EXPECT_THROW(points_from_array(kArray, "bytes", {"x", "y", "z", "Z"}), InvalidArgument);
}

TEST(Points, TakesViewsAndIntegers) {
  const int axes[] = {1, 0};
  const Tensor view =
      Tensor::from<std::int16_t>({3, 2}, std::vector<std::int16_t>{1, 2, 3, 4, 5, 6}).permute(axes);
  EXPECT_EQ(points_from_array(view, "bytes", {}).columns[1], (std::vector<double>{3, 4}));
}

TEST(Points, RefusesArraysThatAreNoPoints) {
  for (const Tensor& array : {Tensor::zeros({3}, DType::kF32), Tensor::zeros({2, 2}, DType::kF32),
                              Tensor::zeros({2, 3, 1}, DType::kF32), Tensor::zeros({2, 3}, DType::kBool),
                              Tensor::zeros({0, std::int64_t{1} << 40}, DType::kF32)}) {
    expect_format_error([&] { points_from_array(array, "bytes", {}); }, -1, "found " + array.str());
  }
}

TEST(Points, RefusesOptionsThatDoNotFit) {
  const ScratchFolder folder;
  EXPECT_THROW(read_points(folder / "a.pcd", {{"x", "y", "z"}, ""}), InvalidArgument);
  EXPECT_THROW(read_points(folder / "a.npy", {{}, "pc"}), InvalidArgument);
  EXPECT_THROW(read_points(folder / "a.bin"), DeviceError);
  try {
    read_points(folder / "a.xyz");
    ADD_FAILURE() << "expected InvalidArgument";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(".bin .pcd .ply .las .npy .npz"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace aerogel::io
