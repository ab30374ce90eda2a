// A kernel map for a verb, with what its OpRecord should say about it.
#pragma once

#include "aerogel/plan.h"

#include "kernel_map/map_cache.h"

namespace aerogel {

/// Finds or builds the map and fills record.pairs, map_reused, map_ms and map_bytes.
FoundMap find_map(const Coordinates& in, const KernelSpec& spec, const ExecOptions& exec, OpRecord& record);

}  // namespace aerogel
