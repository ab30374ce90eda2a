#!/usr/bin/env bash
# Coverage-guided fuzzing of every reader, and of all kernel rows against each other: tools/fuzz.sh SECONDS a target.
# Begins with the kept corpus (fuzz/corpus, one folder a target); what is new and interesting lands in build/asan/corpus.
# `tools/fuzz.sh --keep` folds that into the kept corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1}

targets() { find build/asan/fuzz -maxdepth 1 -type f -executable -name 'fuzz_*' | sort; }

fuzz_one() { # seconds, target
  local name=${2##*/fuzz_} found=0 executions added
  local new=build/asan/corpus/$name kept=fuzz/corpus/$name log=build/asan/fuzz_$name.log
  mkdir -p "$new" "build/asan/crashes/$name"
  local folders=("$new")
  [[ -d "$kept" ]] && folders+=("$kept")
  "$2" "${folders[@]}" -max_total_time="$1" -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="build/asan/crashes/$name/" >"$log" 2>&1 || found=$?
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  added=$(sed -n 's/^stat::new_units_added: *//p' "$log")
  echo "$name ${executions:-0} ${added:-0} $found"
}

keep() {
  local merged=build/asan/merged name
  while read -r target; do
    name=${target##*/fuzz_}
    rm -rf "$merged"
    mkdir -p "$merged" "build/asan/corpus/$name" "fuzz/corpus/$name"
    "$target" -merge=1 -max_len=4096 "$merged" "fuzz/corpus/$name" "build/asan/corpus/$name" >build/asan/merge.log 2>&1 ||
      { tail -5 build/asan/merge.log; return 1; }
    # The hundred smallest: a starting point that a repository can carry, not all of the coverage. sed reads to the end,
    # so that no broken pipe stops us between removing and copying.
    rm -rf "fuzz/corpus/$name"
    mkdir -p "fuzz/corpus/$name"
    find "$merged" -type f -printf '%s %p\n' | sort -n | sed -n '1,100s/^[0-9]* //p' | xargs -r cp -t "fuzz/corpus/$name"
    echo "$name: $(find "fuzz/corpus/$name" -type f | wc -l) inputs kept"
  done < <(targets)
}

if [[ "${1:-}" == --keep ]]; then
  keep
  exit
fi
seconds=${1:?tools/fuzz.sh SECONDS}
export -f fuzz_one
totals=$(targets | xargs -P "$(nproc)" -I{} bash -c "fuzz_one $seconds {}")
[[ -n "$totals" ]] || { echo "fuzz: no target in build/asan/fuzz"; exit 1; }
echo "$totals" | sort | awk -v seconds="$seconds" '
  BEGIN { printf "%-14s %12s %10s   (%s s each)\n", "target", "executions", "new paths", seconds }
  { printf "%-14s %12d %10d%s\n", $1, $2, $3, $4 ? "   FAULT" : ""; e += $2; n += $3; if ($4 || !$2) bad++ }
  END { printf "%-14s %12d %10d   faults: %d\n", "total", e, n, bad; exit bad ? 1 : 0 }' || {
    for name in $(echo "$totals" | awk '$4 || !$2 { print $1 }'); do
      grep -E 'ERROR|SUMMARY|runtime error|Test unit written' -A12 "build/asan/fuzz_$name.log" | head -40 || true
    done
    exit 1
  }
