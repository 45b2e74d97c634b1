#!/bin/sh
# help_names.sh PERMC SOURCE_ROOT
# `permc help NAME` explains every builtin, scalar operation and function of the library, with a type
# and an example; the type is that of the sources, and the examples pass: of the library they are
# expressions and their values, of the others programs of their own.
set -eu
permc=${1:-$PERMC}
root=${2:-.}
folder=${PERMC_TMP:-$(mktemp -d)}/help_names
rm -rf "$folder"
mkdir -p "$folder/examples"

sed -n "s/^\([a-z][a-z0-9_']*\) .*/\1/p" "$root"/stdlib/*.perm | sort -u >"$folder/library"
{
  sed -n '/^static const builtin rows/,/^};/s/^ *{"\([^"]*\)".*/\1/p' "$root/lang/elaborate/builtins.c"
  sed -n 's/^ *ROW([A-Z0-9_]*, "\([^"]*\)".*/\1/p' "$root/core/scalar/scalar.h"
  printf '%s\n' i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 bool int '&&' '||' '|>'
} | sort -u >"$folder/names"

passed=0
failed=0
count=0
while IFS= read -r name; do
  count=$((count + 1))
  text=$folder/text
  if ! "$permc" help "$name" >"$text" 2>&1; then
    failed=$((failed + 1))
    echo "FAIL: permc help $name: $(cat "$text")"
  elif ! grep -q '^example:$' "$text" || ! sed '/^example:/,$d' "$text" | grep -q -- ' : \|->\|type'; then
    failed=$((failed + 1))
    echo "FAIL: permc help $name has no example or no type"
  else
    passed=$((passed + 1))
    sed -n '/^example:$/,/^from /s/^  //p' "$text" >"$folder/examples/$count.perm"
  fi
done <"$folder/names"

# sort [3, 1, 2] = [1, 2, 3]
while IFS= read -r name; do
  "$permc" help "$name" | grep "^  \(.*[^a-z_]\)\?$name\([^a-z_].*\)\? = " >"$folder/equations" ||
    echo "(nothing) = (nothing)" >"$folder/equations"  # no program: it fails below
  while IFS= read -r equation; do
    if [ "$("$permc" run -e "${equation%% = *}" 2>&1)" = "$("$permc" run -e "${equation#* = }" 2>&1)" ] &&
      "$permc" run -e "${equation#* = }" >/dev/null 2>&1; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "FAIL: permc help $name: $equation"
    fi
  done <"$folder/equations"
done <"$folder/library"

# NAME : TYPE, as the library and the table of builtins have it.
{
  sed -n "s/^\([a-z][a-z0-9_']*\) : \(.*\)/\1 \2/p" "$root"/stdlib/*.perm
  sed -n '/^static const builtin rows/,/^};/s/^ *{"\([^"]*\)", "\([^"]*\)".*/\1 \2/p' "$root/lang/elaborate/builtins.c"
} >"$folder/types"
while read -r name type; do
  if "$permc" help "$name" | sed '/^example:/,$d' | grep -qF -- "$type"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: permc help $name lacks the type $type"
  fi
done <"$folder/types"

# The same example stands for several names.
(cd "$folder/examples" && cksum ./*.perm | awk 'seen[$1]++ { print $3 }' | xargs rm -f)
if "$permc" test --backend interp "$folder/examples" >"$folder/tests" 2>&1; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  cat "$folder/tests"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 300 ]
