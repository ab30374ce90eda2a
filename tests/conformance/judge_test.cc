// The comparisons that judge every kernel must fail on one wrong element.
#include <cmath>
#include <limits>

#include <gtest/gtest-spi.h>

#include "conformance/generate.h"

namespace aerogel::testing {
namespace {

const std::vector<double> kExpected = {1, -2, 0, 4};
const std::vector<double> kBound = {0.5, 0.5, 0, 0.125};

Tensor right_with(std::int64_t element, float value) {
  Tensor tensor = Tensor::from<float>({4}, std::vector<float>{1, -2, 0, 4});
  tensor.mutable_data<float>()[element] = value;
  return tensor;
}

TEST(Judge, WithinItsBoundPasses) {
  expect_within(right_with(0, 1), kExpected, kBound);
  expect_within(right_with(0, 1.5F), kExpected, kBound);
  expect_within(right_with(3, 3.875F), kExpected, kBound);
}

TEST(Judge, OneElementPastItsBoundFails) {
  EXPECT_NONFATAL_FAILURE(expect_within(right_with(0, 1.51F), kExpected, kBound), "element 0");
  EXPECT_NONFATAL_FAILURE(expect_within(right_with(1, 2), kExpected, kBound), "element 1");
  EXPECT_NONFATAL_FAILURE(expect_within(right_with(2, 1e-30F), kExpected, kBound), "element 2");
  EXPECT_NONFATAL_FAILURE(expect_within(right_with(3, 4.5F), kExpected, kBound), "element 3");
}

TEST(Judge, WhatIsNotANumberFails) {
  EXPECT_NONFATAL_FAILURE(expect_within(right_with(1, std::nanf("")), kExpected, kBound), "element 1");
  EXPECT_NONFATAL_FAILURE(
      expect_within(right_with(1, std::numeric_limits<float>::infinity()), kExpected, kBound), "element 1");
  const std::vector<double> nan_expected = {1, std::nan(""), 0, 4};
  EXPECT_NONFATAL_FAILURE(expect_within(right_with(1, 0), nan_expected, kBound), "element 1");
  expect_within(right_with(1, std::nanf("")), nan_expected, kBound);
}

TEST(Judge, ElementsLeftOutAreSeen) {
  EXPECT_NONFATAL_FAILURE(expect_within(poisoned({4}), kExpected, kBound), "element 0");
}

TEST(Judge, BitsMustBeTheSame) {
  const Tensor expected = right_with(0, 1);
  expect_same_bits(right_with(0, 1), expected, "same");
  EXPECT_NONFATAL_FAILURE(expect_same_bits(right_with(3, std::nextafter(4.0F, 5.0F)), expected, "out"),
                          "element 3");
  EXPECT_NONFATAL_FAILURE(expect_same_bits(right_with(2, -0.0F), expected, "out"), "element 2");
  EXPECT_FATAL_FAILURE(expect_same_bits(right_with(0, 1).reshape({2, 2}), right_with(0, 1), "out"), "[2, 2]");
}

TEST(Judge, AFailureHandsOutItsProblem) {
  if (std::getenv("AEROGEL_PROBLEM") != nullptr) GTEST_SKIP() << "one problem is being rerun";
  EXPECT_NONFATAL_FAILURE(for_each_problem(
                              "no_such_op", 1, [](Random&) { return std::string("no_such_op:n=1"); },
                              [](const ProblemString&) { ADD_FAILURE() << "planted"; }),
                          "AEROGEL_PROBLEM='no_such_op:n=1'");
}

}  // namespace
}  // namespace aerogel::testing
