#!/usr/bin/env bash
# Installs the shared and the static library into fresh prefixes, builds a consumer against each with find_package
# and runs it. The static one compiles with the flags of the release stage, so that ccache has its objects already.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

consume() { # name, build folder, file the package must bring, more CMake arguments
  local name=$1 build=$2 library=$3 prefix=$work/$1
  shift 3
  cmake --preset release -B "$build" "$@" >/dev/null
  cmake --build "$build" --target aerogel aerogel_cli >"$work/log" || { tail -40 "$work/log"; return 1; }
  cmake --install "$build" --prefix "$prefix/usr" >/dev/null
  [[ -n "$(find "$prefix/usr" -name "$library")" ]] || { echo "install test: the $name package has no $library"; return 1; }
  cmake -S tests/install/consumer -B "$prefix/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix/usr" >/dev/null
  cmake --build "$prefix/build" >/dev/null
  local output
  output=$("$prefix/build/consumer")
  [[ "$output" == "3 sites, first feature 3" ]] || { echo "install test: unexpected output: $output"; return 1; }
  "$prefix/usr/bin/aerogel" --version
  echo "install test, $name library: ok"
}

consume shared build/release libaerogel.so
consume static build/install_static libaerogel.a -DBUILD_SHARED_LIBS=OFF -DAEROGEL_BUILD_TESTS=OFF -DAEROGEL_WERROR=ON
