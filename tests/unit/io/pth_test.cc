#include "io/torch_pickle.h"
#include "io/zip.h"
#include "io_testing.h"

namespace aerogel::io {
namespace {

/// Pickles as torch.save writes them: protocol 2, with memos where a value comes again.
std::string text(const std::string& value) {
  return "X" + raw(static_cast<std::uint32_t>(value.size())) + value;
}
std::string number(std::int32_t value) { return "J" + raw(value); }
std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
std::string tuple(const std::vector<std::string>& items) {
  std::string bytes = "(";
  for (const std::string& item : items) bytes += item;
  return bytes + "t";
}
std::string numbers(const std::vector<std::int32_t>& values) {
  std::vector<std::string> items;
  for (const std::int32_t value : values) items.push_back(number(value));
  return tuple(items);
}
std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string bytes = "}(";
  for (const auto& [key, value] : items) bytes += text(key) + value;
  return bytes + "u";
}
const std::string kOrdered = global("collections", "OrderedDict") + ")R";

std::string storage(const std::string& type, const std::string& key, std::int32_t count) {
  return tuple({text("storage"), global("torch", type), text(key), text("cpu"), number(count)}) + "Q";
}
std::string tensor(const std::string& storage, std::int32_t offset, const std::vector<std::int32_t>& shape,
                   const std::vector<std::int32_t>& strides) {
  return global("torch._utils", "_rebuild_tensor_v2") +
         tuple({storage, number(offset), numbers(shape), numbers(strides), "\x89", kOrdered}) + "R";
}
std::string floats(const std::string& key, std::int32_t count) { return storage("FloatStorage", key, count); }
std::string pickle(const std::string& value) { return "\x80\x02" + value + "."; }

std::string archive(const std::string& value,
                    const std::vector<std::pair<std::string, std::string>>& storages,
                    const std::string& order = "little") {
  std::vector<std::pair<std::string, std::string>> members = {{"net/data.pkl", pickle(value)},
                                                              {"net/byteorder", order}};
  for (const auto& [key, bytes] : storages) members.emplace_back("net/data/" + key, bytes);
  members.emplace_back("net/version", "3\n");
  return pack_zip(members);
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}

TEST(Pth, ReadsAStateDict) {
  const std::string value = kOrdered + "(" + text("conv.weight") + tensor(floats("0", 6), 0, {2, 3}, {3, 1}) +
                            text("conv.bias") + global("torch._utils", "_rebuild_parameter") +
                            tuple({tensor(floats("1", 2), 0, {2}, {1}), "\x88", kOrdered}) + "R" +
                            text("steps") + tensor(storage("LongStorage", "2", 1), 0, {}, {}) + "u" +
                            dict({{"_metadata", kOrdered}}) + "b";
  const std::string bytes = archive(
      value, {{"0", raw(1.f, 2.f, 3.f, 4.f, 5.f, 6.f)}, {"1", raw(7.f, 8.f)}, {"2", raw(std::int64_t{9})}});
  const auto tensors = parse_pth(bytes, "bytes");
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors.at("conv.weight").shape(), (Dims{2, 3}));
  EXPECT_EQ(values<float>(tensors.at("conv.weight")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values<float>(tensors.at("conv.bias")), (std::vector<float>{7, 8}));
  EXPECT_EQ(tensors.at("steps").shape(), Dims{});
  EXPECT_EQ(values<std::int64_t>(tensors.at("steps")), std::vector<std::int64_t>{9});
  expect_no_prefix(bytes, [](std::string_view prefix) { parse_pth(prefix, "bytes"); });
}

TEST(Pth, ReadsEveryDtype) {
  const struct {
    const char* storage;
    DType dtype;
    std::string bytes;
  } types[] = {{"DoubleStorage", DType::kF64, raw(0.1)},
               {"HalfStorage", DType::kF16, raw(std::uint16_t{0x3c00})},
               {"BFloat16Storage", DType::kBF16, raw(std::uint16_t{0x3f80})},
               {"CharStorage", DType::kI8, raw(std::int8_t{-1})},
               {"ByteStorage", DType::kU8, raw(std::uint8_t{255})},
               {"ShortStorage", DType::kI16, raw(std::int16_t{-2})},
               {"IntStorage", DType::kI32, raw(-3)},
               {"LongStorage", DType::kI64, raw(std::int64_t{-4})},
               {"BoolStorage", DType::kBool, raw(std::uint8_t{7})}};
  for (const auto& type : types) {
    const auto tensors = parse_pth(
        archive(dict({{"a", tensor(storage(type.storage, "0", 1), 0, {1}, {1})}}), {{"0", type.bytes}}),
        "bytes");
    const Tensor& found = tensors.at("a");
    ASSERT_EQ(found.dtype(), type.dtype);
    const std::string expected = type.dtype == DType::kBool ? "\1" : type.bytes;
    EXPECT_EQ(std::string(static_cast<const char*>(found.raw()), itemsize(type.dtype)), expected)
        << type.storage;
  }
}

TEST(Pth, PacksStridedAndSharedStorages) {
  const std::string value = dict({{"whole", tensor(floats("0", 6), 0, {2, 3}, {3, 1})},
                                  {"transposed", tensor(floats("0", 6), 0, {3, 2}, {1, 3})},
                                  {"column", tensor(floats("0", 6), 2, {2}, {3})},
                                  {"expanded", tensor(floats("0", 6), 1, {2, 2}, {0, 1})},
                                  {"none", tensor(floats("0", 6), 6, {0, 3}, {3, 1})}});
  const auto tensors = parse_pth(archive(value, {{"0", raw(0.f, 1.f, 2.f, 3.f, 4.f, 5.f)}}), "bytes");
  EXPECT_EQ(values<float>(tensors.at("whole")), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values<float>(tensors.at("transposed")), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values<float>(tensors.at("column")), (std::vector<float>{2, 5}));
  EXPECT_EQ(values<float>(tensors.at("expanded")), (std::vector<float>{1, 2, 1, 2}));
  EXPECT_EQ(tensors.at("none").shape(), (Dims{0, 3}));
}

TEST(Pth, SwapsBigEndianArchives) {
  const auto tensors = parse_pth(
      archive(dict({{"a", tensor(storage("ShortStorage", "0", 1), 0, {1}, {1})}}), {{"0", "\1\2"}}, "big"),
      "bytes");
  EXPECT_EQ(values<std::int16_t>(tensors.at("a")), std::vector<std::int16_t>{0x0102});
}

TEST(Pth, JoinsAndSelectsDictionaries) {
  const std::string a = tensor(floats("0", 1), 0, {1}, {1});
  const std::string value =
      dict({{"epoch", "K\5"},
            {"loss", "G12345678"},
            {"name", text("net")},
            {"none", "N"},
            {"model_state", dict({{"backbone_3d.conv.weight", a}, {"head", dict({{"bias", a}})}})},
            {"optimizer_state", dict({{"lists", "]" + a + "a"}})}});
  const ScratchFolder folder;
  write_file(folder / "a.pth", archive(value, {{"0", raw(1.f)}}));
  const auto all = read_pth(folder / "a.pth");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all.contains("model_state.backbone_3d.conv.weight"));
  const auto chosen = read_pth(folder / "a.pth", "model_state");
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_TRUE(chosen.contains("backbone_3d.conv.weight"));
  EXPECT_TRUE(chosen.contains("head.bias"));
  EXPECT_EQ(read_weights(folder / "a.pth").size(), 2u);
  EXPECT_TRUE(read_weights(folder / "a.pth").contains("head.bias"));
  try {
    read_pth(folder / "a.pth", "state_dict");
    ADD_FAILURE() << "expected InvalidArgument";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("it has: model_state"), std::string::npos) << error.what();
  }
  EXPECT_THROW(read_weights(folder / "a.bin"), InvalidArgument);
  // `model` is a checkpoint's key only where nothing but an optimizer stands beside it.
  write_file(folder / "b.pt", archive(dict({{"model", dict({{"a", a}})}}), {{"0", raw(1.f)}}));
  EXPECT_TRUE(read_weights(folder / "b.pt").contains("a"));
  write_file(folder / "c.pt", archive(dict({{"model", dict({{"a", a}})}, {"head", a}}), {{"0", raw(1.f)}}));
  EXPECT_TRUE(read_weights(folder / "c.pt").contains("model.a"));
}

