#include <algorithm>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

template <class Error, class Call>
void expect_refusal(Call&& call, const std::string& path) {
  try {
    call();
    ADD_FAILURE() << "expected an error that names " << path;
  } catch (const Error& error) {
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

TEST(File, RefusesWhatIsNotThere) {
  const ScratchFolder folder;
  expect_refusal<DeviceError>([&] { read_file(folder / "absent"); }, (folder / "absent").string());
  expect_refusal<DeviceError>([&] { write_file(folder / "absent/f", "text"); },
                              (folder / "absent/f").string());
  EXPECT_EQ(files_in(folder.path()), 0u);
}

TEST(File, RefusesWhatIsNoFileWithoutOpeningIt) {  // opening a pipe without a writer never returns
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", folder / "link.npy");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string socket_path = (folder / "socket").string();
  ASSERT_LT(socket_path.size(), sizeof(address.sun_path));
  std::copy(socket_path.begin(), socket_path.end(), address.sun_path);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  for (const fs::path& path : {folder.path(), folder / "pipe", folder / "link.npy", folder / "socket",
                               fs::path("/dev/null"), fs::path("/dev/zero")}) {
    expect_refusal<InvalidArgument>([&] { read_file(path); }, path.string());
    expect_refusal<InvalidArgument>([&] { write_file(path, "text"); }, path.string());
  }
  expect_refusal<InvalidArgument>([&] { read_npy(folder / "link.npy"); }, "this is a pipe");
  ::close(socket);
  EXPECT_EQ(files_in(folder.path()), 3u);
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
