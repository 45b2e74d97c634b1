#!/bin/sh
# doc_outputs.sh [PART...]
# Every block of docs/papers.md that begins with `$ permc ...` is what permc prints.
# PART: only those whose command contains one of the parts; without any, all but `paper rap`, whose
# simulations take a while.
# Environment: PERMC, the tool (build/release/permc); PERMC_TMP, a folder to write in.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
permc=${PERMC:-build/release/permc}
folder=${PERMC_TMP:-$(mktemp -d)}/outputs
rm -rf "$folder"
mkdir -p "$folder"

permc() { "$permc" "$@"; }

# N.command and N.expected for each block.
awk -v folder="$folder" '
  /^```/ { if (inside) close(inside); inside = ""; first = 1; next }
  first && /^\$ permc / {
    inside = folder "/" ++count ".expected"
    sub(/^\$ permc /, "")
    print > (folder "/" count ".command")
    printf "" > inside
    first = 0
    next
  }
  { first = 0 }
  inside { print > inside }
' docs/papers.md

wanted() { # wanted COMMAND PART...
  command=$1
  shift
  [ $# -gt 0 ] || [ "${command#paper rap}" = "$command" ] || return 1
  [ $# -gt 0 ] || return 0
  for part in "$@"; do
    case $command in *"$part"*) return 0 ;; esac
  done
  return 1
}

passed=0
failed=0
skipped=0
for file in "$folder"/*.command; do
  command=$(cat "$file")
  if ! wanted "$command" "$@"; then
    skipped=$((skipped + 1))
  elif (eval "permc $command") >"$folder/found" 2>&1 &&
    diff "${file%.command}.expected" "$folder/found"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "permc $command prints something else"
  fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -ge 3 ]
