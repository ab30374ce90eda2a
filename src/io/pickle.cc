#include "io/pickle.h"

#include <algorithm>

#include <fmt/core.h>

namespace aerogel::io {
namespace {

using Kind = PickleValue::Kind;

struct StorageName {
  std::string_view name;
  DType dtype;
};
constexpr StorageName kStorages[] = {
    {"torch.FloatStorage", DType::kF32}, {"torch.DoubleStorage", DType::kF64},
    {"torch.HalfStorage", DType::kF16},  {"torch.BFloat16Storage", DType::kBF16},
    {"torch.CharStorage", DType::kI8},   {"torch.ByteStorage", DType::kU8},
    {"torch.ShortStorage", DType::kI16}, {"torch.IntStorage", DType::kI32},
    {"torch.LongStorage", DType::kI64},  {"torch.BoolStorage", DType::kBool}};

constexpr std::string_view kDictionary = "collections.OrderedDict";
constexpr std::string_view kTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kParameter = "torch._utils._rebuild_parameter";

}  // namespace

std::string_view kind_name(Kind kind) {
  constexpr std::string_view kNames[] = {"None",     "a truth value", "an integer", "a float",
                                         "a text",   "a tuple",       "a list",     "a dictionary",
                                         "a global", "a storage",     "a tensor"};
  return kNames[static_cast<std::size_t>(kind)];
}

PickleValue* Unpickler::make(Kind kind) {
  values_.emplace_back();
  values_.back().kind = kind;
  return &values_.back();
}

PickleValue* Unpickler::push(Kind kind) {
  stack_.push_back(make(kind));
  return stack_.back();
}

void Unpickler::push_number(Kind kind, std::int64_t number) { push(kind)->number = number; }

PickleValue* Unpickler::pop() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
    fail("expected a value on the stack, found none");
  PickleValue* value = stack_.back();
  stack_.pop_back();
  return value;
}

/// The value on top, which stays there.
PickleValue* Unpickler::top(Kind kind) {
  PickleValue* value = pop();
  stack_.push_back(value);
  if (value->kind != kind)
    fail(fmt::format("expected {}, found {}", kind_name(kind), kind_name(value->kind)));
  return value;
}

