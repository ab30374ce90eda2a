#include "check_report.h"

#include <cmath>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace {

using aerogel::nn::golden::Measure;
using aerogel::nn::golden::Outcome;
using aerogel::nn::golden::Status;

std::string measured(const Outcome& outcome) {
  const Measure* worst = outcome.worst();
  if (worst == nullptr) return "shapes agree";
  if (worst->rule == "exact") return fmt::format("{} integers differ in {}", worst->error, worst->name);
  if (worst->rule == "atol") {
    return fmt::format("max abs error {:.2e} of {:.2e} in {}", worst->max_abs_error, worst->bound,
                       worst->name);
  }
  return fmt::format("max abs error {:.2e}, {} {:.2e} of {:.2e} in {}", worst->max_abs_error, worst->rule,
                     worst->error, worst->bound, worst->name);
}

/// The ops that another backend's rows computed: a pass says nothing about this backend's own there.
std::string fallbacks(const CheckedCase& checked) {
  const std::string own = std::string(backend_name(checked.backend)) + "/";
  std::set<std::string> ops;
  for (const std::string& kernel : checked.outcome.kernels) {  // <backend>/<op>/<dataflow>/<types>
    if (kernel.rfind(own, 0) == 0) continue;
    const std::size_t slash = kernel.find('/');
    ops.insert(kernel.substr(slash + 1, kernel.find('/', slash + 1) - slash - 1));
  }
  std::string list;
  for (const std::string& op : ops) list += (list.empty() ? "" : ", ") + op;
  return list;
}

/// JSON has no NaN and no infinity.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace

void CheckTotals::count(const CheckedCase& checked) {
  switch (checked.outcome.status) {
    case Status::kPassed:
      ++passed;
      break;
    case Status::kFailed:
      ++failed;
      break;
    case Status::kNotSupported:
      ++not_supported;
      break;
  }
}

std::string check_line(const CheckedCase& checked) {
  const Outcome& outcome = checked.outcome;
  std::string line =
      fmt::format("{:<13} {:<9} {}: {}", status_name(outcome.status), backend_name(checked.backend),
                  checked.which.name, outcome.status == Status::kPassed ? measured(outcome) : outcome.reason);
  const std::string borrowed = fallbacks(checked);
  if (!borrowed.empty()) line += fmt::format("; by another backend's rows: {}", borrowed);
  for (const std::string& remark : outcome.remarks) line += "; " + remark;
  for (const std::string& what : outcome.not_compared) line += fmt::format("; {}: not compared", what);
  for (char& c : line) {
    if (c == '\n') c = ' ';  // a line stays a line, whatever a reason holds
  }
  return line;
}

std::string check_summary(const CheckTotals& totals) {
  return fmt::format("{} passed, {} failed, {} not supported", totals.passed, totals.failed,
                     totals.not_supported);
}

std::string check_json(const std::vector<CheckedCase>& checked, const CheckTotals& totals) {
  nlohmann::json cases = nlohmann::json::array();
  for (const CheckedCase& one : checked) {
    nlohmann::json arrays = nlohmann::json::array();
    for (const Measure& measure : one.outcome.measures) {
      arrays.push_back({{"name", measure.name},
                        {"rule", measure.rule},
                        {"max_abs_error", number(measure.max_abs_error)},
                        {"error", number(measure.error)},
                        {"bound", measure.bound}});
    }
    cases.push_back({{"case", one.which.name},
                     {"path", one.which.path.generic_string()},
                     {"backend", backend_name(one.backend)},
                     {"status", status_name(one.outcome.status)},
                     {"reason", one.outcome.reason},
                     {"not_compared", one.outcome.not_compared},
                     {"remarks", one.outcome.remarks},
                     {"kernels", one.outcome.kernels},
                     {"arrays", arrays}});
  }
  const nlohmann::json report = {{"cases", cases},
                                 {"passed", totals.passed},
                                 {"failed", totals.failed},
                                 {"not_supported", totals.not_supported}};
  // A path or a reason may hold bytes that are not UTF-8.
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}
