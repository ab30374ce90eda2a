#include "aerogel/types.h"

#include <iterator>

#include <fmt/format.h>

#include "aerogel/error.h"

namespace aerogel {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t itemsize;
};

constexpr DTypeRow kDTypes[] = {
    {DType::kF32, "f32", 4},   {DType::kF64, "f64", 8}, {DType::kF16, "f16", 2}, {DType::kBF16, "bf16", 2},
    {DType::kI8, "i8", 1},     {DType::kU8, "u8", 1},   {DType::kI16, "i16", 2}, {DType::kU16, "u16", 2},
    {DType::kI32, "i32", 4},   {DType::kU32, "u32", 4}, {DType::kI64, "i64", 8}, {DType::kU64, "u64", 8},
    {DType::kBool, "bool", 1},
};

constexpr std::string_view kActivations[] = {"none", "relu",     "leaky_relu", "sigmoid",
                                             "silu", "gelu_erf", "gelu_tanh"};

}  // namespace

std::size_t itemsize(DType dtype) noexcept { return kDTypes[static_cast<int>(dtype)].itemsize; }

std::string_view dtype_name(DType dtype) noexcept { return kDTypes[static_cast<int>(dtype)].name; }

DType parse_dtype(std::string_view name) {
  std::string known;
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  throw InvalidArgument(fmt::format("[dtype] expected one of {}, got '{}'", known, name));
}

std::string_view activation_name(Activation activation) noexcept {
  return kActivations[static_cast<int>(activation)];
}

Activation parse_activation(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kActivations); ++i) {
    if (kActivations[i] == name) return static_cast<Activation>(i);
  }
  throw InvalidArgument(
      fmt::format("[activation] expected one of {}, got '{}'", fmt::join(kActivations, ", "), name));
}

Dims::Dims(std::initializer_list<std::int64_t> values)
    : Dims(std::span<const std::int64_t>(values.begin(), values.size())) {}

Dims::Dims(std::span<const std::int64_t> values) {
  for (std::int64_t value : values) push_back(value);
}

Dims Dims::filled(int size, std::int64_t value) {
  Dims dims;
  for (int i = 0; i < size; ++i) dims.push_back(value);
  return dims;
}

void Dims::push_back(std::int64_t value) {
  if (size_ == kCapacity) throw InvalidArgument(fmt::format("[dims] at most {} axes, got more", kCapacity));
  values_[size_++] = value;
}

std::int64_t Dims::product() const {
  std::int64_t product = 1;
  for (std::int64_t value : *this) {
    if (__builtin_mul_overflow(product, value, &product)) {
      throw InvalidArgument(fmt::format("[dims] the product of {} leaves 63 bits", str()));
    }
  }
  return product;
}

bool Dims::operator==(const Dims& other) const noexcept {
  if (size_ != other.size_) return false;
  for (int i = 0; i < size_; ++i) {
    if (values_[i] != other.values_[i]) return false;
  }
  return true;
}

std::string Dims::str() const {
  std::string text = "[";
  for (int i = 0; i < size_; ++i) text += fmt::format("{}{}", i ? ", " : "", values_[i]);
  return text + "]";
}

std::string Dims::joined(char separator) const {
  std::string text;
  for (int i = 0; i < size_; ++i) {
    if (i) text += separator;
    text += std::to_string(values_[i]);
  }
  return text;
}

}  // namespace aerogel
