#include <cmath>
#include <map>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/plan.h"

#include "nn/golden/case.h"
#include "nn/golden/kinds.h"

namespace aerogel::nn::golden {
namespace {

const std::map<std::string, KindRunner>& kinds() {
  static const std::map<std::string, KindRunner> all = {
      {"pipeline", run_pipeline},
      {"autocast", run_autocast},
      {"net", run_net},
      {"tables", run_tables},
      {"state_dict_keys", run_state_dict_keys},
      {"init", run_init},
      {"sparse_add", run_sparse_add},
      {"dense", run_dense},
      {"from_dense", run_from_dense},
      {"p2v_cpu", run_point_to_voxel},
  };
  return all;
}

void run_spconv(const Case& which, const ExecOptions& exec, Comparison& comparison) {
  const CaseFile file{which.path, JsonField::read(which.path / "case.json")};
  const auto kind = file.json.at("kind").get<std::string>();
  const auto it = kinds().find(kind);
  if (it == kinds().end()) throw Unsupported(fmt::format("cases of kind '{}' are not run yet", kind));
  it->second(file, exec, comparison);
}

void run_paddle(const Case& which, const ExecOptions& exec, Comparison& comparison) {
  const JsonField json = JsonField::read(which.path);
  if (which.section.empty())
    throw InvalidArgument("[case] no vectors: expected an object of lists of objects");
  const JsonField& vector = json.at(which.section).at(which.item);
  if (which.section == "conv") return run_paddle_conv(vector, exec, comparison);
  if (which.section == "maxpool") return run_paddle_max_pool(vector, exec, comparison);
  throw Unsupported(fmt::format("vectors of '{}' are not run yet", which.section));
}

}  // namespace

std::string_view status_name(Status status) noexcept {
  constexpr std::string_view kNames[] = {"passed", "failed", "not supported"};
  return kNames[static_cast<int>(status)];
}

const Measure* Outcome::worst() const {
  const auto nearness = [](const Measure& measure) {
    if (measure.bound > 0) return measure.error / measure.bound;
    return measure.error > 0 ? 1e300 : -1;  // exact integers say least
  };
  const Measure* found = nullptr;
  for (const Measure& measure : measures) {
    if (found != nullptr && std::isnan(nearness(*found))) break;  // nothing is worse than a NaN
    if (found == nullptr || !(nearness(measure) <= nearness(*found))) found = &measure;
  }
  return found;
}

Outcome run_case(const Case& which, const ExecOptions& exec) {
  Outcome outcome;
  Comparison comparison;
  ExecOptions observed = exec;
  observed.observer = [&outcome, &exec](const OpRecord& record) {
    outcome.kernels.insert(record.kernel);
    if (exec.observer) exec.observer(record);
  };
  try {
    if (which.format == CaseFormat::kOnnx) throw Unsupported("ONNX cases are not run yet");
    which.format == CaseFormat::kPaddle ? run_paddle(which, observed, comparison)
                                        : run_spconv(which, observed, comparison);
    outcome.status = comparison.failures().empty() ? Status::kPassed : Status::kFailed;
  } catch (const Unsupported& error) {
    outcome.status = Status::kNotSupported;
    outcome.reason = error.what();
  } catch (const std::exception& error) {
    outcome.reason = error.what();
  }
  for (const std::string& failure : comparison.failures()) {
    outcome.reason += (outcome.reason.empty() ? "" : "; ") + failure;
  }
  if (outcome.status == Status::kNotSupported && !comparison.failures().empty())
    outcome.status = Status::kFailed;
  outcome.measures = comparison.measures();
  outcome.not_compared = comparison.left_out();
  outcome.remarks = comparison.remarks();
  return outcome;
}

}  // namespace aerogel::nn::golden
