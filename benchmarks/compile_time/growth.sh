#!/usr/bin/env bash
# growth.sh nvcc...: what each op of a chain adds to the code, and to its debug information, where all functions that
# the compiler saw have their names. Fails over the limits. Bytes, because seconds depend on the machine and on what
# else it does; a body that is part of a name for each of its statements, or a kernel more, shows in bytes.
set -euo pipefail
export LC_ALL=C
. "$(dirname "$0")/sources.sh"

code_limit=8000    # bytes of PTX for one op of 100, half of which are sines: 4300; 11000 with thirteen lanes of each
debug_limit=50000  # ... with debug information: 24000; 600000 with the body in the name of each statement's functions
kernels_limit=3

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
for ops in 1 100; do
  write_chain $ops >chain.cu
  "$@" -ptx -o code.$ops chain.cu
  "$@" -ptx -G -o debug.$ops chain.cu
done
per_op() { echo $((($(wc -c <"$1.100") - $(wc -c <"$1.1")) / 99)); }

failed=0
within() { # within WHAT FOUND LIMIT
  echo "$1: $2, at most $3"
  [ "$2" -le "$3" ] || failed=1
}
within 'bytes of code for each op' "$(per_op code)" $code_limit
within 'bytes of code and debug information for each op' "$(per_op debug)" $debug_limit
within 'kernels of 100 ops' "$(grep -c '\.entry ' code.100)" $kernels_limit
exit $failed
