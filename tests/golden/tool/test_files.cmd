# Programs whose mistakes hide their tests. Before: several such files were "no tests found" without
# their mistakes, and among files with tests they passed unseen.
cd "$PERMC_TMP" || exit 1
printf 'main = (\n' >a.perm
printf 'main = srot\n' >b.perm
printf 'main = 1\n' >none.perm
printf 'main x = let (a, c) = (c, a) in a + x\n' >c.perm
printf 'main = 1\n-- ==\n-- input { } output { 1 }\n' >good.perm
try() {
  echo "== permc test $*"
  permc test "$@"
  echo "$?"
}
try a.perm b.perm
try none.perm b.perm
try good.perm a.perm
try good.perm none.perm
try none.perm none.perm
try c.perm
try none.perm a.perm --only x
