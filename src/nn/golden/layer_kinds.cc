// Cases of layers: pipelines, the U-Net, tables, and names and shapes of parameters.
#include <algorithm>

#include <fmt/core.h>

#include "aerogel/error.h"
#include "aerogel/nn.h"
#include "aerogel/ops/elementwise.h"

#include "nn/golden/kinds.h"
#include "nn/spconv_compat/layers.h"

namespace aerogel::nn::golden {
namespace {

Context context_for(const ExecOptions& exec, bool training) {
  Context context;
  context.exec = exec;
  context.training = training;
  return context;
}

std::map<std::string, Dims> parameter_shapes(const JsonField& description) {
  const auto module = spconv::make_layer(described(description));
  std::map<std::string, Dims> shapes;
  for (const Parameter& parameter : spconv::parameters_of(*module)) shapes[parameter.name] = parameter.shape;
  return shapes;
}

}  // namespace

void run_pipeline(const CaseFile& file, const ExecOptions& exec, Comparison& comparison) {
  spconv::LayerDescription pipeline;
  pipeline.cls = "SparseSequential";
  for (const JsonField& layer : file.json.at("layers").elements())
    pipeline.children.push_back(file.layer(layer));
  const auto module = spconv::make_layer(pipeline);
  const SparseTensor in = file.sparse(file.json.at("input"));
  Context context = context_for(exec, file.json.value("training", false));
  SparseTensor out = module->forward(in, context);
  if (file.json.value("add_input", false)) out = add(out, in, exec);
  file.compare_output(out, comparison);
  const std::string dtype = file.json.at("expect").value<std::string>("out_dtype", "");
  if (!dtype.empty())
    comparison.text("out_dtype", out.features.dtype() == DType::kF32 ? "torch.float32" : "another", dtype);
}

void run_autocast(const CaseFile& file, const ExecOptions& exec, Comparison& comparison) {
  run_pipeline(file, exec, comparison);
  comparison.remark("computed in f32, held against the recording's half-precision tolerance");
}

void run_net(const CaseFile& file, const ExecOptions& exec, Comparison& comparison) {
  const auto id = file.json.at("id").get<std::string>();
  const std::string name = id.substr(0, id.find('_'));  // "unet3d_float32"
  const auto& known = list_networks();
  if (std::none_of(known.begin(), known.end(), [&](const NetworkInfo& info) { return info.name == name; })) {
    throw Unsupported(fmt::format("no network '{}'", name));
  }
  const auto module = make_network(name);
  load_state_dict(*module, file.arrays(file.json.at("state_dict")));
  Context context = context_for(exec, file.json.value("training", true));  // recorded with batch statistics
  file.compare_output(module->forward(file.sparse(file.json.at("input")), context), comparison);
}

void run_tables(const CaseFile& file, const ExecOptions& exec, Comparison& comparison) {
  const SparseTensor in = file.sparse(file.json.at("input"));
  Context context = context_for(exec, false);
  std::vector<SparseTensor> branches;
  for (const JsonField& branch : file.json.at("branch_specs").elements()) {
    branches.push_back(spconv::make_layer(file.layer(branch))->forward(in, context));
  }
  const auto table = file.json.at("table").get<std::string>();
  file.compare_output(spconv::apply_table(table, branches, context), comparison);
}

void run_state_dict_keys(const CaseFile& file, const ExecOptions& /*exec*/, Comparison& comparison) {
  const std::map<std::string, Dims> shapes = parameter_shapes(file.json);
  const JsonField& expect = file.json.at("expect");
  auto expected_keys = expect.at("keys").get<std::vector<std::string>>();
  std::sort(expected_keys.begin(), expected_keys.end());
  std::string ours;
  std::string theirs;
  for (const auto& [name, shape] : shapes) ours += name + " ";
  for (const std::string& name : expected_keys) theirs += name + " ";
  comparison.text("keys", ours, theirs);
  for (const auto& [name, shape] : expect.at("shapes").members()) {
    const auto it = shapes.find(name);
    if (it != shapes.end()) comparison.shape(name, it->second, dims_of(shape));
  }
}

void run_init(const CaseFile& file, const ExecOptions& /*exec*/, Comparison& comparison) {
  for (const auto& [name, shape] : parameter_shapes(file.json)) {
    comparison.shape(name, shape, file.array(file.json.at("expect").at(name)).shape());
  }
  comparison.not_compared("values (torch's random generator)");
}

}  // namespace aerogel::nn::golden