std::vector<const PickleValue*> Unpickler::pop_to_mark() {
  if (marks_.empty()) fail("expected a mark on the stack, found none");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<const PickleValue*> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

void Unpickler::push_text(std::uint64_t length) {
  const std::string_view text = reader_.take(length, "text");
  push(Kind::kText)->text = text;
}

/// Two's complement, little-endian. Past 64 bits only the bytes are kept.
void Unpickler::push_long(std::uint64_t length) {
  const std::string_view bytes = reader_.take(length, "an integer");
  PickleValue* value = push(Kind::kInt);
  if (length > 8) {
    value->text = bytes;
    return;
  }
  std::uint64_t bits = !bytes.empty() && (bytes.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte)
    bits = bits << 8 | static_cast<unsigned char>(*byte);
  value->number = static_cast<std::int64_t>(bits);
}

void Unpickler::push_tuple(std::vector<const PickleValue*> items) {
  push(Kind::kTuple)->items = std::move(items);
}

/// The only door to what has a name: anything that is not listed here is refused before it could mean
/// anything.
void Unpickler::push_global(std::string_view module, std::string_view name) {
  const std::string full = std::string(module) + "." + std::string(name);
  const auto storage = std::find_if(std::begin(kStorages), std::end(kStorages),
                                    [&](const StorageName& known) { return known.name == full; });
  if (storage == std::end(kStorages) && full != kDictionary && full != kTensor && full != kParameter) {
    fail(fmt::format(
        "expected only tensors, dictionaries and plain values, found the global {}, which is not run",
        excerpt(full, 120)));
  }
  PickleValue* value = push(Kind::kGlobal);
  names_.push_back(full);
  value->text = names_.back();
  if (storage != std::end(kStorages)) value->dtype = storage->dtype;
}

void Unpickler::append(std::vector<const PickleValue*> items, Kind kind) {
  if (kind == Kind::kDict && items.size() % 2 != 0)
    fail("expected pairs for a dictionary, found an odd number");
  PickleValue* target = top(kind);
  target->items.insert(target->items.end(), items.begin(), items.end());
}

void Unpickler::reduce() {
  const PickleValue* arguments = pop();
  const PickleValue* callable = pop();
  if (callable->kind != Kind::kGlobal || arguments->kind != Kind::kTuple) {
    fail(fmt::format("expected a global and its arguments, found {} and {}", kind_name(callable->kind),
                     kind_name(arguments->kind)));
  }
  const auto& items = arguments->items;
  if (callable->text == kDictionary && items.empty()) {
    push(Kind::kDict);
    return;
  }
  if (callable->text == kParameter && !items.empty() && items[0]->kind == Kind::kTensor) {
    push(Kind::kTensor)->items = items[0]->items;
    return;
  }
  const bool is_tensor = callable->text == kTensor && items.size() >= 4 && items[0]->kind == Kind::kStorage &&
                         items[1]->kind == Kind::kInt && items[2]->kind == Kind::kTuple &&
                         items[3]->kind == Kind::kTuple;
  if (!is_tensor) {
    std::string found;
    for (const PickleValue* item : items) found += fmt::format(" {},", kind_name(item->kind));
    fail(fmt::format("expected arguments that fit {}, found{}", callable->text,
                     found.empty() ? " none" : found));
  }
  push(Kind::kTensor)->items.assign(items.begin(), items.begin() + 4);
}

/// Attributes of a dictionary: state dicts carry `_metadata` there, which says nothing about their tensors.
void Unpickler::build() {
  pop();
  top(Kind::kDict);
}

/// ('storage', its class, key, device, number of elements), and in the old form a view of another storage.
void Unpickler::persistent_id() {
  const PickleValue* id = pop();
  const auto& items = id->items;
  const bool is_storage = id->kind == Kind::kTuple && items.size() >= 5 && items[0]->kind == Kind::kText &&
                          items[0]->text == "storage" && items[1]->kind == Kind::kGlobal &&
                          items[2]->kind == Kind::kText && items[4]->kind == Kind::kInt &&
                          items[4]->number >= 0 && items[4]->text.empty();
  if (!is_storage || !items[1]->text.ends_with("Storage")) {
    fail("expected the id of a storage: its class, key, device and size, found other values");
  }
  if (items.size() > 5 && items[5]->kind != Kind::kNone) {
    fail("expected a storage of its own, found a view of another, as PyTorch wrote before 0.4");
  }
  PickleValue* storage = push(Kind::kStorage);
  storage->dtype = items[1]->dtype;
  storage->text = items[2]->text;
  storage->number = items[4]->number;
  storages_.push_back(storage);
}

bool Unpickler::run_scalar(int opcode) {
  switch (opcode) {
    case 'N':
      push(Kind::kNone);
      return true;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      push_number(Kind::kBool, opcode == 0x88);
      return true;
    case 'J':
      push_number(Kind::kInt, static_cast<std::int32_t>(reader_.little<std::uint32_t>("an integer")));
      return true;
    case 'K':
      push_number(Kind::kInt, reader_.little<std::uint8_t>("an integer"));
      return true;
    case 'M':
      push_number(Kind::kInt, reader_.little<std::uint16_t>("an integer"));
      return true;
    case 0x8a:  // LONG1
      push_long(reader_.little<std::uint8_t>("the length of an integer"));
      return true;
    case 'G':  // a float, of which nobody asks the value
      reader_.take(8, "a float");
      push(Kind::kFloat);
      return true;
    case 'X':  // BINUNICODE
    case 'T':  // BINSTRING
    case 'B':  // BINBYTES
      push_text(reader_.little<std::uint32_t>("the length of a text"));
      return true;
    case 0x8c:  // SHORT_BINUNICODE
    case 'U':   // SHORT_BINSTRING
    case 'C':   // SHORT_BINBYTES
      push_text(reader_.little<std::uint8_t>("the length of a text"));
      return true;
    case 0x8d:  // BINUNICODE8
      push_text(reader_.little<std::uint64_t>("the length of a text"));
      return true;
    default:
      return false;
  }
}

bool Unpickler::run_container(int opcode) {
  switch (opcode) {
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case '}':
      push(Kind::kDict);
      return true;
    case ']':
      push(Kind::kList);
      return true;
    case ')':
      push(Kind::kTuple);
      return true;
    case 't':
      push_tuple(pop_to_mark());
      return true;
    case 0x85:
    case 0x86:
    case 0x87: {  // TUPLE1 to TUPLE3
      std::vector<const PickleValue*> items(static_cast<std::size_t>(opcode - 0x84));
      for (auto item = items.rbegin(); item != items.rend(); ++item) *item = pop();
      push_tuple(std::move(items));
      return true;
    }
    case 's': {
      const PickleValue* value = pop();
      const PickleValue* key = pop();
      append({key, value}, Kind::kDict);
      return true;
    }
    case 'u':
      append(pop_to_mark(), Kind::kDict);
      return true;
    case 'a': {
      const PickleValue* value = pop();
      append({value}, Kind::kList);
      return true;
    }
    case 'e':
      append(pop_to_mark(), Kind::kList);
      return true;
    default:
      return false;
  }
}

bool Unpickler::run_memo(int opcode) {
  const auto put = [this](std::uint32_t key) {
    PickleValue* value = pop();
    stack_.push_back(value);
    memo_[key] = value;
  };
  const auto get = [this](std::uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail(fmt::format("expected a value remembered as {}, found none", key));
    stack_.push_back(found->second);
  };
  switch (opcode) {
    case 'q':
      put(reader_.little<std::uint8_t>("a memo"));
      return true;
    case 'r':
      put(reader_.little<std::uint32_t>("a memo"));
      return true;
    case 0x94:  // MEMOIZE
      put(static_cast<std::uint32_t>(memo_.size()));
      return true;
    case 'h':
      get(reader_.little<std::uint8_t>("a memo"));
      return true;
    case 'j':
      get(reader_.little<std::uint32_t>("a memo"));
      return true;
    default:
      return false;
  }
}

void Unpickler::run(int opcode) {
  if (run_scalar(opcode) || run_container(opcode) || run_memo(opcode)) return;
  switch (opcode) {
    case 0x80: {  // PROTO
      const int protocol = reader_.little<std::uint8_t>("the protocol");
      if (protocol < 2 || protocol > 5)
        fail(fmt::format("expected pickle protocol 2 to 5, found {}", protocol));
      return;
    }
    case 0x95:  // FRAME
      reader_.take(8, "a frame");
      return;
    case 'c': {
      const std::string_view module = reader_.line();
      return push_global(module, reader_.line());
    }
    case 0x93: {  // STACK_GLOBAL
      const PickleValue* name = pop();
      const PickleValue* module = pop();
      if (name->kind != Kind::kText || module->kind != Kind::kText)
        fail("expected the name of a global, found none");
      return push_global(module->text, name->text);
    }
    case 'R':
      return reduce();
    case 'b':
      return build();
    case 'Q':
      return persistent_id();
    default:
      fail(fmt::format("expected an opcode of plain data, found {:#04x}", opcode));
  }
}

const PickleValue* Unpickler::load() {
  stack_.clear();
  marks_.clear();
  memo_.clear();
  for (;;) {
    opcode_at_ = reader_.offset();
    const int opcode = reader_.little<std::uint8_t>("a pickle");
    if (opcode == '.') break;
    run(opcode);
  }
  if (stack_.size() != 1) fail(fmt::format("expected one value at the end, found {}", stack_.size()));
  return stack_[0];
}

}  // namespace aerogel::io
