#!/usr/bin/env bash
# Installs the release build into a fresh prefix, builds a consumer against it with find_package and runs it.
set -euo pipefail
cd "$(dirname "$0")/../.."
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --preset release >/dev/null
cmake --build --preset release --target aerogel aerogel_cli >/dev/null
cmake --install build/release --prefix "$prefix/usr" >/dev/null
cmake -S tests/install/consumer -B "$prefix/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix/usr" >/dev/null
cmake --build "$prefix/build" >/dev/null
output=$("$prefix/build/consumer")
[[ "$output" == "3 sites, first feature 3" ]] || { echo "install test: unexpected output: $output"; exit 1; }
"$prefix/usr/bin/aerogel" --version
echo "install test: ok"
