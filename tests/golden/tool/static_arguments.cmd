# explain, check and test see the static arguments that run sees. Before: explain had no value for c and
# failed; check failed for it, left other entry points out silently, and passed where only m = 0 works;
# tests of C functions failed.
cat >"$PERMC_TMP/static.perm" <<'END'
main : int -> [m]i32 -> []i32
main c xs = take c xs
-- ==
-- structure { c 2 m 8 passes 0 }

permuted : []int -> [2^n]i32 -> [2^n]i32
permuted a xs = bmmc a 0 xs

parted : int -> [8]i32 -> [8]i32
parted k xs = parm (2^(k + 9)) reverse xs

only_none : [m]i32 -> [m]i32
only_none xs = map (+ 1) (take (2 * m) xs)
END
cat >"$PERMC_TMP/foreign.perm" <<'END'
extern "m" cbrt : f64 -> f64
main : f64 -> f64
main x = cbrt x
-- ==
-- input { 8.0 }
-- output { 2.0 }
END
cd "$PERMC_TMP" || exit 1
explain() { # explain OPTION...
  permc explain static.perm "$@" --target gpu | sed '/^target/,$d'
}
explain --size c=2 --size m=8
explain --arguments '2 [8]i32'
echo '2 [1i32, 2i32, 3i32]' >data.txt
explain -i data.txt
explain --size c=9 --size m=8
explain --size d=9 --size m=8
explain --arguments 'two [8]i32'
explain --arguments '[2 [8]i32'
explain --arguments '2i32 [8]i32'
explain --entry permuted --arguments '[4, 1, 2] [8]i32'
permc run --entry permuted static.perm --random '[1, 2] [4]i32' --seed 3
permc check static.perm
echo "check: $?"
permc check static.perm --entry main --size c=3
echo "with a value: $?"
permc check static.perm --entry permuted --arguments '[1, 2, 4] [8]i32'
echo "with a matrix: $?"
permc check static.perm --entry permuted --arguments '[1, 1, 4] [8]i32'
echo "with a singular one: $?"
permc check static.perm -i data.txt
echo "with data: $?"
permc check static.perm --size e=3
permc test static.perm
permc test foreign.perm
echo "foreign: $?"
permc test --allow-extern foreign.perm
