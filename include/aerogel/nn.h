// Modules that hold weights, and the networks built from them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aerogel/conv.h"
#include "aerogel/sparse_tensor.h"

namespace aerogel::nn {

/// Tensors by parameter name, as a checkpoint holds them.
using StateDict = std::map<std::string, Tensor>;

/// What one forward pass carries along: how to run, and the coordinate sets that inverse layers return to.
/// Take a fresh one for each pass; it belongs to one thread.
struct Context {
  ExecOptions exec;       ///< its observer sees every op; `label` is each layer's dotted name while it runs
  bool training = false;  ///< batch norm with the statistics of this call, nothing folded
  /// The sites and geometry that a layer of a given indice key read; an inverse layer names the key.
  struct Level {
    Coordinates fine;
    KernelSpec spec;
  };
  std::map<std::string, Level> levels;
  /// Most sites that a layer may make of its input's; 0: no bound. More are refused with InvalidArgument
  /// before they are made.
  std::int64_t max_sites = 0;
  /// bool masks: what the layers that make sites decided, in the order of the pass. A pass appends to them; a
  /// dry run, which has no features to decide by, takes them one after the other from the front.
  std::vector<Tensor> decisions;
  std::size_t next_decision = 0;  ///< of a dry run
};

/// One named tensor of a module.
struct Parameter {
  std::string name;                        ///< "conv_input.0.weight"
  Dims shape;                              ///< [C_out, k0, …, C_in], [C_out, C_in] or [C]
  std::function<void(const Tensor&)> set;  ///< f32 of `shape`
  std::function<Tensor()> get;             ///< undefined before it was set, where there is no default
};

/// A layer or a network. Immutable during forward, so that one object serves many threads; packing and
/// folding happen when parameters are set or once behind a lock.
class Module {
 public:
  virtual ~Module() = default;
  /// throws InvalidArgument naming the layer: no weights yet, wrong channels, an indice key that no layer
  /// recorded.
  virtual SparseTensor forward(const SparseTensor& in, Context& context) const = 0;
  /// Appends this module's parameters, each name behind `prefix`.
  virtual void parameters(const std::string& prefix, std::vector<Parameter>& out) = 0;
};

/// Loads every parameter of `module`; each tensor is converted to f32.
///
///   names    match with or without `optional_prefix` (such as "backbone_3d.") in front. Where any name
///   carries
///            it, names without it belong to other modules of the checkpoint and are left out;
///            `*.num_batches_tracked` is ignored, nothing else is
///   throws   InvalidArgument   one error listing every missing, unexpected and misshapen tensor; nothing
///                              is loaded then
void load_state_dict(Module& module, const StateDict& state, const std::string& optional_prefix = "");

/// All parameters of `module` by name, undefined where none was set.
StateDict state_dict(Module& module);

/// Deterministic weights from a seed: He-scaled signed convolutions, batch norm close to identity.
/// "untrained weights". A tensor depends on the seed and its own name only, and has the same bits on every
/// machine.
///   source   He et al. 2015, arXiv:1502.01852
void init_weights(Module& module, std::uint64_t seed);

/// What a network expects and where it comes from.
struct NetworkInfo {
  std::string name;                     ///< "centerpoint"
  std::string variant;                  ///< "waymo"; "" where there is one only
  std::string description;              ///< one line
  std::vector<std::string> features;    ///< input features by column name: x, y, z, intensity, …
  float voxel[3] = {0, 0, 0};           ///< default voxel size, metres, x y z
  float range[6] = {0, 0, 0, 0, 0, 0};  ///< default box, metres: x0 y0 z0 x1 y1 z1
  bool has_default_box = true;          ///< false: the cloud's own box, the voxel its longest side / 200
  std::int64_t extra_z = 0;             ///< cells added to the grid's z extent, as OpenPCDet does (41 of 40)
  bool makes_sites = false;     ///< its features decide which sites there are: memory is planned on the
                                ///< decisions of a pass (Context::decisions)
  std::int64_t resolution = 0;  ///< cells of its input along the longest side of an object; 0: any
};

/// Every network and variant.
const std::vector<NetworkInfo>& list_networks();

/// Builds a network without weights (load_state_dict or init_weights comes next).
/// An empty variant takes the first one listed.
///   throws   InvalidArgument   naming the known networks and variants
std::unique_ptr<Module> make_network(std::string_view name, std::string_view variant = "");
const NetworkInfo& network_info(std::string_view name, std::string_view variant = "");

/// The layers of a network as a Markdown table, a line per row of the table that builds it
/// (docs/networks.md).
///   throws   InvalidArgument   as make_network
std::string network_table(std::string_view name, std::string_view variant = "");

}  // namespace aerogel::nn
