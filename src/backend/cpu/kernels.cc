#include "backend/cpu/conv_kernels.h"
#include "backend/cpu/op_kernels.h"

namespace aerogel::cpu {

const KernelTables& kernels() {
  static const Kernel<MapArgs> build_kernel_map[] = {kBuildKernelMapSortedMerge};
  static const Kernel<SparseConvArgs> sparse_conv[] = {
      kSparseConvDepthwise, kSparseConvImplicitGemm, kSparseConvImplicitGemmF16, kSparseConvImplicitGemmBf16,
      kSparseConvImplicitGemmI8};
  static const Kernel<SparseConvArgs> linear[] = {kLinearDepthwise, kLinearPackedGemm, kLinearPackedGemmF16,
                                                  kLinearPackedGemmBf16, kLinearPackedGemmI8};
  static const Kernel<PoolArgs> pool[] = {kPoolPairList};
  static const Kernel<GlobalPoolArgs> global_pool[] = {kGlobalPoolRowParts};
  static const Kernel<AffineArgs> affine[] = {kAffineRowLoop};
  static const Kernel<MomentsArgs> moments[] = {kMomentsTwoPass};
  static const Kernel<RowNormArgs> row_norm[] = {kRowNormTwoPass};
  static const Kernel<GroupNormArgs> group_norm[] = {kGroupNormRowParts};
  static const Kernel<ConcatArgs> concat[] = {kConcatRowCopy};
  static const Kernel<SiteUnionArgs> site_union[] = {kSiteUnionSortedMerge};
  static const Kernel<ScatterAddArgs> scatter_add[] = {kScatterAddPartByPart};
  static const Kernel<ToDenseArgs> to_dense[] = {kToDenseRowScatter};
  static const Kernel<FromDenseArgs> from_dense[] = {kFromDenseTwoPass};
  static const Kernel<VoxelizeArgs> voxelize[] = {kVoxelizeHashTable};
  static const Kernel<VoxelizeReduceArgs> voxelize_reduce[] = {kVoxelizeReduceHashTable};
  static const Kernel<GatherRowsArgs> gather_rows[] = {kGatherRowsRowCopy};
  static const Kernel<TrilinearArgs> trilinear[] = {kTrilinearHashTable};
  static const KernelTables tables = {
      .build_kernel_map = build_kernel_map,
      .sparse_conv = sparse_conv,
      .linear = linear,
      .pool = pool,
      .global_pool = global_pool,
      .affine = affine,
      .moments = moments,
      .row_norm = row_norm,
      .group_norm = group_norm,
      .concat = concat,
      .site_union = site_union,
      .scatter_add = scatter_add,
      .to_dense = to_dense,
      .from_dense = from_dense,
      .voxelize = voxelize,
      .voxelize_reduce = voxelize_reduce,
      .gather_rows = gather_rows,
      .trilinear = trilinear,
  };
  return tables;
}

}  // namespace aerogel::cpu
