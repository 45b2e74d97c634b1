# Entry points: which there are, what they take.
cat >"$PERMC_TMP/entries.perm" <<'END'
helper f xs = f xs
apply : ([]a -> []a) -> []a -> []a
apply f xs = f xs
rows : [m][2^n]i32 -> [m][2^n]i32
rows = map sort
pair : [2^n](i32, f32) -> ([2^n]i32, [2^n]f32)
pair = unzip
both : [n]i32 -> [n]i32 -> [n]i32
both xs ys = zip_with min xs ys
any : [n]a -> [n]a
any xs = xs
number : i32
number = 3
END
cd "$PERMC_TMP" || exit 1
try() { # try ENTRY TYPES
  permc run entries.perm --entry "$1" --random "$2"
  echo "$?"
}
try main '[4]i32'
try mian '[4]i32'
try helper '[4]i32'
try apply '[4]i32'
try rows '[4]i32'
try rows '[4][4]f32'
try rows '[4][3]i32'
try rows '[4][4]i32 i32'
try pair '[4](i32, f64)'
try pair '[4](i32, f32, f32)'
try pair '[4]i32'
try both '[4]i32'
try both '[4]i32 [3]i32'
try number i32
try any i32
try any '[5]'
try any '[2^4][8]'
try any '[5i64]'
try any '[f32.nan]'
permc run -e '\xs -> sum xs / length xs' --random '[8]f64'
try any '[4'
try any '[4]i33'
try any '[18446744073709551615]i64'
permc run entries.perm --random '[4]i32'
echo "main: $?"
echo 'x = 3' >none.perm
permc run none.perm </dev/null
echo "none: $?"
permc check none.perm
echo "check: $?"
