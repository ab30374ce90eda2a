#!/usr/bin/env bash
# Installs what is missing of tools/debian-packages.txt. Does nothing when all is there. Debian 12 or a derivative;
# on other systems it says what to install (docs/building.md).
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t wanted < <(sed -e 's/#.*//' -e 's/ .*//' -e '/^$/d' tools/debian-packages.txt)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  missing=()
  for tool in g++ cmake ninja python3; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  if ((${#missing[@]})); then
    echo "bootstrap: this is not Debian; please install ${missing[*]} and the libraries listed in docs/building.md" >&2
    exit 2
  fi
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
((${#missing[@]})) || exit 0

echo "bootstrap: installing ${missing[*]}"
as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "bootstrap: not root and no sudo; ask for: apt-get install ${missing[*]} (or see docs/building.md)" >&2
    exit 2
  fi
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -20 "$log" >&2
  echo "bootstrap: apt-get failed" >&2
  exit 2
fi
