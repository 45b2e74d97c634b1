# Tests that fail show what they were run on, and how to run it alone. Before: neither, and of arrays
# with many rows not even the row that differs.
cd "$PERMC_TMP" || exit 1
echo '[1, 2, 300]' >a.txt
cat >bad.perm <<'END'
cmp i j xs = [if k == i then min xs[i] xs[j] else if k == j then max xs[i] xs[j] else xs[k] | k <- 0 .. 3]
bad : [m][4]i32 -> [m][4]i32
bad = map (\xs -> cmp 0 1 (cmp 1 2 (cmp 0 1 xs)))
one : [m]i32 -> [m]i32
one = \xs -> padded maxval (map (min 100) . sort) xs
-- ==
-- entry: bad
-- random input { [4][4]i32 }
-- random input { [100][4]i32 }
-- property: equals map sort
-- ==
-- entry: bad
-- random input { [100][4]i32 }
-- property: sorted
-- ==
-- entry: one
-- random input { [5]i32 }
-- random input { [50]i32 }
-- input { [3,2,101] }
-- input @ a.txt
-- property: equals padded maxval sort
END
permc test bad.perm
permc run bad.perm --entry one --random '[5]i32'
