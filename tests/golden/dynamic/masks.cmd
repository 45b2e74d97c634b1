# Where a value stopped being static is shown: each entry of masks.txt is run.
cat >"$PERMC_TMP/masks.perm" <masks.txt
cd "$PERMC_TMP" || exit 1
try() { # try ENTRY TYPES
  permc run masks.perm --entry "$1" --random "$2"
  echo "$1: $?"
}
try by_argument 'i32 [8]i32'
try by_index '[8]i32'
try by_element '[8]i32'
try by_pattern '[2]i32'
try by_map '[8]i32'
try by_mapi '[8]i64'
try computed 'i32 [8]i32'
try through_library 'i32 [8]i32'
