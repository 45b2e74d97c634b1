# Lengths of rows that there are not. Before: [0][0] from a comprehension, [] and padded, and a result
# without rows was not compared with the signature.
cat >"$PERMC_TMP/rows.perm" <<'END'
table : [m]int -> [m][4]int
table xs = [[i, i + 1, 2 * i, xs[i]] | i <- 0..m-1]

none : int -> [0][3]int
none x = []

longer : [m][2]int -> [m][3]int
longer = padded [0, 0] (map (\r -> concat r [1]))

wrong : [m][8]i32 -> [m][8]i32
wrong = map (take 4)
END
cd "$PERMC_TMP" || exit 1
echo 'empty([0]i64)' | permc run --entry table rows.perm -i -
echo 1 | permc run --entry none rows.perm -i -
echo 'empty([0][2]i64)' | permc run --entry longer rows.perm -i -
for backend in interp portable cpu; do
  echo 'empty([0][8]i32)' | permc run --backend $backend --entry wrong rows.perm -i -
done
