#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "io_testing.h"

namespace aerogel::io {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

template <class Call>
void expect_device_error(Call&& call, const std::string& path) {
  try {
    call();
    ADD_FAILURE() << "expected a DeviceError that names " << path;
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

TEST(File, ComesBackAndLeavesNothingElse) {
  const ScratchFolder folder;
  const std::string bytes("a\0b\n", 4);
  write_file(folder / "f", bytes);
  EXPECT_EQ(read_file(folder / "f"), bytes);
  write_file(folder / "f", "");
  EXPECT_EQ(read_file(folder / "f"), "");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(File, WritesIntoTheWorkingFolder) {
  const ScratchFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file("relative", "text");
  fs::current_path(before);
  EXPECT_EQ(read_file(folder / "relative"), "text");
}

TEST(File, KeepsPermissionsAndLinks) {
  const ScratchFolder folder;
  write_file(folder / "f", "old");
  fs::permissions(folder / "f", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("f", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "f"), "new");
  EXPECT_EQ(fs::status(folder / "f").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(File, RefusesWhatIsNoFile) {
  const ScratchFolder folder;
  expect_device_error([&] { read_file(folder / "absent"); }, (folder / "absent").string());
  expect_device_error([&] { read_file(folder.path()); }, folder.path().string());
  expect_device_error([&] { write_file(folder.path(), "text"); }, folder.path().string());
  expect_device_error([&] { write_file(folder / "absent/f", "text"); }, (folder / "absent/f").string());
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_device_error([&] { write_file(folder / "pipe", "text"); }, (folder / "pipe").string());
  expect_device_error([] { write_file("/dev/null", "text"); }, "/dev/null");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(File, ThreadsMayWriteTheSameFile) {
  const ScratchFolder folder;
  std::vector<std::thread> threads;
  for (char c : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&folder, c] {
      for (int i = 0; i < 10; ++i) write_file(folder / "f", std::string(1000, c));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string bytes = read_file(folder / "f");
  EXPECT_EQ(bytes, std::string(1000, bytes[0]));
  EXPECT_EQ(files_in(folder.path()), 1u);
}

}  // namespace
}  // namespace aerogel::io
