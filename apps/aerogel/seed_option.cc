#include "seed_option.h"

#include <charconv>

#include <fmt/format.h>

namespace aerogel::cli {

namespace {

/// Empty if it is one.
std::string why_no_seed(const std::string& text) {
  std::uint64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc() && end == last) return {};
  return fmt::format("expected a whole number from 0 to 2^64 - 1, found {}", text);
}

}  // namespace

void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& help) {
  command.add_option("--seed", seed, help)->capture_default_str()->check(why_no_seed);
}

}  // namespace aerogel::cli
