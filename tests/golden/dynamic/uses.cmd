# Everything that must be static: each entry of uses.txt is run.
cat >"$PERMC_TMP/uses.perm" <uses.txt
cd "$PERMC_TMP" || exit 1
try() { # try ENTRY TYPES
  permc run uses.perm --entry "$1" --random "$2"
  echo "$1: $?"
}
try take_count 'i32 [8]i32'
try split_count 'i32 [8]i32'
try repetition 'i32 i32'
try length_of i32
try copies i32
try row 'i32 [2]i32'
try matrix '[3]i32 [8]i32'
try complement 'i32 [2]i32'
try first i32
try last i32
try second i32
try filter i32
try number i32
try truth bool
try order i32
try logarithm i32
try size 'i32 [8]i32'
