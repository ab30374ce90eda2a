// `aerogel compare`: two dumps of a run, or two array files, array by array.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/io.h"

#include "cli.h"
#include "output.h"
#include "text.h"

namespace aerogel::cli {

namespace {

namespace fs = std::filesystem;
using Arrays = std::map<std::string, Tensor>;

struct CompareOptions {
  std::string a;
  std::string b;
  double rtol = 1e-5;
  bool as_json = false;
};

/// The arrays of a .npy, an .npz or a folder of .npy files, by name.
Arrays arrays_of(const fs::path& path) {
  require_input(path);
  Arrays arrays;
  if (fs::is_directory(path)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".npy")
        arrays[entry.path().stem().string()] = io::read_npy(entry.path());
    }
    if (arrays.empty()) throw InvalidArgument(fmt::format("{}: no .npy file in this folder", path.string()));
  } else if (path.extension() == ".npz") {
    arrays = io::read_npz(path);
  } else {
    arrays["array"] = io::read_npy(path);
  }
  return arrays;
}

struct Difference {
  std::string name;
  double max_abs = 0;
  double relative_l2 = 0;
  std::string problem;  // shapes, dtypes or a missing array; empty if the numbers were compared
  bool within(double rtol) const { return problem.empty() && relative_l2 <= rtol; }
};

Difference difference_of(const std::string& name, const Tensor& a, const Tensor& b) {
  Difference result;
  result.name = name;
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) {
    result.problem = fmt::format("{} against {}", a.str(), b.str());
    return result;
  }
  const Tensor x = a.to(DType::kF64);
  const Tensor y = b.to(DType::kF64);
  double error = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const double u = x.data<double>()[i];
    const double v = y.data<double>()[i];
    if (u == v || (std::isnan(u) && std::isnan(v))) {
      norm += std::isfinite(v) ? v * v : 0;
      continue;
    }
    const double gap = std::abs(u - v);
    result.max_abs = std::isnan(gap) ? HUGE_VAL : std::max(result.max_abs, gap);
    error += std::isnan(gap) ? HUGE_VAL : gap * gap;
    norm += std::isfinite(v) ? v * v : 0;
  }
  result.relative_l2 = error == 0 ? 0 : std::sqrt(error / norm);  // infinite where the norm is 0
  return result;
}

void compare(const CompareOptions& options, int& exit_code) {
  const Arrays a = arrays_of(options.a);
  const Arrays b = arrays_of(options.b);
  std::vector<Difference> rows;
  for (const auto& [name, tensor] : a) {
    const auto other = b.find(name);
    rows.push_back(other != b.end() ? difference_of(name, tensor, other->second)
                                    : Difference{name, 0, 0, "only in the first"});
  }
  for (const auto& [name, tensor] : b) {
    if (a.count(name) == 0) rows.push_back({name, 0, 0, "only in the second"});
  }
  std::int64_t failed = 0;
  TextTable table;
  table.add_column("array", TextTable::Align::kLeft);
  table.add_column("max abs");
  table.add_column("rel L2");
  table.add_column("", TextTable::Align::kLeft);
  nlohmann::json report = nlohmann::json::array();
  for (const Difference& row : rows) {
    const bool within = row.within(options.rtol);
    failed += within ? 0 : 1;
    table.add_row({row.name, row.problem.empty() ? fmt::format("{:.2e}", row.max_abs) : "-",
                   row.problem.empty() ? fmt::format("{:.2e}", row.relative_l2) : "-",
                   !row.problem.empty() ? row.problem
                   : within             ? "ok"
                                        : "DIFFERS"});
    report.push_back({{"array", row.name},
                      {"max_abs", row.max_abs},
                      {"relative_l2", row.relative_l2},
                      {"problem", row.problem},
                      {"within", within}});
  }
  if (options.as_json) {
    fmt::print("{}\n",
               nlohmann::json({{"arrays", report}, {"failed", failed}, {"rtol", options.rtol}}).dump());
  } else {
    fmt::print("{}{} arrays, {} past a relative L2 of {}\n", table.str(), rows.size(), failed, options.rtol);
  }
  if (failed > 0) exit_code = kCheckFailed;
}

}  // namespace

CLI::App* add_compare(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      app.add_subcommand("compare", "Two folders of .npy dumps, or two .npy or .npz files, array by array");
  command->add_option("a", options->a, "Folder, .npy or .npz")->required();
  command->add_option("b", options->b, "The same kind: the yardstick of the relative error")->required();
  command->add_option("--rtol", options->rtol, "Largest relative L2; exit code 1 past it")
      ->capture_default_str();
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &exit_code] { compare(*options, exit_code); });
  return command;
}

}  // namespace aerogel::cli
