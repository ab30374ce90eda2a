// The torch layers that spconv networks hold, applied to features.
#include "nn/norm_layer.h"
#include "nn/pointwise_layers.h"
#include "nn/sequential.h"
#include "nn/spconv_compat/makers.h"

namespace aerogel::nn::spconv {

std::unique_ptr<Module> make_torch_layer(const LayerDescription& layer) {
  Arguments arguments(layer, 1);
  std::unique_ptr<Module> module;
  if (layer.cls == "nn.BatchNorm1d") {
    const std::int64_t channels = arguments.required_int("num_features");
    arguments.ignore("momentum");  // running statistics are read, never written
    module = std::make_unique<NormLayer>(channels, arguments.number("eps", 1e-5));
  } else if (layer.cls == "nn.ReLU") {
    arguments.ignore("inplace");
    module = std::make_unique<ReluLayer>();
  } else if (layer.cls == "nn.Linear") {
    const std::int64_t c_in = arguments.required_int("in_features");
    const std::int64_t c_out = arguments.required_int("out_features");
    module = std::make_unique<LinearLayer>(c_in, c_out, arguments.boolean("bias", true));
  } else if (layer.cls == "nn.Identity") {
    module = std::make_unique<Sequential>();
  } else {
    return nullptr;
  }
  arguments.refuse_rest();
  return module;
}

}  // namespace aerogel::nn::spconv
