# Commands that messages offer can be pasted: names with blanks or quotes stand between quotes.
# Before: `permc run my sorts.perm`, which names two files.
mkdir "$PERMC_TMP/my files" && cd "$PERMC_TMP/my files" || exit 1
printf 'item,weight\nnails,2\nbolts,1\n' >"Ada's goods.csv"
echo '[3, 1, 2]' | tee keys.txt >'some keys.txt'
cat >'my sorts.perm' <<'END'
main : [m]int -> [m]int
main xs = xs
-- ==
-- input @ keys.txt
-- property: sorted
-- random input { [9]i64 }
-- property: sorted
END
cd ..
permc test 'my files/my sorts.perm' >failed
cat failed
grep 'to run it: ' failed | sed 's/.*: //' | sh -e
permc 'my files/my sorts.perm'
permc run 'my files/some keys.txt'
permc run -e sort -i "my files/Ada's goods.csv"
permc run -e sort -i 'my files/some keys.txt' -o "it's no/place.npy"
