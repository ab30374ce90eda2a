// The reference judges every other kernel, so it is judged by numbers worked out by hand: tiny literal
// inputs, literal outputs, exact in f32. The same literals judge the cpu rows.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "aerogel/device.h"
#include "aerogel/plan.h"

#include "unit/backend/literals.h"

namespace aerogel {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

/// Calls body(exec) for the reference and for the cpu; every op must run on a row of that backend.
template <class Body>
void on_both_backends(const Body& body) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    const std::string prefix = std::string(backend_name(backend)) + "/";
    SCOPED_TRACE(prefix);
    ExecOptions exec;
    exec.backend = backend;
    exec.observer = [&](const OpRecord& record) {
      EXPECT_EQ(record.kernel.substr(0, prefix.size()), prefix) << record.kernel;
    };
    body(exec);
  }
}

/// A line of sites at the columns 0, 1 and 3 of 5: a pair of neighbours and a lone one.
inline SparseTensor line(const Floats& features) {
  return {floats({3, std::ssize(features) / 3}, features), sites({0, 0, 0, 1, 0, 3}, {5}, 1)};
}

}  // namespace aerogel
