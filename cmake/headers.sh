#!/usr/bin/env bash
# Every header compiles alone: headers.sh JOBS SUFFIX INCLUDE_FOLDER COMPILER..., in a scratch folder.
set -eu
jobs=$1 suffix=$2 include=$3
shift 3
export -n include
check() {
  local header=$1 folder
  shift
  folder=$(tr / _ <<<"$header") # each has its own: compilers write beside themselves
  mkdir -p "$folder" && cd "$folder"
  printf '#include <%s>\n' "$header" >header.cpp
  "$@" header.cpp || { echo "$header does not compile alone."; return 1; }
}
export -f check
headers=$(cd "$include" && find . -name "*.$suffix" -printf '%P\n' | sort)
[ -n "$headers" ] || { echo "There is no .$suffix header."; exit 0; }
xargs -P "$jobs" -I{} bash -c 'check "$@"' check {} "$@" <<<"$headers"
echo "$(wc -l <<<"$headers") .$suffix headers compile alone."
