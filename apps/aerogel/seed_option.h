// --seed, of every command that draws numbers.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace aerogel::cli {

/// Adds --seed, a whole number from 0 to 2^64 − 1. CLI11 alone would wrap -1 and clamp 2^64.
void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& help);

}  // namespace aerogel::cli
