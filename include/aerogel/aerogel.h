// The tour: include this to get everything.
//
//   types.h          dtypes, Dims                      error.h      the five ways to be refused
//   device.h         backends, ExecOptions             tensor.h     dense arrays
//   sparse_tensor.h  coordinate sets, sparse tensors   kernel_map.h window geometry and maps
//   conv.h           problem, weights, epilogue        plan.h       which kernel and why
//   ops/*.h          the verbs                         io.h         files
//   nn.h             modules and networks              weight_layout.h  importers
//
// Data flows points → voxels → coordinates → kernel map → plan → kernel → features → next layer → picture or
// file.
#pragma once

#include "aerogel/conv.h"
#include "aerogel/device.h"
#include "aerogel/error.h"
#include "aerogel/io.h"
#include "aerogel/kernel_map.h"
#include "aerogel/nn.h"
#include "aerogel/ops/convolution.h"
#include "aerogel/ops/dense.h"
#include "aerogel/ops/elementwise.h"
#include "aerogel/ops/norm.h"
#include "aerogel/ops/pooling.h"
#include "aerogel/ops/sites.h"
#include "aerogel/ops/voxelize.h"
#include "aerogel/plan.h"
#include "aerogel/sparse_tensor.h"
#include "aerogel/tensor.h"
#include "aerogel/types.h"
#include "aerogel/weight_layout.h"
