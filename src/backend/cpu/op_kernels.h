// The rows of every op but convolution and linear, listed by kernels.cc.
#pragma once

#include "backend/kernel.h"

namespace aerogel::cpu {

extern const Kernel<MapArgs> kBuildKernelMapSortedMerge;
extern const Kernel<PoolArgs> kPoolPairList;
extern const Kernel<GlobalPoolArgs> kGlobalPoolRowParts;
extern const Kernel<AffineArgs> kAffineRowLoop;
extern const Kernel<MomentsArgs> kMomentsTwoPass;
extern const Kernel<RowNormArgs> kRowNormTwoPass;
extern const Kernel<GroupNormArgs> kGroupNormRowParts;
extern const Kernel<ConcatArgs> kConcatRowCopy;
extern const Kernel<SiteUnionArgs> kSiteUnionSortedMerge;
extern const Kernel<ScatterAddArgs> kScatterAddPartByPart;
extern const Kernel<ToDenseArgs> kToDenseRowScatter;
extern const Kernel<FromDenseArgs> kFromDenseTwoPass;
extern const Kernel<VoxelizeArgs> kVoxelizeHashTable;
extern const Kernel<VoxelizeReduceArgs> kVoxelizeReduceHashTable;
extern const Kernel<GatherRowsArgs> kGatherRowsRowCopy;
extern const Kernel<TrilinearArgs> kTrilinearHashTable;

}  // namespace aerogel::cpu
