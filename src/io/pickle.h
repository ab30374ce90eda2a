// Pickles of plain data, read without running anything: numbers, text, tuples, lists, dictionaries, and the
// few constructors that a PyTorch checkpoint consists of.
//   source   CPython, Lib/pickletools.py (the opcodes); PyTorch, torch/serialization.py (persistent ids)
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aerogel/types.h"

#include "io/byte_reader.h"

namespace aerogel::io {

struct PickleValue {
  enum class Kind : std::uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    kTuple,
    kList,
    kDict,
    kGlobal,
    kStorage,
    kTensor
  };
  Kind kind = Kind::kNone;
  DType dtype = DType::kF32;  ///< of a storage's global and of a storage
  std::int64_t number = 0;    ///< kBool, kInt; kStorage: its count of elements
  std::string_view text;  ///< kText, kGlobal: "module.name"; kInt past 64 bits: its bytes; kStorage: its key
  std::vector<const PickleValue*>
      items;  ///< kTuple, kList; kDict: key, value, …; kTensor: storage, offset, sizes, strides
};

std::string_view kind_name(PickleValue::Kind kind);

/// Reads one pickle after another from `reader`, whose bytes must outlive the values; they live as long as
/// this.
class Unpickler {
 public:
  explicit Unpickler(ByteReader& reader) : reader_(reader) {}

  /// The next pickle. FormatError: an opcode or a global that is no plain data, a claim past the end.
  const PickleValue* load();

  /// Every storage that the pickles so far named, once per mention.
  const std::vector<const PickleValue*>& storages() const { return storages_; }

 private:
  using Kind = PickleValue::Kind;

  [[noreturn]] void fail(const std::string& wrong) const { reader_.fail_at(opcode_at_, wrong); }
  PickleValue* make(Kind kind);
  PickleValue* push(Kind kind);
  void push_number(Kind kind, std::int64_t number);
  PickleValue* pop();
  PickleValue* top(Kind kind);
  std::vector<const PickleValue*> pop_to_mark();
  void run(int opcode);
  bool run_scalar(int opcode);
  bool run_container(int opcode);
  bool run_memo(int opcode);
  void push_text(std::uint64_t length);
  void push_long(std::uint64_t length);
  void push_tuple(std::vector<const PickleValue*> items);
  void push_global(std::string_view module, std::string_view name);
  void append(std::vector<const PickleValue*> items, Kind kind);
  void reduce();
  void build();
  void persistent_id();

  ByteReader& reader_;
  std::uint64_t opcode_at_ = 0;
  std::deque<PickleValue> values_;
  std::deque<std::string> names_;  // of globals
  std::vector<const PickleValue*> storages_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, PickleValue*> memo_;
};

}  // namespace aerogel::io
