// The rows of every op but convolution and linear, listed by kernels.cc.
#pragma once

#include "backend/kernel.h"

namespace aerogel::cpu {

extern const Kernel<MapArgs> kBuildKernelMapSortedMerge;
extern const Kernel<PoolArgs> kPoolPairList;
extern const Kernel<GlobalPoolArgs> kGlobalPoolRowChunks;
extern const Kernel<AffineArgs> kAffineRowChunks;
extern const Kernel<MomentsArgs> kMomentsRowChunks;
extern const Kernel<ConcatArgs> kConcatRowCopy;
extern const Kernel<SiteUnionArgs> kSiteUnionSortedMerge;
extern const Kernel<ScatterAddArgs> kScatterAddRowTiles;
extern const Kernel<ToDenseArgs> kToDenseScatter;
extern const Kernel<FromDenseArgs> kFromDenseScan;
extern const Kernel<VoxelizeArgs> kVoxelizeHash;
extern const Kernel<VoxelizeMeanArgs> kVoxelizeMeanSort;
extern const Kernel<GatherRowsArgs> kGatherRowsCopy;

}  // namespace aerogel::cpu
