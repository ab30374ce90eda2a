// One function per kind of recorded case; run_case.cc picks by name.
#pragma once

#include "aerogel/device.h"

#include "nn/golden/case_file.h"
#include "nn/golden/comparison.h"

namespace aerogel::nn::golden {

using KindRunner = void (*)(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);

// layer_kinds.cc
void run_pipeline(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);
void run_autocast(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);
void run_net(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);
void run_tables(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);
void run_state_dict_keys(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);
void run_init(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);
// op_kinds.cc
void run_sparse_add(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);
void run_dense(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);
void run_from_dense(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);
void run_point_to_voxel(const CaseFile& file, const ExecOptions& exec, Comparison& comparison);
// paddle.cc
void run_paddle_conv(const JsonField& vector, const ExecOptions& exec, Comparison& comparison);
void run_paddle_max_pool(const JsonField& vector, const ExecOptions& exec, Comparison& comparison);

}  // namespace aerogel::nn::golden