/// What torch.save wrote before 1.6.
std::string old_file(const std::string& value, const std::string& keys, const std::string& storages) {
  return pickle("\x8a\x0a" + from_hex("6cfc9c46f9206aa85019")) + pickle("M\xe9\3") +
         pickle(dict({{"protocol_version", "M\xe9\3"}, {"little_endian", "\x88"}})) + pickle(value) +
         pickle(keys) + storages;
}
std::string old_floats(const std::string& key, std::int32_t count) {
  return tuple(
             {text("storage"), global("torch", "FloatStorage"), text(key), text("cpu"), number(count), "N"}) +
         "Q";
}

TEST(Pth, ReadsTheFormBefore16) {
  const std::string value = dict({{"a", tensor(old_floats("9", 2), 0, {2}, {1})},
                                  {"lists", "]" + tensor(old_floats("7", 1), 0, {1}, {1}) + "a"}});
  const std::string keys = "](" + text("7") + text("9") + "e";
  const std::string storages = raw(std::int64_t{1}, 5.f, std::int64_t{2}) + raw(1.f, 2.f);
  const std::string bytes = old_file(value, keys, storages);
  const auto tensors = parse_pth(bytes, "bytes");
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(values<float>(tensors.at("a")), (std::vector<float>{1, 2}));
  expect_no_prefix(bytes, [](std::string_view prefix) { parse_pth(prefix, "bytes"); });

  const auto expect_bad = [&](const std::string& file, std::string_view part) {
    try {
      parse_pth(file, "bytes");
      ADD_FAILURE() << "expected a FormatError with " << part;
    } catch (const FormatError& error) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  };
  expect_bad(old_file(value, "](" + text("7") + text("8") + "e", storages), "found \"8\"");
  expect_bad(old_file(value, "](" + text("7") + "e", storages), "expected storage \"9\", found none");
  expect_bad(old_file(value, keys, raw(std::int64_t{1} << 40)), "expected 1 elements in storage \"7\"");
  expect_bad(old_file(value, "K\1", storages), "expected the list of the storages' keys");
}

