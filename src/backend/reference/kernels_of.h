// The rows of this backend, one per op.
#pragma once

#include "backend/kernel.h"

namespace aerogel::reference {

void build_kernel_map(const MapArgs& args);
void sparse_conv(const SparseConvArgs& args);
void pool(const PoolArgs& args);
void global_pool(const GlobalPoolArgs& args);
void affine(const AffineArgs& args);
void moments(const MomentsArgs& args);
void row_norm(const RowNormArgs& args);
void group_norm(const GroupNormArgs& args);
void concat(const ConcatArgs& args);
void site_union(const SiteUnionArgs& args);
void scatter_add(const ScatterAddArgs& args);
void to_dense(const ToDenseArgs& args);
void from_dense(const FromDenseArgs& args);
void voxelize(const VoxelizeArgs& args);
void voxelize_reduce(const VoxelizeReduceArgs& args);
void gather_rows(const GatherRowsArgs& args);
void trilinear(const TrilinearArgs& args);

}  // namespace aerogel::reference
