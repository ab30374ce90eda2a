// Cases of ops: sums over unions, dense, point to voxel.
#include "aerogel/error.h"
#include "aerogel/ops/dense.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/voxelize.h"

#include "nn/golden/kinds.h"

namespace aerogel::nn::golden {

void run_sparse_add(const CaseFile& file, const ExecOptions& exec, Comparison& comparison) {
  const JsonField& inputs = file.json.at("inputs");
  SparseTensor sum = file.sparse(inputs.at(0));
  for (std::size_t i = 1; i < inputs.size(); ++i) sum = add_union(sum, file.sparse(inputs.at(i)), exec);
  file.compare_output(sum, comparison);
}

void run_dense(const CaseFile& file, const ExecOptions& exec, Comparison& comparison) {
  const SparseTensor in = file.sparse(file.json.at("input"));
  const JsonField& expect = file.json.at("expect");
  comparison.floats("dense_cf", to_dense(in, DenseLayout::kChannelsFirst, exec),
                    file.array(expect.at("dense_cf")), {});
  comparison.floats("dense_cl", to_dense(in, DenseLayout::kChannelsLast, exec),
                    file.array(expect.at("dense_cl")), {});
}

void run_from_dense(const CaseFile& file, const ExecOptions& exec, Comparison& comparison) {
  const JsonField& expect = file.json.at("expect");
  const SparseTensor sparse = from_dense(file.array(file.json.at("dense")), DenseLayout::kChannelsLast, exec);
  const SortedRows rows = sorted_rows(sparse);
  comparison.integers("indices", rows.indices, file.array(expect.at("indices")));
  comparison.floats("features", rows.features, file.array(expect.at("features")), {});
  comparison.shape("spatial_shape", sparse.coordinates.spatial_shape(), dims_of(expect.at("spatial_shape")));
  comparison.shape("batch_size", {sparse.coordinates.batch_size()},
                   {expect.at("batch_size").get<std::int64_t>()});
}

void run_point_to_voxel(const CaseFile& file, const ExecOptions& exec, Comparison& comparison) {
  const JsonField& ctor = file.json.at("ctor");
  const auto size = ctor.at("vsize_xyz").get<std::vector<float>>();
  const auto range = ctor.at("coors_range_xyz").get<std::vector<float>>();
  if (size.size() != 3 || range.size() != 6) throw Unsupported("point to voxel in other than 3 dimensions");
  VoxelGrid grid;
  for (int axis = 0; axis < 3; ++axis) {
    grid.lo[axis] = range[axis];
    grid.hi[axis] = range[3 + axis];
    grid.size[axis] = size[axis];
  }
  VoxelCaps caps;
  caps.max_points = ctor.at("max_num_points_per_voxel").get<std::int64_t>();
  caps.max_voxels = ctor.at("max_num_voxels").get<std::int64_t>();
  const Voxels voxels = voxelize(file.array(file.json.at("points")), grid, caps, exec);

  const JsonField& expect = file.json.at("expect");  // first-seen order on both sides, nothing to sort
  comparison.integers("indices", voxels.indices, file.array(expect.at("indices")));
  comparison.integers("num_per_voxel", voxels.points_per_voxel, file.array(expect.at("num_per_voxel")));
  comparison.integers("pc_voxel_id", voxels.point_voxel, file.array(expect.at("pc_voxel_id")));
  comparison.floats("voxels", voxels.points, file.array(expect.at("voxels")), {});
}

}  // namespace aerogel::nn::golden
