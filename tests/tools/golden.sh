#!/bin/sh
# golden.sh [--bless] [PART...]
# Texts that permc prints, pinned. Each case lies under tests/golden and is run in its own folder:
#   NAME.perm  `permc check NAME.perm`; if its first line is `-- permc: ARGS`, `permc ARGS`, a %
#              in which stands for NAME.perm
#   NAME.cmd   a shell script that calls permc; it may write to $PERMC_TMP, an empty folder, only
# What it prints on standard output and standard error, and then the line `exit STATUS`, is
# NAME.expected to the letter, and holds no word of internal_names.txt. --bless writes that file anew;
# read the diff before you commit it.
# PART: only cases whose path contains one of the parts.
# Environment: PERMC, the tool (build/release/permc); PERMC_TMP, a folder to write in.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
export PERMC="${PERMC:-$root/build/release/permc}"

if [ -z "${PERMC_TMP:-}" ]; then
  PERMC_TMP=$(mktemp -d)
  trap 'rm -rf "$PERMC_TMP"' EXIT
fi
export PERMC_TMP
bless=
if [ "${1:-}" = --bless ]; then
  bless=yes
  shift
fi
mkdir -p "$PERMC_TMP/bin"
ln -sf "$PERMC" "$PERMC_TMP/bin/permc"
PATH=$PERMC_TMP/bin:$PATH
limit=$((60 * ${PERMC_SLOWER:-1}))  # seconds, against hangs only

run_case() { # run_case FILE, in its folder
  case $1 in
  *.cmd)
    rm -rf "$PERMC_TMP/case"
    mkdir "$PERMC_TMP/case"
    PERMC_TMP=$PERMC_TMP/case timeout "$limit" sh "$1"
    ;;
  *)
    arguments=$(sed -n '1s/^-- permc: //p' "$1")
    # In words, as a shell would: ARGS may be quoted.
    eval "set -- $(printf '%s' "${arguments:-check %}" | sed "s|%|$1|g")"
    timeout "$limit" permc "$@"
    ;;
  esac
}

selected() { # selected PATH PART...
  path=$1
  shift
  [ $# -gt 0 ] || return 0
  for part in "$@"; do
    case $path in *"$part"*) return 0 ;; esac
  done
  return 1
}

passed=0
failed=0
found=$PERMC_TMP/found
list=$PERMC_TMP/list
find "$root/tests/golden" -name '*.perm' -o -name '*.cmd' | sort >"$list"
row=0
while IFS= read -r file; do
  # Where the build is slow one case in five, unless some are asked for.
  row=$((row + 1))
  [ "${PERMC_SLOWER:-1}" -eq 1 ] || [ "${PERMC_ALL:-}" ] || [ $# -gt 0 ] || [ $((row % 5)) -eq 0 ] || continue
  selected "${file#"$root/"}" "$@" || continue
  cd "$(dirname "$file")" || exit 1
  case=$(basename "$file")
  expected=${case%.*}.expected
  # A file that another case imports has nothing pinned of its own.
  case $case in lib_*) continue ;; esac
  (run_case "$case") >"$found" 2>&1 </dev/null
  echo "exit $?" >>"$found"
  if [ -n "$bless" ]; then
    cmp -s "$found" "$expected" || cp "$found" "$expected"
  fi
  if grep -v '^ ' "$found" | grep -nwFf "$root/tests/tools/internal_names.txt"; then
    failed=$((failed + 1))
    echo "${file#"$root/"}: an internal name in a message"
  elif difference=$(diff -u "$expected" "$found" 2>&1); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s: differs\n%s\n' "${file#"$root/"}" "$difference"
  fi
done <"$list"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
