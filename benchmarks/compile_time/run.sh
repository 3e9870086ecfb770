#!/usr/bin/env bash
# What sinter costs the compiler: seconds for the first program a user writes, for a softmax, for chains of 1 to 200
# pointwise ops with their kernel, and for scheduling networks of 4 to 321 graph nodes; the least of three runs. With
# --check, fails where a number is over its limit. Generated sources go to build/.
#   CXX, NVCC, ARCH choose the compilers and nvcc's architecture; RUNS how often each is timed; FLAGS adds include paths.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
. benchmarks/compile_time/sources.sh

quickstart_limit_cxx=3     # seconds; a pause nobody minds
quickstart_limit_nvcc=8    # seconds; below a single CUB header (benchmarks of 2025: 7 to 17)
softmax_limit_nvcc=6       # seconds for one kernel of the GPU, as a program of its own
hundred_ops_limit_nvcc=2.5 # seconds that a chain of 100 ops may take over a chain of one
schedule_limit_cxx=1       # seconds that scheduling 111 nodes may take over scheduling 4
schedule_limit_nvcc=2
schedule_growth_limit=8    # times that what 321 nodes add may exceed what 111 add; the square is 8.4

cxx=${CXX:-g++}
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)}
flags=(-std=c++20 -Iinclude ${FLAGS:-})
out=build/compile_time
mkdir -p "$out"

seconds() { # seconds COMMAND...: the least of several runs
  local start least='' run
  for ((run = 0; run < ${RUNS:-3}; run++)); do
    start=$EPOCHREALTIME
    "$@" >"$out/log" 2>&1 || { head -40 "$out/log" >&2; echo "This command failed: $*" >&2; return 1; }
    least=$(awk -v a="$start" -v b="$EPOCHREALTIME" -v least="$least" \
      'BEGIN { s = b - a; printf "%.2f", least == "" || s < least ? s : least }')
  done
  echo "$least"
}
with_cxx() { seconds "$cxx" "${flags[@]}" -O2 -c "$1" -o "$out/object.o"; }
with_nvcc() {
  if [ -z "$nvcc" ]; then echo -; return; fi
  seconds "$nvcc" "${flags[@]}" -arch="${ARCH:-sm_90}" -x cu -c "$1" -o "$out/object.o"
}
growth() { awk -v a="$1" -v b="$2" 'BEGIN { if (a == "-") print "-"; else printf "%+.2f\n", a - b }'; }

printf '| %-20s | %8s | %8s | %8s | %8s |\n' 'seconds, least of '"${RUNS:-3}" "$(basename "$cxx")" 'growth' nvcc growth
printf '|:---------------------|---------:|---------:|---------:|---------:|\n'
row() { # row NAME SOURCE; leaves the seconds in $host and $device
  host=$(with_cxx "$2")
  device=$(with_nvcc "$2")
  [ -n "${first_host:-}" ] || first_host=$host first_device=$device
  printf '| %-20s | %8s | %8s | %8s | %8s |\n' "$1" "$host" "$(growth "$host" "$first_host")" "$device" "$(growth "$device" "$first_device")"
}

for ops in 1 25 50 100 200; do
  write_chain $ops >"$out/chain_$ops.cpp"
  row "chain of $ops" "$out/chain_$ops.cpp"
  [ $ops != 100 ] || hundred_ops_nvcc=$(growth "$device" "$first_device")
done
row quickstart tests/acceptance/quickstart.cpp
quickstart=$host quickstart_nvcc=$device
write_softmax >"$out/softmax.cpp"
row softmax "$out/softmax.cpp"
softmax_nvcc=$device

first_host=''
for network in 0:4 1:21 2:51 5:111 14:321; do # blocks:nodes
  blocks=${network%:*} nodes=${network#*:}
  write_network "$blocks" >"$out/network_$nodes.cpp"
  row "schedule $nodes nodes" "$out/network_$nodes.cpp"
  case $blocks in
    5) schedule=$(growth "$host" "$first_host") schedule_nvcc=$(growth "$device" "$first_device") ;;
    14) times=$(awk -v a="$(growth "$host" "$first_host")" -v b="$schedule" 'BEGIN { printf "%.1f", a / (b < 0.01 ? 0.01 : b) }') ;;
  esac
done

[ "${1:-}" = --check ] || exit 0
failed=0
within() { # within WHAT SECONDS LIMIT
  awk -v s="$2" -v l="$3" 'BEGIN { exit !(s == "-" || s + 0 <= l) }' && return
  echo "$1 took $2 s; the limit is $3 s." >&2
  failed=1
}
within "quickstart with $(basename "$cxx")" "$quickstart" $quickstart_limit_cxx
within 'quickstart with nvcc' "$quickstart_nvcc" $quickstart_limit_nvcc
within 'a softmax with nvcc' "$softmax_nvcc" $softmax_limit_nvcc
within 'a chain of 100 ops over one op, with nvcc,' "$hundred_ops_nvcc" $hundred_ops_limit_nvcc
within "scheduling 111 nodes with $(basename "$cxx")" "$schedule" $schedule_limit_cxx
within 'scheduling 111 nodes with nvcc' "$schedule_nvcc" $schedule_limit_nvcc
awk -v s="$times" -v l="$schedule_growth_limit" 'BEGIN { exit !(s + 0 <= l) }' ||
  { echo "Scheduling 321 nodes takes $times times as long as 111; the limit is $schedule_growth_limit." >&2; failed=1; }
exit $failed
