#include "io/safetensors_header.h"

#include <limits>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"

#include "io/numbers.h"

namespace aerogel::io {
namespace {

using nlohmann::json;

/// Receives the parser's events and keeps no tree, so that neither depth nor size of the header costs
/// anything. Depth 1 holds the names, 2 an entry's keys, 3 the numbers of its arrays.
class HeaderEvents : public json::json_sax_t {
 public:
  HeaderEvents(const std::string& path, std::uint64_t base) : path_(path), base_(base) {}

  std::vector<SafetensorsEntry> take() { return std::move(entries_); }

  bool start_object(std::size_t) override {
    if (depth() == 1 && !in_metadata()) begin_entry();
    if (depth() >= 2 && !in_metadata()) fail("expected a value, found an object");
    open();
    return true;
  }
  bool end_object() override {
    if (depth() == 2 && !in_metadata()) end_entry();
    levels_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override {
    const bool belongs = depth() == 2 && (key_ == "shape" || key_ == "data_offsets");
    if (!belongs && (depth() < 2 || !in_metadata())) fail("expected an object, found an array");
    open();
    return true;
  }
  bool end_array() override {
    if (depth() == 3 && !in_metadata() && key_ == "data_offsets" && offsets_ != 2) {
      fail(fmt::format("expected 2 data_offsets, found {}", offsets_));
    }
    levels_.pop_back();
    return true;
  }
  bool key(std::string& name) override {
    if (!levels_.back().insert(name).second)
      fail(fmt::format("expected each key once, found {} again", excerpt(name)));
    if (depth() == 1) name_ = name;
    if (depth() == 2) key_ = name;
    if (depth() == 2 && !in_metadata() && name != "dtype" && name != "shape" && name != "data_offsets") {
      fail(fmt::format("expected dtype, shape and data_offsets, found {}", excerpt(name)));
    }
    return true;
  }
  bool string(std::string& text) override {
    if (in_metadata() && depth() >= 2) return true;
    if (depth() != 2 || key_ != "dtype") return unexpected("a string");
    entries_.back().dtype = text;
    return true;
  }
  bool number_unsigned(json::number_unsigned_t number) override {
    if (in_metadata() && depth() >= 2) return true;
    if (depth() != 3) return unexpected("a number");
    SafetensorsEntry& entry = entries_.back();
    if (number > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      fail("expected numbers below 2^63, found a larger one");
    if (key_ == "shape") {
      if (entry.shape.size() == Dims::kCapacity)
        fail(fmt::format("expected at most {} axes, found more", Dims::kCapacity));
      entry.shape.push_back(static_cast<std::int64_t>(number));
    } else {
      if (offsets_ == 2) fail("expected 2 data_offsets, found more");
      (offsets_ == 0 ? entry.begin : entry.end) = number;
      ++offsets_;
    }
    return true;
  }
  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a truth value"); }
  bool number_integer(json::number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(json::number_float_t, const std::string&) override { return unexpected("a fraction"); }
  bool binary(json::binary_t&) override { return unexpected("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const json::exception& error) override {
    throw FormatError(path_, static_cast<std::int64_t>(base_ + (position > 0 ? position - 1 : 0)),
                      fmt::format("expected a JSON header, found {}", excerpt(error.what(), 160)));
  }

 private:
  std::size_t depth() const { return levels_.size(); }
  bool in_metadata() const { return depth() >= 1 && name_ == "__metadata__"; }

  [[noreturn]] void fail(const std::string& wrong) const {
    throw FormatError(path_, static_cast<std::int64_t>(base_),
                      depth() > 1 ? fmt::format("{}: {}", excerpt(name_), wrong) : wrong);
  }
  bool unexpected(std::string_view found) const {
    if (in_metadata() && depth() >= 2) return true;
    fail(fmt::format("expected an object of tensors with dtype, shape and data_offsets, found {}", found));
  }

  void open() {
    constexpr std::size_t kMaxDepth = 8;
    if (depth() == kMaxDepth) fail(fmt::format("expected nesting up to {}, found more", kMaxDepth));
    levels_.emplace_back();
  }
  void begin_entry() {
    entries_.emplace_back();
    entries_.back().name = name_;
    offsets_ = 0;
  }
  void end_entry() const {
    if (levels_.back().size() != 3) fail("expected dtype, shape and data_offsets, found only some of them");
  }

  std::string path_;
  std::uint64_t base_;
  std::vector<SafetensorsEntry> entries_;
  std::vector<std::set<std::string>> levels_;  // the keys seen so far at each open level
  std::string name_;
  std::string key_;
  int offsets_ = 0;
};

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view text, const std::string& path,
                                                       std::uint64_t base) {
  if (!text.starts_with('{')) {
    throw FormatError(path, static_cast<std::int64_t>(base),
                      fmt::format("expected a JSON object, found {}", excerpt(text)));
  }
  HeaderEvents events(path, base);
  json::sax_parse(text, &events);
  return events.take();
}

}  // namespace aerogel::io
