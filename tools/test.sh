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

stage_style() { # formatting and include order
  python3 tools/check_includes.py
  git ls-files '*.h' '*.cc' | xargs clang-format --dry-run -Werror
  echo "clang-format: ok"
}

stage_release() { # warnings are errors; every test
  build release -DAEROGEL_WERROR=ON
  diff docs/kernels.md <(build/release/aerogel kernels --markdown) || { echo "docs/kernels.md is stale: aerogel kernels --markdown > docs/kernels.md"; return 1; }
  build/release/aerogel check --allow-unsupported "$AEROGEL_SHARED/data/golden" | tail -1 || [[ ! -d "$AEROGEL_SHARED/data/golden" ]]
  ctest --preset release
}

stage_install() { # a consumer finds the installed package
  tests/install/run.sh
}

stage_clang() { # the library compiles with clang 14 too, and clang-tidy has nothing to say
  build clang
  python3 tools/run_clang_tidy.py build/clang
}

stage_asan() { # address and undefined-behaviour sanitizers
  build asan
  ctest --preset asan
}

stage_tsan() { # thread sanitizer, with std::thread in place of oneTBB
  build tsan
  ctest --preset tsan  # tests labelled threads
}

stages=("$@")
((${#stages[@]})) || stages=(style release install asan tsan clang)
mkdir -p build
for stage in "${stages[@]}"; do
  echo "== $stage"
  begin=$SECONDS
  "stage_$stage"
  echo "== $stage: ok ($((SECONDS - begin)) s)"
done
