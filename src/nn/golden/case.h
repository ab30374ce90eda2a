// Recorded cases: found in folders, run through the library, compared with what was recorded.
//
//   <folder>/case.json          spconv 2.3 recordings, run through the spconv-compatible layers with every
//   quirk on <folder>/model.onnx         ONNX backend tests; listed, not run yet
//   <folder>/paddle_sparse.json literal vectors, each a case of its own, run through the ops
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "aerogel/device.h"

#include "nn/golden/comparison.h"

namespace aerogel::nn::golden {

enum class CaseFormat : std::uint8_t { kSpconv, kOnnx, kPaddle };

struct Case {
  std::string name;            ///< below the folder it was found in: "spconv/sparse_add"
  std::filesystem::path path;  ///< the folder, or the .json of vectors
  CaseFormat format = CaseFormat::kSpconv;
  std::string section;   ///< vectors only: the list ("conv", "maxpool") …
  std::size_t item = 0;  ///< … and the place in it
};

/// Every case below `root`, sorted by path. A file that cannot be parsed is one case, which will fail.
/// throws InvalidArgument if `root` is not a folder.
std::vector<Case> find_cases(const std::filesystem::path& root);

enum class Status : std::uint8_t { kPassed, kFailed, kNotSupported };

std::string_view status_name(Status status) noexcept;  ///< "passed", "failed", "not supported"

struct Outcome {
  Status status = Status::kFailed;
  std::string reason;  ///< why it failed or is not supported
  std::vector<std::string> not_compared;
  std::vector<std::string> remarks;  ///< what a reader of a pass must know: "computed in f32, …"
  std::vector<Measure> measures;     ///< every array that was compared
  std::set<std::string> kernels;     ///< rows that ran; a backend may fall back on the reference's

  const Measure* worst() const;  ///< the one nearest to its bound, or past it; null if none
};

/// Runs one case and compares. Never throws: a case that cannot be read is a failure with its reason.
Outcome run_case(const Case& which, const ExecOptions& exec);

}  // namespace aerogel::nn::golden
