#!/usr/bin/env bash
# Cross-compiles the library and its tests for aarch64 on Debian and runs them under qemu-user: the NEON kernels.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v aarch64-linux-gnu-g++ >/dev/null || ! command -v qemu-aarch64 >/dev/null || ! dpkg --print-foreign-architectures | grep -qx arm64; then
  as_root=()
  ((EUID == 0)) || as_root=(sudo)
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" dpkg --add-architecture arm64
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends g++-aarch64-linux-gnu qemu-user libhwy-dev:arm64 \
    libtbb-dev:arm64 libfmt-dev:arm64 zlib1g-dev:arm64 libgtest-dev:arm64 >/dev/null
fi
mkdir -p build
cmake --preset aarch64 >build/aarch64.log || { tail -20 build/aarch64.log; exit 1; }
cmake --build --preset aarch64 >>build/aarch64.log 2>&1 || { grep -E 'error' -A5 build/aarch64.log | head -40; exit 1; }
export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu AEROGEL_SHARED="${AEROGEL_SHARED:-$PWD/../shared}"
for kind in unit conformance; do
  qemu-aarch64 "build/aarch64/tests/test_$kind" --gtest_brief=1
done
