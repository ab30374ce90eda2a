// Features at points, from the sites whose centres surround them.
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "backend/reference/kernels_of.h"
#include "core/feature_types.h"
#include "core/half.h"

namespace aerogel::reference {
namespace {

using Corner = std::array<std::int64_t, 3>;  // z, y, x

template <class T>
void trilinear_of(const TrilinearArgs& args) {
  const std::int64_t channels = args.in.size(1);
  std::map<Corner, std::int64_t> row_of;
  for (std::int64_t i = 0; i < args.coordinates.size(); ++i) {
    const std::int32_t* row = args.coordinates.row(i);
    row_of[{row[1], row[2], row[3]}] = i;
  }
  for (std::int64_t p = 0; p < args.points.size(0); ++p) {
    const float* point = args.points.data<float>() + p * args.points.size(1);
    std::vector<double> sums(static_cast<std::size_t>(channels), 0.0);
    double total = 0;
    for (int k = 0; k < 8; ++k) {
      Corner cell{};
      double weight = 1;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const float u = (point[axis] - args.grid.lo[axis]) / args.grid.size[axis] - 0.5f;
        const float lower = std::floor(u);
        const bool inside = lower >= -1.0f && lower < 2147483520.0f;
        const int up = k >> axis & 1;
        cell[2 - axis] = inside ? static_cast<std::int64_t>(lower) + up : -1;
        weight *= up ? double{u - lower} : 1 - double{u - lower};
      }
      const auto found = row_of.find(cell);
      if (found == row_of.end() || !(weight > 0)) continue;
      total += weight;
      for (std::int64_t c = 0; c < channels; ++c) {
        sums[static_cast<std::size_t>(c)] += weight * to_f32(args.in.data<T>()[found->second * channels + c]);
      }
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      args.out.mutable_data<T>()[p * channels + c] =
          round_to<T>(total > 0 ? sums[static_cast<std::size_t>(c)] / total : 0.0);
    }
  }
}

}  // namespace

void trilinear(const TrilinearArgs& args) {
  with_feature_type(args.in.dtype(), [&]<class T>(T) { trilinear_of<T>(args); });
}

}  // namespace aerogel::reference
