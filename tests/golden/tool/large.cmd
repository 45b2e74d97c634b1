# Programs and data that are too large.
cd "$PERMC_TMP" || exit 1
truncate -s 65M large.perm
permc check large.perm
permc fmt large.perm
permc test large.perm
rm large.perm
permc run -e 'replicate (2^50) 1u8' 2>&1 | sed 's/memory; .*/memory; .../'
permc run -e 'replicate (2^61) (replicate 8 1u8)'
permc run -e 'map (\x -> map (\y -> x) (replicate 99 true)) (replicate (2^61) true)'
permc run -e 'sort' --random '[4611686018427387904]i32'
