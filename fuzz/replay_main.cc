// Replays a fuzz target without libFuzzer.
//
//   replay_<name> ITERATIONS          the seeds, then mutations of them under a fixed random seed
//   replay_<name> --seeds FOLDER      writes the seeds as a corpus for fuzz_<name>
//   replay_<name> --input FILE        one input: what libFuzzer left as crash-…
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "fuzz_target.h"

namespace {

/// Returns whether the target took the input: an exception that leaves it is a finding.
bool take(const std::string& input) {
  try {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    return true;
  } catch (const std::exception& error) {
    std::ofstream("fuzz-finding", std::ios::binary) << input;
    std::cerr << "left the target: " << error.what() << "\nreplay with --input fuzz-finding\n";
    return false;
  }
}

/// The standard leaves distributions to each library but not the engine, so only the engine is used.
class Mutator {
 public:
  std::string mutate(const std::vector<std::string>& seeds) {
    std::string text = seeds[below(seeds.size())];
    for (std::size_t i = below(4); i < 4; ++i) change(text, seeds);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : engine_() % bound; }

  void change(std::string& text, const std::vector<std::string>& seeds) {
    static constexpr const char* kWords[] = {"-1",
                                             "0",
                                             "9223372036854775807",
                                             "4294967296",
                                             "nan",
                                             "\xff\xff\xff\xff",
                                             "{",
                                             "[",
                                             "(",
                                             "\"",
                                             "\n",
                                             " ",
                                             "\r\n",
                                             "1000000000000"};
    const std::size_t at = below(text.size() + 1);
    switch (below(7)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, kWords[below(std::size(kWords))]);
        break;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), below(64)));
        break;
      case 4: {
        const std::string& other = seeds[below(seeds.size())];
        text.replace(at, std::string::npos, other.substr(below(other.size() + 1)));
        break;
      }
      case 5:
        if (at < text.size()) text[at] = static_cast<char>(engine_() & 255);
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
    }
  }

  std::mt19937 engine_{20240229};
};

int write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string& seed : fuzz_seeds()) {
    std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  }
  return 0;
}

int replay(long iterations) {
  const std::vector<std::string> seeds = fuzz_seeds();
  for (const std::string& seed : seeds) {
    if (!take(seed)) return 1;
  }
  Mutator mutator;
  for (long i = 0; i < iterations; ++i) {
    if (!take(mutator.mutate(seeds))) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "--seeds" && argc == 3) return write_seeds(argv[2]);
  if (verb == "--input" && argc == 3) {
    std::ifstream file(argv[2], std::ios::binary);
    return take(std::string(std::istreambuf_iterator<char>(file), {})) ? 0 : 1;
  }
  if (argc == 2) return replay(std::atol(argv[1]));
  std::cerr << "usage: " << argv[0] << " ITERATIONS | --seeds FOLDER | --input FILE\n";
  return 2;
}
