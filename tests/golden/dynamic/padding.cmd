# Padding in the result of padded, or what is computed from it alone, is an error in each backend.
# Before: padding that came first took the places of elements silently, but for some sorters.
try() { # try EXPR [TYPES]
  for backend in interp portable auto; do
    permc run -e "$1" --random "${2:-[5]u8}" --backend $backend > "$PERMC_TMP/$backend" 2>&1
    cmp -s "$PERMC_TMP/interp" "$PERMC_TMP/$backend" || echo "$backend differs"
  done
  cat "$PERMC_TMP/interp"
  echo
}
try 'padded maxval (sort_on (\x -> 255 - x))'
try 'padded maxval sort_desc'
try 'padded minval ranks'
try 'padded maxval (map (+ 1) . sort_by (\x y -> x >= y))'
try 'padded 100 sort'
try 'padded maxval (sort_on (\x -> x % 10))'
try 'padded (maxval, 0) (sort_stable_on (\p -> negate p.0))' '[3](f64, u8)'
try '\xs -> padded xs[0] sort xs'
try 'map (padded 0 sort_desc)' '[2][3]i8'
try 'padded 0 reverse'
try 'padded minval (argsort . reverse)'
try 'padded 0 (mapi (\i x -> x + i) . reverse)' '[5]i64'
try 'padded (minval, 0) (map (\p -> p.1 * 2) . sort)' '[5](u8, u8)'
try 'padded 0 fwht'
try 'padded maxval odd_even_sort'
try 'padded maxval ranks'
try 'padded minval sort_desc'
try 'padded maxval (map (+ 1) . sort)'
try '\xs -> take 5 (fwht (extended 0 xs))'
for f in 'maxval sort' 'maxval argsort' '0 (scan (+))'; do
  permc explain -e "padded $f" --arguments '[5]u8' | grep 'result of padded'
done
