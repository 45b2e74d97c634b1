# How programs will run: texts, and what is refused.
explain() { permc explain "$@" --target line128-tile32k 2>&1 | sed 's/^planned in .*/planned in .../'; }
cd "$PERMC_TMP" || exit 1
cat >a.perm <<'END'
main : [2^n]i32 -> [2^n]i32
main xs = map (+ 1) (sort_network (bitrev xs))

nothing : [2^n]i32 -> [2^n]i32
nothing xs = flip_bits 3 (flip_bits 3 xs)

pairs : [2^n](u8, f64) -> [2^n](u8, f64)
pairs = sort_network

rows : [m][2^n]u16
       -> [m][2^n]u16
rows = map fwht

longer : [m]f32 -> [m]f32
longer = padded maxval sort_network

two_stages : [2^n]i32 -> [2^n](i32, i32)
two_stages xs = zip xs (bitrev (map (* 2) xs))
END
explain a.perm --size n=16
explain a.perm --size n=20 --entry nothing --rules
explain a.perm --size n=10 --entry pairs
explain a.perm --size m=1000 --size n=8 --entry rows
explain a.perm --size m=5000 --entry longer
explain a.perm --size n=14 --entry two_stages
explain a.perm
explain a.perm --size n=3 --size m=4
explain a.perm --size n=70
explain -e sort_network --size n=4
explain -e sort --arguments '[2^3]i32 [4]i32'
explain -e sort_network --arguments '[100]i32'
explain -e sort --arguments '[2^3]int32'
explain -e 'map floor' --arguments '[8]c64'
