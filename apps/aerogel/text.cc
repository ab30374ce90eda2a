#include "text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "aerogel/error.h"

namespace aerogel::cli {

namespace {

/// Characters, not bytes, of UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string count_text(std::int64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3 + (count < 0 ? 1U : 0U);) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string bytes_text(std::int64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string metres_text(double metres) { return fmt::format("{:.5g}", metres); }

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

std::vector<double> parse_numbers(const std::string& option, const std::string& text, std::size_t count) {
  std::vector<double> values;
  for (const std::string& part : split_commas(text)) {
    double value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(value)) {
      throw InvalidArgument(fmt::format("{} {}: \"{}\" is not a finite number", option, text, part));
    }
    values.push_back(value);
  }
  if (values.size() != count) {
    throw InvalidArgument(fmt::format("{} {}: expected {} numbers with commas between, got {}", option, text,
                                      count, values.size()));
  }
  return values;
}

void TextTable::add_column(std::string title, Align align) {
  titles_.push_back(std::move(title));
  align_.push_back(align);
}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(titles_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::str() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < titles_.size(); ++i) {
    widths.push_back(width(titles_[i]));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width(row[i]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string blank(widths[i] - width(cells[i]), ' ');
      if (i > 0) text += "  ";
      text += align_[i] == Align::kLeft ? cells[i] + blank : blank + cells[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(titles_);
  for (const auto& row : rows_) text += line(row);
  return text;
}

std::string TextTable::markdown() const {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += " " + cell + " |";
    return text + "\n";
  };
  std::string text = line(titles_) + "|";
  for (const Align align : align_) text += align == Align::kLeft ? "---|" : "---:|";
  text += "\n";
  for (const auto& row : rows_) text += line(row);
  return text;
}

}  // namespace aerogel::cli
