// What `aerogel check` prints: a line per case and backend, or one JSON object.
#pragma once

#include <string>
#include <vector>

#include "aerogel/device.h"

#include "nn/golden/case.h"

struct CheckedCase {
  aerogel::nn::golden::Case which;
  aerogel::Backend backend = aerogel::Backend::kReference;
  aerogel::nn::golden::Outcome outcome;
};

struct CheckTotals {
  int passed = 0;
  int failed = 0;
  int not_supported = 0;
  void count(const CheckedCase& checked);
};

/// "passed         cpu        spconv/dense_3d   max abs error 0 (dense_cf, relative L2 0 of 1e-05)"
std::string check_line(const CheckedCase& checked);

/// "31 passed, 0 failed, 64 not supported"
std::string check_summary(const CheckTotals& totals);

/// Every array's numbers.
std::string check_json(const std::vector<CheckedCase>& checked, const CheckTotals& totals);
