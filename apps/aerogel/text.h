// Numbers and tables as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aerogel::cli {

std::string count_text(std::int64_t count);  // "66,035"
std::string bytes_text(std::int64_t bytes);  // "1.5 GiB"
std::string metres_text(double metres);      // "0.15", "70.4": as few digits as tell it

/// Splits at commas, blanks around the parts dropped.
std::vector<std::string> split_commas(const std::string& text);
/// `count` finite numbers; InvalidArgument naming the option otherwise.
std::vector<double> parse_numbers(const std::string& option, const std::string& text, std::size_t count);

/// Columns that line up: text to the left, numbers to the right.
class TextTable {
 public:
  enum class Align { kLeft, kRight };
  void add_column(std::string title, Align align = Align::kRight);
  void add_row(std::vector<std::string> cells);  // one per column
  std::string str() const;
  std::string markdown() const;

 private:
  std::vector<std::string> titles_;
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace aerogel::cli
