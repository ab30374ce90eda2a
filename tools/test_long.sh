#!/usr/bin/env bash
# Long work that CI leaves out: coverage-guided fuzzing of every target, arrays past 2^31 bytes, sets past 2^24 rows.
# SECONDS_PER_FUZZER (default 600) bounds the first.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${SECONDS_PER_FUZZER:-600}
mkdir -p build

echo "== sizes past 2^31 bytes and 2^24 rows (5 GB of memory)"
cmake --preset release >build/long.log
cmake --build --preset release >>build/long.log
AEROGEL_LONG_TESTS=1 build/release/tests/test_property --gtest_filter='Large.*'

echo "== fuzzing, $seconds s a target"
cmake --preset asan >build/long.log
cmake --build --preset asan >>build/long.log
tools/fuzz.sh "$seconds"