/// Expects the pickle of `value` to be refused with `part` in the message.
void expect_refused(const std::string& value, std::string_view part) {
  try {
    parse_torch_pickle(pickle(value), "bytes");
    ADD_FAILURE() << "expected a FormatError with " << part << ", found none";
  } catch (const FormatError& error) {
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
  }
}

TEST(Pth, RunsNothing) {
  const std::string command = tuple({text("touch /tmp/never")});
  expect_format_error([&] { parse_torch_pickle(pickle(global("os", "system") + command + "R"), "bytes"); }, 2,
                      "found the global \"os.system\", which is not run");
  expect_refused(global("builtins", "eval") + command + "R", "builtins.eval");
  expect_refused(text("posix") + text("system") + "\x93", "posix.system");
  expect_refused(global("torch", "load") + command + "R", "torch.load");
  expect_refused(global("torch._utils", "_rebuild_tensor") + command + "R", "_rebuild_tensor");
  expect_refused(global("torch.", "FloatStorage") + ")R", "torch..FloatStorage");
  expect_refused(global("torch", "FloatStorage") + ")R", "expected arguments that fit torch.FloatStorage");
  expect_refused("ios\nsystem\n", "0x69");                                 // INST
  expect_refused("(" + global("os", "system") + "o", "os.system");         // OBJ
  expect_refused(global("collections", "OrderedDict") + ")\x81", "0x81");  // NEWOBJ
  expect_refused("\x82\1", "0x82");                                        // EXT1
  expect_refused("Pabc\n", "0x50");                                        // PERSID
  // A dictionary's state is dropped, never applied; nothing else has one.
  expect_refused("]}b", "expected a dictionary, found a list");
  expect_refused(kOrdered + tuple({"K\1"}) + "R", "expected a global and its arguments");
}

