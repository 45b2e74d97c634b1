# Everything that must be static: each entry of uses.txt is run.
cat >"$PERMC_TMP/uses.perm" <uses.txt
cd "$PERMC_TMP" || exit 1
try() { # try ENTRY TYPES
  permc run uses.perm --entry "$1" --random "$2"
  echo "$1: $?"
}
try take_count 'i64 [8]i32'
try split_count 'i64 [8]i32'
try repetition 'i64 i32'
try length_of i64
try copies i64
try index 'i64 [8]i32'
try row 'i64 [2]i32'
try matrix '[3]i64 [8]i32'
try complement 'i64 [2]i32'
try first i64
try last i64
try second i64
try filter i64
try number i64
try truth bool
try order i64
try logarithm i64
try size 'i64 [8]i32'
