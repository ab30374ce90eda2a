#!/usr/bin/env bash
# Long work that CI leaves out: coverage-guided fuzzing of every parser, arrays past 2^31 bytes, sets past 2^24
# rows, aarch64 under emulation. SECONDS_PER_FUZZER (default 300) bounds the first.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${SECONDS_PER_FUZZER:-300}
mkdir -p build

echo "== sizes past 2^31 bytes and 2^24 rows (5 GB of memory)"
cmake --preset release >build/long.log
cmake --build --preset release >>build/long.log
AEROGEL_LONG_TESTS=1 build/release/tests/test_property --gtest_filter='Large.*'

echo "== fuzzing, $seconds s a target"
cmake --preset fuzz >build/long.log
cmake --build --preset fuzz >>build/long.log
for target in build/fuzz/fuzz/fuzz_*; do
  [[ -x "$target" && ! -d "$target" ]] || continue
  corpus=build/fuzz/corpus/$(basename "$target")
  mkdir -p "$corpus"
  "$target" "$corpus" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$corpus-" 2>&1 | tail -8
done

echo "== aarch64 (NEON) under emulation"
tools/test_aarch64.sh
