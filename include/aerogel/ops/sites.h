// Verbs that change which sites there are: parts of a set, unions and intersections, finer and coarser sets,
// batches, bird's-eye views. Features are f32, f16 or bf16 and keep their dtype.
//
// New sets are sorted by (batch, columns left to right), also where the input was not. Where nothing else is
// said, spatial shape, batch size and tensor stride are the input's. N = 0 is legal everywhere. A dry run
// needs the data of coordinates and masks, which decide sizes, and none of features. Every verb throws
// InvalidArgument for shapes, dtypes and undefined inputs, and costs a copy of the output beside what is
// said.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aerogel/sparse_tensor.h"

namespace aerogel {

/// The sites i with keep[i].
///   keep [N] bool
SparseTensor prune(const SparseTensor& in, const Tensor& keep, const ExecOptions& exec = {});

/// The sites of a box, moved to its corner: dense, it is in[:, lo0:hi0, lo1:hi1, …].
///
///   lo, hi   ndim              0 ≤ lo ≤ hi ≤ extent and lo < hi on every axis
///   returns  spatial shape hi − lo
SparseTensor crop(const SparseTensor& in, const Dims& lo, const Dims& hi, const ExecOptions& exec = {});

/// The same sites and features with rows sorted; the input itself where they are.
SparseTensor sort_rows(const SparseTensor& in, const ExecOptions& exec = {});

/// Every coordinate times the factor of its axis, as VoxelNeXt brings deeper levels onto one grid. Features
/// are shared with the input if its rows are sorted.
///
///   factor          ndim, ≥ 1
///   spatial_shape   ndim       empty: extent · factor; else every site must lie inside
///   returns         tensor stride / factor, at least 1
SparseTensor scale_coordinates(const SparseTensor& in, const Dims& factor, const Dims& spatial_shape = {},
                               const ExecOptions& exec = {});

/// Batches behind one another: items of parts[1] follow those of parts[0]. Spatial shape, channels and dtype
/// must agree; the tensor stride is that of the first part.
SparseTensor batch_join(std::span<const SparseTensor> parts, const ExecOptions& exec = {});

/// One tensor of batch size 1 for each batch item, also for items without sites.
std::vector<SparseTensor> batch_split(const SparseTensor& in, const ExecOptions& exec = {});

/// Channels side by side on the union of the parts' sites, zeros where a part has no site: [N, ΣC]. Spatial
/// shape, batch size and dtype must agree; the tensor stride is that of the first part. Parts on one set keep
/// that set and its order. concat (elementwise.h) insists on one set.
///   cost   a merge of the sorted sites per part
SparseTensor concat_union(std::span<const SparseTensor> parts, const ExecOptions& exec = {});

/// The sites that both have, with the channels of a and b side by side: [N, C_a + C_b].
SparseTensor concat_intersection(const SparseTensor& a, const SparseTensor& b, const ExecOptions& exec = {});

/// The sum on the sites that both have; channels must agree.
SparseTensor add_intersection(const SparseTensor& a, const SparseTensor& b, const ExecOptions& exec = {});

/// Blocks. A site c and its parent floor(c / factor) are child and parent; the child's number within the
/// block counts row-major over the spatial columns, last column fastest: K = Π factor children. An empty
/// factor is 2 on every axis. The maps of these verbs are kept with the coordinate set and shared with
/// convolutions and pools of kernel = stride = factor and SiteRule::kBlocks.
///
/// downsample: the parents of all sites. kFirst takes the child of the least number (nearest neighbour).
///   returns   extent ⌈extent / factor⌉, tensor stride · factor
SparseTensor downsample(const SparseTensor& in, const Dims& factor = {}, Reduce reduce = Reduce::kMean,
                        const ExecOptions& exec = {});

/// Every child of every site, with its parent's features.
///
///   keep      [N, K] bool       the children to make; undefined: all
///   returns   extent · factor, tensor stride / factor, at least 1
SparseTensor subdivide(const SparseTensor& in, const Dims& factor = {}, const Tensor& keep = {},
                       const ExecOptions& exec = {});

/// Nearest-neighbour upsampling onto a given finer set: each site of `onto` gets its parent's features.
///   throws   InvalidArgument   batch size; a site of `onto` without parent in `in` (names it)
SparseTensor upsample(const SparseTensor& in, const Coordinates& onto, const Dims& factor = {},
                      const ExecOptions& exec = {});

/// The parents of all sites, the features of their children side by side by child number, zeros for children
/// that are not there: [M, K · C]. Sites as downsample.
SparseTensor space_to_channel(const SparseTensor& in, const Dims& factor = {}, const ExecOptions& exec = {});

/// The other way: child k of each site gets channels k · C/K … (k+1) · C/K − 1. Sites as subdivide.
///   throws   InvalidArgument   channels that K does not divide
SparseTensor channel_to_space(const SparseTensor& in, const Dims& factor = {}, const Tensor& keep = {},
                              const ExecOptions& exec = {});

/// The same onto a given finer set, as upsample.
SparseTensor channel_to_space_onto(const SparseTensor& in, const Coordinates& onto, const Dims& factor = {},
                                   const ExecOptions& exec = {});

/// The bird's-eye view: the sites without one column, features that fall together summed or their maximum.
///
///   axis      0 … ndim − 1      the spatial column to drop; ndim ≥ 2
///   reduce    kSum, kMax
///   returns   spatial shape and tensor stride without the axis
///   source    VoxelNeXt (CVPR 2023), whose sum over heights this is
SparseTensor bev(const SparseTensor& in, int axis = 0, Reduce reduce = Reduce::kSum,
                 const ExecOptions& exec = {});

/// Dense bird's-eye view with heights stacked into channels: [B, C · D, H, W] from spatial shape (D, H, W),
/// channel c · D + d; OpenPCDet's HeightCompression.
Tensor bev_dense(const SparseTensor& in, const ExecOptions& exec = {});

}  // namespace aerogel
