# What is no entry point. Before: functions without a signature were not mentioned, the input of a
# test was called unreadable, and a missing size came without the option that gives it.
cd "$PERMC_TMP" || exit 1
cat >order.perm <<'END'
order [x, y] = if x <= y then [x, y] else [y, x]
sort8 xs = map order xs
twice f x = f (f x)
sorted : [m]a -> [m]a
sorted = padded maxval sort
-- ==
-- input { [1] } output { [1] }
-- ==
-- entry: sort8
-- input { [1] } output { [1] }
-- ==
-- entry: srot
-- structure { columns 6 }
-- ==
-- entry: sorted
-- structure { columns 6 }
END
for entry in order sort8 twice srot sorted; do
  permc explain order.perm --entry "$entry"
done
permc test order.perm
