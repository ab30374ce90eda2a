// The instruction sets that the cpu backend is compiled for; include before hwy/foreach_target.h. Arrays of
// vectors need a size known at compile time, so scalable vectors are out (NEON serves those machines). SSSE3
// and AVX3_DL bring f32 arithmetic nothing over their neighbours but would take their share of every build.
#pragma once

#ifndef AEROGEL_UNBUILT_TARGETS  // more of them, for builds whose compile time is the point (sanitizers)
#define AEROGEL_UNBUILT_TARGETS 0
#endif
#define HWY_DISABLED_TARGETS                                                             \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | \
   AEROGEL_UNBUILT_TARGETS)
