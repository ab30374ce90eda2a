#include <map>
#include <mutex>

#include <fmt/core.h>

#include "aerogel/conv.h"
#include "aerogel/error.h"

#include "core/feature_types.h"

namespace aerogel {

struct ConvWeight::Impl {
  Tensor canonical;
  std::mutex mutex;
  std::map<std::string, Tensor> packed;
};

ConvWeight::ConvWeight(const Tensor& weight) : impl_(std::make_shared<Impl>()) {
  const int axes = weight.shape().size();
  if (!weight.defined() || (!is_feature_dtype(weight.dtype()) && weight.dtype() != DType::kI8) || axes < 2 ||
      axes > 2 + kMaxNdim) {
    throw InvalidArgument(fmt::format(
        "[conv_weight] expected f32, f16, bf16 or i8 [C_out, k0, …, C_in] with 0 to {} kernel axes, got {}",
        kMaxNdim, weight.str()));
  }
  for (int axis = 0; axis < axes; ++axis) {
    if (weight.size(axis) < 1)
      throw InvalidArgument(fmt::format("[conv_weight] empty axis in {}", weight.str()));
  }
  impl_->canonical = weight.contiguous();
}

const Tensor& ConvWeight::canonical() const noexcept { return impl_->canonical; }
std::int64_t ConvWeight::c_out() const noexcept { return impl_->canonical.size(0); }
std::int64_t ConvWeight::c_in() const noexcept {
  return impl_->canonical.size(impl_->canonical.shape().size() - 1);
}

Dims ConvWeight::kernel() const {
  Dims kernel;
  for (int axis = 1; axis + 1 < impl_->canonical.shape().size(); ++axis)
    kernel.push_back(impl_->canonical.size(axis));
  return kernel;
}

std::int64_t ConvWeight::volume() const { return kernel().product(); }

Tensor ConvWeight::packed(const std::string& layout, const std::function<Tensor(const Tensor&)>& pack) const {
  const std::lock_guard lock(impl_->mutex);
  const auto it = impl_->packed.find(layout);
  if (it != impl_->packed.end()) return it->second;
  return impl_->packed.emplace(layout, pack(impl_->canonical)).first->second;
}

}  // namespace aerogel
