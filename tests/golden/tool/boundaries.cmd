# Why passes are apart, and why some only move elements: the two ops, and what would join them.
explain() {
  permc explain "$@" --target line128-tile32k 2>&1 | sed -n '/^ all/,/^planned/{/^planned/!{/^ all/!p}}'
}
cd "$PERMC_TMP" || exit 1
cat >apart.perm <<'END'
sorted : [2^n]i32 -> [2^n]i32
sorted xs = sort_network (map (+ 1) xs)

orders : [2^n]i32 -> [2^n]i32
orders xs = zip_with (-) ys (bitrev ys)
  where ys = map (* 3) xs

centred : [2^n]i32 -> [2^n]i32
centred xs = map (\x -> x - total) xs
  where total = sum xs

moved : [2^n]i32 -> [2^n]i32
moved = bitrev

part : [m]i32 -> []i32
part xs = map (+ 1) (take (m / 2 + 1) (map long xs))

pieces : [m]i32 -> []i32
pieces xs = map (* 3) (concat (map long xs) (map (* 2) (drop 1 xs)))

long = iter 40 (\x -> x * x + 1)  -- more than is computed twice

apart : [2^n]i32 -> [2^k]i32 -> ([2^n]i32, [2^k]i32)
apart xs ys = (map (+ 1) xs, map (* 2) ys)
END
for entry in sorted orders centred moved; do
  echo "-- $entry"
  explain apart.perm --entry "$entry" --size n=16
done
for entry in part pieces; do
  echo "-- $entry"
  explain apart.perm --entry "$entry" --size m=10000
done
echo "-- apart"
explain apart.perm --entry apart --size n=10 --size k=4
echo "-- two factors"
explain -e bitrev --arguments '[2^16]i32' --strategy ulp
echo "-- json"
permc explain apart.perm --entry orders --size n=16 --target line128-tile32k --json |
  sed -n 's/.*\("reason": "[a-z]*", "before".*\)}\], "permutations.*/\1/p'
