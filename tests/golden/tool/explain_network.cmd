# A network on rows is one column. Before: its comparators and layers were nowhere, a structure that
# counted them failed without a reason, and permc help did not know the words.
cd "$PERMC_TMP" || exit 1
cat >rows.perm <<'END'
order [x, y] = if x <= y then [x, y] else [y, x]
at i j xs = let [a, b] = order [xs[i], xs[j]] in [if k == i then a else if k == j then b else xs[k] | k <- 0 .. 3]
main : [m][4]i32 -> [m][4]i32
main = map (at 1 2 . at 0 2 . at 1 3 . at 0 1 . at 2 3)
smooth : [m][4]f32 -> [m][4]f32
smooth = map (\[a, b, c, d] -> [a, (a + b) / 2, (b + c) / 2, (c + d) / 2])
-- ==
-- structure { m 100 columns 3 }
END
for entry in main smooth; do
  permc explain rows.perm --entry "$entry" --size m=100 --target line128-tile128k | sed -n '/^columns/,/^maps/p'
done
permc test rows.perm
for word in columns exchanges structure; do permc help "$word"; done
permc explain -e sort --arguments '[2^20]i32' | sed -n '/^because/,/^before it/s/[0-9][0-9.]* [mu]*s/T/gp' | sed 's/^because .*/because/; s/, cuda T//'
