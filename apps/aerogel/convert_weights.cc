#include "convert_weights.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "aerogel/error.h"
#include "aerogel/io.h"
#include "aerogel/weight_layout.h"

#include "cli.h"
#include "conv/problem_string.h"
#include "io/parsers.h"
#include "text.h"

namespace aerogel::cli {

namespace {

using nlohmann::json;
using nn::ConvertedStateDict;
using nn::ConvertedTensor;

/// "NAME=3x3x1": the name and the kernel.
std::pair<std::string, Dims> parse_kernel(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw InvalidArgument(fmt::format("--kernel {}: expected NAME=KzxKyxKx", text));
  const Dims kernel = parse_dims(text.substr(equals + 1), "--kernel");
  if (kernel.size() > kMaxNdim || std::any_of(kernel.begin(), kernel.end(), [](auto k) { return k < 1; })) {
    throw InvalidArgument(fmt::format("--kernel {}: expected 1 to {} extents of at least 1", text, kMaxNdim));
  }
  return {text.substr(0, equals), kernel};
}

nn::StateDictConversion conversion_of(const WeightsConversion& options) {
  nn::StateDictConversion conversion;
  conversion.from = nn::parse_weight_layout(options.from);
  conversion.to = nn::parse_weight_layout(options.to);
  conversion.only = options.only;
  for (const std::string& text : options.kernels) {
    if (!conversion.kernels.insert(parse_kernel(text)).second)
      throw InvalidArgument(fmt::format("--kernel {}: that name is given twice", text));
  }
  return conversion;
}

/// A file without convolutions of the layout was declared wrongly; one with several kinds may hold dense
/// layers, whose layout is torch's.
void require_one_kind(const WeightsConversion& options, const ConvertedStateDict& state) {
  const ConvertedTensor* first = nullptr;
  for (const ConvertedTensor& tensor : state.converted) {
    if (tensor.kernel.empty()) continue;
    if (first == nullptr) first = &tensor;
    if (options.only.empty() && tensor.kernel.size() != first->kernel.size()) {
      throw InvalidArgument(
          fmt::format("{}: {} {} has {} spatial axes and {} {} has {}; dense layers are not stored as sparse "
                      "ones are: name "
                      "what to convert with --only PREFIX, or --only '' for all",
                      options.input, first->name, first->shape.str(), first->kernel.size(), tensor.name,
                      tensor.shape.str(), tensor.kernel.size()));
    }
  }
  if (first == nullptr) {
    throw InvalidArgument(
        fmt::format("{}: no tensor is a convolution of layout {}", options.input, options.from));
  }
}

/// "a.kernel [27, 2, 3] → a.weight [3, 3, 3, 3, 2]", the second name only where it is another.
std::string line_of(const ConvertedTensor& tensor) {
  return fmt::format("{} {} → {}{}", tensor.name, tensor.shape.str(),
                     tensor.to_name == tensor.name ? "" : tensor.to_name + " ", tensor.to_shape.str());
}

json json_of(const ConvertedTensor& tensor) {
  const auto list = [](const Dims& dims) { return std::vector<std::int64_t>(dims.begin(), dims.end()); };
  return {{"name", tensor.name},
          {"shape", list(tensor.shape)},
          {"to_name", tensor.to_name},
          {"to_shape", list(tensor.to_shape)},
          {"kernel", tensor.kernel.empty() ? json(nullptr) : json(list(tensor.kernel))}};
}

}  // namespace

void convert_weights(const WeightsConversion& options) {
  if (io::lower_case(std::filesystem::path(options.output).extension().string()) != ".safetensors")
    throw InvalidArgument(fmt::format("{}: weights are written to .safetensors", options.output));
  const nn::StateDictConversion conversion = conversion_of(options);
  const ConvertedStateDict state = nn::convert_state_dict(io::read_weights(options.input), conversion);
  require_one_kind(options, state);
  throw_if_interrupted();
  io::write_safetensors(options.output, state.tensors);

  const auto convolutions = std::count_if(state.converted.begin(), state.converted.end(),
                                          [](const auto& t) { return !t.kernel.empty(); });
  const std::size_t renamed = state.converted.size() - static_cast<std::size_t>(convolutions);
  const std::size_t unchanged = state.tensors.size() - state.converted.size();
  if (options.as_json) {
    json tensors = json::array();
    for (const ConvertedTensor& tensor : state.converted) tensors.push_back(json_of(tensor));
    const json about = {{"aerogel", std::string(version())},
                        {"input", options.input},
                        {"output", options.output},
                        {"from", nn::weight_layout_name(conversion.from)},
                        {"to", nn::weight_layout_name(conversion.to)},
                        {"tensors", state.tensors.size()},
                        {"convolutions", convolutions},
                        {"renamed", renamed},
                        {"unchanged", unchanged},
                        {"converted", tensors}};
    fmt::print("{}\n", about.dump(-1, ' ', false, json::error_handler_t::replace));
    return;
  }
  for (const ConvertedTensor& tensor : state.converted) fmt::print("{}\n", line_of(tensor));
  fmt::print("{} convolutions from {} to {}, {} others renamed or reshaped, {} unchanged, written to {}\n",
             count_text(convolutions), nn::weight_layout_name(conversion.from),
             nn::weight_layout_name(conversion.to), count_text(static_cast<std::int64_t>(renamed)),
             count_text(static_cast<std::int64_t>(unchanged)), options.output);
}

}  // namespace aerogel::cli
