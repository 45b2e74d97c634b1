# A program with errors stays as it is.
cd "$PERMC_TMP" || exit 1
printf 'main = = sort\n' >wrong.perm
permc fmt wrong.perm
echo "$?"
cat wrong.perm
printf 'main = 1 -- a zero \000 byte\n' >zero.perm
permc fmt zero.perm
echo "$?"
# Signs in a row stay apart: -- begins a comment.
printf 'f x = - - -x\ng x = x < - 1 && -  -1 == x- - 2\n' | permc fmt -
