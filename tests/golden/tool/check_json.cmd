# Messages as JSON: places, hints and notes; those that were tried and taken back are not there.
cd "$PERMC_TMP"
cat >wrong.perm <<'END'
-- é
main : [n]i32 -> i32
main xs = srot (map (+ 1) xs
END
cat >late.perm <<'END'
import "lib.perm"
main : []i32 -> i32
main xs = first xs
END
printf 'first xs = "é" xs\n' >lib.perm
permc check --json wrong.perm
printf 'first xs = xs[1]\n' >lib.perm
permc check --json late.perm
sed -i '$s/ (map.*/ xs/' wrong.perm
permc check --json wrong.perm nothere.perm
echo $?
permc check --json -e sort
permc check --json -e 'zip_with (+)' --arguments '[3]i32 [4]i32'
permc check --json -e sort --arguments '[3'
