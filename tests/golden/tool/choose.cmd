# Functions that are promised to be equal: which one is taken, and why.
explain() { permc explain "$@" --target line128-tile32k 2>&1 | grep -A 2 '^choose\|error\|^  *|'; }
cd "$PERMC_TMP" || exit 1
cat >a.perm <<'END'
main : [2^n]u32 -> [2^n]u32
main = choose [odd_even_sort, sort_network]

rows : [m][2^n]u32 -> [m][2^n]u32
rows xss = map (two (choose [sort_network, bitonic_sort, choose [periodic_sort, balanced_sort]])) xss

many : [2^n]u32 -> [2^n]u32
many = sorted 4
sorted k = choose [if k == 0 then sort_network else sorted (k - 1), sort_network]

any : [m](u32, f64) -> [m](u32, f64)
any xs = sort xs

lengths : [m]u32 -> []u32
lengths = choose [take 1, take 2]

empty : [m]u32 -> [m]u32
empty xs = choose (take 0 [sort]) xs
END
explain a.perm --size n=20
explain a.perm --size n=10 --entry rows --size m=1000
explain a.perm --size n=10 --entry many
explain a.perm --size m=100000 --entry any
explain a.perm --size m=5 --entry lengths
explain a.perm --size m=5 --entry empty
permc explain a.perm --size n=20 --target line128-tile32k --json 2>/dev/null | grep -o '"choices": .*"passes"'
echo '-- a library, whose radix sort is plain C'
for target in c-baseline c-avx2; do
  permc explain -e sort --arguments '[2^12]u32' --target $target 2>&1 | grep -A 1 '^choose'
done
