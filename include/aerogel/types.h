// Numbers and small shapes: dtypes, activations, and Dims, the one small vector of extents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace aerogel {

/// The largest number of spatial dimensions a coordinate set can have.
inline constexpr int kMaxNdim = 4;

/// Element types. Features are f32, f16 or bf16; the others carry coordinates, ids and files.
enum class DType : std::uint8_t {
  kF32,
  kF64,
  kF16,
  kBF16,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kBool
};

/// Storage of a 16-bit float; arithmetic is in f32. IEEE binary16, and the upper half of a binary32.
struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};

std::size_t itemsize(DType dtype) noexcept;         ///< bytes of one element
std::string_view dtype_name(DType dtype) noexcept;  ///< "f32", "i32", …
DType parse_dtype(std::string_view name);           ///< inverse of dtype_name; InvalidArgument otherwise

/// The DType of a C++ type: `dtype_of<float>`. bool is stored as one byte.
template <class T>
inline constexpr DType dtype_of = DType::kBool;
template <>
inline constexpr DType dtype_of<float> = DType::kF32;
template <>
inline constexpr DType dtype_of<double> = DType::kF64;
template <>
inline constexpr DType dtype_of<F16> = DType::kF16;
template <>
inline constexpr DType dtype_of<BF16> = DType::kBF16;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::kI8;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::kU8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::kI16;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::kU16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::kI32;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::kU32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::kI64;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::kU64;

/// What an epilogue applies last. NaN stays NaN; at ±∞ each takes its limit.
enum class Activation : std::uint8_t {
  kNone,       ///< x
  kRelu,       ///< x < 0 ? 0 : x
  kLeakyRelu,  ///< x < 0 ? x · negative_slope : x
  kSigmoid,    ///< 1 / (1 + e⁻ˣ)
  kSilu,       ///< x · sigmoid(x)
  kGeluErf,    ///< x · Φ(x), Φ the normal distribution: (1 + erf(x / √2)) / 2
  kGeluTanh,   ///< x · (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2
};

/// "none", "relu", "leaky_relu", "sigmoid", "silu", "gelu_erf", "gelu_tanh"
std::string_view activation_name(Activation activation) noexcept;
Activation parse_activation(std::string_view name);  ///< InvalidArgument listing the known names

/// What becomes of the rows that fall together: points of a voxel, sites of a block. A NaN stays NaN.
enum class Reduce : std::uint8_t {
  kMean,  ///< the sum by their number
  kMax,
  kSum,
  kFirst,  ///< the first one's; the verb says in which order
};

/// Up to eight 64-bit extents: a tensor shape, or one value per spatial axis. Empty means "not given".
class Dims {
 public:
  static constexpr int kCapacity = 8;

  constexpr Dims() = default;
  Dims(std::initializer_list<std::int64_t> values);  ///< InvalidArgument past kCapacity
  explicit Dims(std::span<const std::int64_t> values);
  static Dims filled(int size, std::int64_t value);

  int size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::int64_t operator[](int axis) const noexcept { return values_[axis]; }
  std::int64_t& operator[](int axis) noexcept { return values_[axis]; }
  const std::int64_t* begin() const noexcept { return values_; }
  const std::int64_t* end() const noexcept { return values_ + size_; }
  void push_back(std::int64_t value);
  std::int64_t product() const;  ///< 1 when empty; InvalidArgument if it leaves 63 bits
  bool operator==(const Dims& other) const noexcept;
  std::string str() const;                   ///< "[64, 3, 3, 3, 32]"
  std::string joined(char separator) const;  ///< "3x3x3"

 private:
  std::int64_t values_[kCapacity] = {};
  int size_ = 0;
};

}  // namespace aerogel
