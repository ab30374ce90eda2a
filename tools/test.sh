#!/usr/bin/env bash
# Everything that CI runs, in stages; each says what it does and how long it took. `tools/test.sh STAGE…` runs some.
set -euo pipefail
cd "$(dirname "$0")/.."
export AEROGEL_SHARED="${AEROGEL_SHARED:-$PWD/../shared}"
command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
jobs=$(nproc)

build() { # preset, more CMake arguments
  local preset=$1
  shift
  cmake --preset "$preset" "$@" >"build/$preset.log" 2>&1 || { cat "build/$preset.log"; return 1; }
  cmake --build --preset "$preset" -j "$jobs" >"build/$preset.log" 2>&1 || { grep -E 'error|warning|FAILED' -A5 "build/$preset.log" | head -80; return 1; }
}

run_tests() { # preset, tests at once; ctest, then what it skipped
  local results=$PWD/build/$1/test_results failed=0
  rm -rf "$results"
  GTEST_OUTPUT="xml:$results/" ctest --preset "$1" -j "${2:-1}" || failed=$?
  python3 tools/list_skipped.py "$results"
  return "$failed"
}

replay_golden() { # other implementations' recorded numbers
  local golden=$AEROGEL_SHARED/data/golden
  if [[ ! -d "$golden" ]]; then
    echo "golden data: not replayed, $golden is absent (AEROGEL_SHARED names the folder that holds data/)"
    return
  fi
  build/release/aerogel check --allow-unsupported "$golden" | tail -1
}

stage_style() { # formatting and include order
  python3 tools/check_includes.py
  python3 tools/check_operations.py
  git ls-files '*.h' '*.cc' '*.c' | xargs clang-format --dry-run -Werror
  echo "clang-format: ok"
}

stage_release() { # warnings are errors; every test
  build release -DAEROGEL_WERROR=ON
  cmake --build --preset release --target benchmarks >build/benchmarks.log 2>&1 || { cat build/benchmarks.log; return 1; }
  for page in kernels networks; do
    diff "docs/$page.md" <(build/release/aerogel "$page" --markdown) || { echo "docs/$page.md is stale: aerogel $page --markdown > docs/$page.md"; return 1; }
  done
  replay_golden
  run_tests release
}

stage_install() { # a consumer finds the installed package
  tests/install/run.sh
}

stage_asan() { # clang 14 with the address and undefined-behaviour sanitizers: every test, and each fuzz target for a while
  build asan
  run_tests asan "$jobs"
  tools/fuzz.sh "${SECONDS_PER_FUZZER:-30}"
}

stage_tidy() { # clang-tidy has nothing to say
  cmake --preset asan >build/tidy.log 2>&1 || { cat build/tidy.log; return 1; }
  python3 tools/run_clang_tidy.py build/asan
}

stage_aarch64() { # the NEON kernels, cross-compiled and run under qemu-user
  tools/test_aarch64.sh
}

stage_tsan() { # thread sanitizer, with std::thread in place of oneTBB
  build tsan
  run_tests tsan "$jobs"  # tests labelled threads
}

stages=("$@")
((${#stages[@]})) || stages=(style release install tidy asan tsan aarch64)
mkdir -p build
if ((${#stages[@]} == 1)); then
  "stage_${stages[0]}"
  exit
fi
failed=()
for stage in "${stages[@]}"; do  # each to its end, so that one run tells all that is wrong
  echo "== $stage"
  begin=$SECONDS
  if "$0" "$stage"; then
    echo "== $stage: ok ($((SECONDS - begin)) s)"
  else
    echo "== $stage: FAILED ($((SECONDS - begin)) s)"
    failed+=("$stage")
  fi
done
((${#failed[@]} == 0)) || { echo "== failed: ${failed[*]}"; exit 1; }
echo "== all of ${stages[*]}: ok ($SECONDS s)"
