#include "backend/reference/kernels_of.h"

namespace aerogel::reference {
namespace {

constexpr Kernel<MapArgs> kMap[] = {{"reference/build_kernel_map/binary_search/i32",
                                     "every offset of every site looked up by binary search", supports_all,
                                     nullptr, build_kernel_map}};
std::string takes_floats(const SparseConvArgs& args) {
  return args.problem.dtype == DType::kI8 ? "takes f32, f16 and bf16, not i8" : "";
}
std::string takes_i8(const SparseConvArgs& args) {
  return args.problem.dtype == DType::kI8 ? ""
                                          : "takes i8, not " + std::string(dtype_name(args.problem.dtype));
}
constexpr Kernel<SparseConvArgs> kSparseConv[] = {
    {"reference/sparse_conv/pair_loop/float", "one sum per output element, in double", takes_floats, nullptr,
     sparse_conv},
    {"reference/sparse_conv/pair_loop/i8", "one exact sum per output element, scaled in double", takes_i8,
     nullptr, sparse_conv}};
constexpr Kernel<SparseConvArgs> kLinear[] = {
    {"reference/linear/loop/float", "one sum per output element, in double", takes_floats, nullptr,
     sparse_conv},
    {"reference/linear/loop/i8", "one exact sum per output element, scaled in double", takes_i8, nullptr,
     sparse_conv}};
constexpr Kernel<PoolArgs> kPool[] = {{"reference/pool/pair_loop/float",
                                       "maximum, mean or sum over the pairs of each site", supports_all,
                                       nullptr, pool}};
constexpr Kernel<GlobalPoolArgs> kGlobalPool[] = {{"reference/global_pool/loop/float",
                                                   "maximum, mean or sum over each batch item", supports_all,
                                                   nullptr, global_pool}};
constexpr Kernel<AffineArgs> kAffine[] = {
    {"reference/affine/loop/float", "scale, shift, residual and activation", supports_all, nullptr, affine}};
constexpr Kernel<MomentsArgs> kMoments[] = {{"reference/moments/two_pass/float",
                                             "mean, then biased variance, in double", supports_all, nullptr,
                                             moments}};
constexpr Kernel<RowNormArgs> kRowNorm[] = {{"reference/row_norm/two_pass/float",
                                             "mean, variance and result of each row, in double", supports_all,
                                             nullptr, row_norm}};
constexpr Kernel<GroupNormArgs> kGroupNorm[] = {
    {"reference/group_norm/two_pass/float", "mean, variance and result of each item and group, in double",
     supports_all, nullptr, group_norm}};
constexpr Kernel<ConcatArgs> kConcat[] = {
    {"reference/concat/loop/float", "channels side by side", supports_all, nullptr, concat}};
constexpr Kernel<SiteUnionArgs> kSiteUnion[] = {{"reference/site_union/ordered_map/i32",
                                                 "every row into one ordered map", supports_all, nullptr,
                                                 site_union}};
constexpr Kernel<ScatterAddArgs> kScatterAdd[] = {
    {"reference/scatter_add/loop/float", "rows added where they belong", supports_all, nullptr, scatter_add}};
constexpr Kernel<ToDenseArgs> kToDense[] = {
    {"reference/to_dense/loop/float", "each element to its cell", supports_all, nullptr, to_dense}};
constexpr Kernel<FromDenseArgs> kFromDense[] = {
    {"reference/from_dense/loop/float", "cells with any nonzero channel", supports_all, nullptr, from_dense}};
constexpr Kernel<VoxelizeArgs> kVoxelize[] = {
    {"reference/voxelize/ordered_map/f32", "capped, first-seen order", supports_all, nullptr, voxelize}};
constexpr Kernel<VoxelizeReduceArgs> kVoxelizeReduce[] = {
    {"reference/voxelize_reduce/ordered_map/float", "mean, maximum, sum or first of each voxel, rows sorted",
     supports_all, nullptr, voxelize_reduce}};
constexpr Kernel<GatherRowsArgs> kGatherRows[] = {
    {"reference/gather_rows/loop/float", "rows by id, zeros for −1", supports_all, nullptr, gather_rows}};
constexpr Kernel<TrilinearArgs> kTrilinear[] = {{"reference/trilinear/ordered_map/float",
                                                 "the sites among eight corners, weighted, in double",
                                                 supports_all, nullptr, trilinear}};

constexpr KernelTables kTables{
    .build_kernel_map = kMap,
    .sparse_conv = kSparseConv,
    .linear = kLinear,
    .pool = kPool,
    .global_pool = kGlobalPool,
    .affine = kAffine,
    .moments = kMoments,
    .row_norm = kRowNorm,
    .group_norm = kGroupNorm,
    .concat = kConcat,
    .site_union = kSiteUnion,
    .scatter_add = kScatterAdd,
    .to_dense = kToDense,
    .from_dense = kFromDense,
    .voxelize = kVoxelize,
    .voxelize_reduce = kVoxelizeReduce,
    .gather_rows = kGatherRows,
    .trilinear = kTrilinear,
};

}  // namespace

const KernelTables& kernels() { return kTables; }

}  // namespace aerogel::reference
