#!/usr/bin/env bash
# Cross-compiles the library and its tests for aarch64 on Debian and runs them under qemu-user: the NEON kernels.
set -euo pipefail
cd "$(dirname "$0")/.."
export AEROGEL_SHARED="${AEROGEL_SHARED:-$PWD/../shared}"

mapfile -t wanted < <(sed -e 's/#.*//' -e 's/ .*//' -e '/^$/d' tools/debian-packages-aarch64.txt)
missing=()
for package in "${wanted[@]}"; do
  [[ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] || missing+=("$package")
done
if ((${#missing[@]})); then
  as_root=()
  ((EUID == 0)) || as_root=(sudo)
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  if ! { "${as_root[@]}" dpkg --add-architecture arm64 && "${as_root[@]}" apt-get update -qq &&
         "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -5 "$log"
    echo "aarch64: NOT RUN: the packages ${missing[*]} cannot be installed here"
    exit 0
  fi
fi

mkdir -p build
cmake --preset aarch64 >build/aarch64.log || { tail -20 build/aarch64.log; exit 1; }
cmake --build --preset aarch64 >>build/aarch64.log 2>&1 || { grep -E 'error' -A5 build/aarch64.log | head -40; exit 1; }
# No QEMU_LD_PREFIX: the loader of the cross compiler's package and the C library of libc6:arm64 are of different builds,
# and such a pair spins for ever in pthread_create.
for kind in unit conformance golden; do
  echo "aarch64, $kind:"
  qemu-aarch64 "build/aarch64/tests/test_$kind" --gtest_brief=1
done
