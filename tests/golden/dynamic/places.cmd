# Places that are data: those that are outside, or twice where they must be distinct, are errors with
# their position, and no result is written.
try() { # try EXPR DATA
  echo "$2" > "$PERMC_TMP/data"
  permc run -e "$1" -i "$PERMC_TMP/data" -o "$PERMC_TMP/out" --backend interp 2>&1 | tee "$PERMC_TMP/interp"
  for backend in portable auto; do
    permc run -e "$1" -i "$PERMC_TMP/data" -o "$PERMC_TMP/other" --backend $backend > "$PERMC_TMP/said" 2>&1
    cmp -s "$PERMC_TMP/interp" "$PERMC_TMP/said" || echo "$backend differs"
  done
  [ ! -e "$PERMC_TMP/out" ] || { cat "$PERMC_TMP/out"; rm "$PERMC_TMP/out"; }
  echo
}
try 'gather' '[0, 2, 3, 1] [1.5, 2.5, 3.5]'
try 'gather' '[0u8, 2u8] empty([0]f32)'
try 'gather' '[-1i8] [1, 2, 3]'
try 'gather' '[18446744073709551615u64] [1, 2, 3]'
try 'gather' 'empty([0]i32) empty([0]f32)'
try 'scatter' '[1, 0, 1] [7, 8, 9] [1, 2, 3]'
try 'scatter' '[4, 0, 0] [7, 8, 9] [1, 2, 3, 4, 5]'
try 'scatter' '[0, 5] [7, 8] [1, 2, 3, 4, 5]'
try 'scatter' '[0, 4] [7, 8] [1, 2, 3, 4, 5]'
try 'scatter' '[0, 1] [7] [1, 2]'
try 'scatter' '[0] [[7]] [[1, 2]]'
try 'map (\p -> gather p (iota 3))' '[[0, 1], [2, 2], [0, 3]]'
try 'map (\p -> scatter p p (iota 3))' '[[0, 1], [2, 2]]'
try '\p -> take 1 (gather p (iota 3))' '[0, 4]'
try '\p -> fst ([1], gather p (iota 3))' '[0, 4]'
try 'gather' '[0.5] [1]'
try 'map_ragged (-1) 0 sort' '[0, 2] [1, 2]'
try 'map_ragged 2 0 (drop 1)' '[0, 2] [1, 2]'
try 'map_ragged 2 0 sort' '[0, 3] [1, 2]'
try 'sort_ragged' '[0, 2, 5] [1, 2, 3, 4]'
try 'row_numbers 4' '[0, 2, 5]'
try 'row_lengths 0' '[0, 1]'
try 'row_lengths (-1)' '[0, 1]'
try 'bucket 70 id' '[1, 2]'
try 'histogram (-1) id' '[1, 2]'
try 'reduce_keys 63 (+) 0 id' '[1, 2]'
try 'map_ragged 2 0 sort [0.0, 2.0]' '[1, 2]'