TEST(Pth, RefusesBrokenStacks) {
  expect_refused("", "expected one value at the end, found 0");
  expect_refused("NN", "found 2");
  expect_refused("R", "expected a value on the stack");
  expect_refused("t", "expected a mark");
  expect_refused("N(0", "0x30");
  expect_refused("(\x85", "expected a value on the stack");
  expect_refused("}(Nu", "an odd number");
  expect_refused("N(NNu", "expected a dictionary, found None");
  expect_refused("h\7", "remembered as 7");
  expect_refused("\x80\1N", "protocol 2 to 5, found 1");
  expect_refused("X" + raw(std::uint32_t{0xffffffff}), "expected 4294967295 bytes of text");
  expect_refused("K\1", "expected a dictionary of tensors, found an integer");
  expect_refused(tuple({text("module")}) + "Q", "expected the id of a storage");
}

TEST(Pth, RefusesTensorsOutsideTheirStorage) {
  const auto refuse = [](const std::string& value, std::string_view part) {
    expect_refused(dict({{"a", value}}), part);
  };
  refuse(tensor(floats("0", 6), 1, {2, 3}, {3, 1}), "\"a\": expected");
  refuse(tensor(floats("0", 6), 0, {2, 3}, {4, 1}), "inside a storage of 6 elements");
  refuse(tensor(floats("0", 6), -1, {1}, {1}), "an offset from 0 on");
  refuse(tensor(floats("0", 6), 0, {-1}, {1}), "integers from 0 on");
  refuse(tensor(floats("0", 6), 0, {1}, {-1}), "integers from 0 on");
  refuse(tensor(floats("0", 6), 0, {1, 1}, {1}), "a stride for each axis");
  refuse(tensor(floats("0", 6), 0, std::vector<std::int32_t>(9, 1), std::vector<std::int32_t>(9, 1)),
         "at most 8 axes");
  refuse(tensor(floats("0", 1), 0, {2147483647, 2147483647, 2147483647}, {0, 0, 0}), "inside a storage");
  refuse(tensor(floats("0", 1), 0, {9}, {0}), "at most 8 times its 1 elements");
  refuse(tensor(floats("0", 0), 0, {1}, {0}), "inside a storage of 0 elements");
  expect_refused(
      dict({{"a", tensor(floats("0", 1), 0, {5}, {0})}, {"b", tensor(floats("0", 1), 0, {4}, {0})}}),
      "\"b\": expected the tensors of storage \"0\"");
  expect_refused(dict({{"a", tensor(floats("0", 1), 0, {}, {})}, {"b", tensor(floats("0", 2), 0, {}, {})}}),
                 "as before, found 2");
  expect_refused(dict({{"a", tensor(floats("0", 1), 0, {}, {})}, {"a", tensor(floats("0", 1), 0, {}, {})}}),
                 "found \"a\" twice");
}

TEST(Pth, RefusesCirclesAndDoublings) {
  // A dictionary in itself.
  expect_refused("}q\1" + text(std::string(100, 'a')) + "h\1s", "nested up to 32 deep");
  // Each level holds the one below twice: 2^30 names from a few hundred bytes.
  std::string value = dict({{"t", "N"}});
  for (char level = 1; level < 30; ++level) {
    value = "}(" + text("a") + value + "q" + level + text("b") + "h" + level + "u";
  }
  expect_refused(value, "found them nested in each other");
}

TEST(Pth, RefusesLyingArchives) {
  const std::string value = dict({{"a", tensor(floats("0", 6), 0, {6}, {1})}});
  const auto expect_bad = [](const std::string& bytes, std::string_view part) {
    try {
      parse_pth(bytes, "bytes");
      ADD_FAILURE() << "expected a FormatError with " << part;
    } catch (const FormatError& error) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  };
  expect_bad(archive(value, {}), "expected a member net/data/0, found none");
  expect_bad(archive(value, {{"0", raw(1.f)}}), "expected 6 elements of f32");
  expect_bad(pack_zip({{"net/version", "3"}}), "with a member data.pkl, found none");
  expect_bad(pack_zip({{"a/data.pkl", ""}, {"b/data.pkl", ""}}), "expected one data.pkl");
  expect_bad(
      "\x7f"
      "ELF",
      "expected a PyTorch checkpoint");
  expect_bad("", "found nothing");
  try {
    parse_pth(archive(global("os", "system"), {}), "bytes");
    ADD_FAILURE() << "expected a FormatError";
  } catch (const FormatError& error) {
    EXPECT_EQ(error.path(), "bytes:net/data.pkl");
  }
}

}  // namespace
}  // namespace aerogel::io
