# Names of the fields of structured .npy, and of columns, are kept. Before: results had f0, f1, and
# a field could not be chosen.
data=$PWD/../../data/npy
cd "$PERMC_TMP" || exit 1
try() { # try OPTION...
  echo "== permc run $*" | sed "s|$data/||g"
  permc run "$@" 2>&1 | sed "s|$data/||g"
}
fields() { # fields FILE.npy: the version and the header
  printf '%s ' "-- $1: version"
  od -An -tu1 -j6 -N1 "$1" | tr -d ' \n'
  tail -c +11 "$1" | sed -n '1s/.*{/ {/;1s/ *$//p;q'
}
fields "$data/structured_nested.npy" | sed "s|$data/||"
try -e 'reverse' -i "$data/structured_nested.npy" -o out.npy && fields out.npy
try -e 'map (\(k, x, y) -> (y, k + 1, x))' -i "$data/structured_nested.npy" -o out.npy && fields out.npy
try -e 'reverse' -i "$data/structured_nested.npy" -o out.csv && cat out.csv
try -e 'reverse' -i "$data/structured_nested.npy:v.x"
try -e 'reverse' -i "$data/structured_nested.npy:v.y,k" -o out.npy && fields out.npy
try -e 'reverse' -i "$data/structured_nested.npy:2"
try -e 'reverse' -i "$data/structured_nested.npy:v"
try -e 'reverse' -i "$data/structured_nested.npy:v.x" -o out.npy && fields out.npy
try -e 'map (\x -> x)' -i "$data/structured_padded.npy:c,a" -o out.npy && fields out.npy

echo '## all fields are read, and any may be typed'
cat >nested.perm <<'END'
main : [m](u16, (i32, f32)) -> [m](u16, (i32, f32))
main = padded maxval (sort_on (\p -> negate p.1.0))

unzipped : [m](u16, (i32, f32)) -> ([m](i32, f32), [m]u16)
unzipped rows = (map snd rows, map fst rows)

joined : [m]u16 -> [m](i32, f32) -> [m]((i32, f32), u16)
joined ks vs = zip vs ks
END
try nested.perm -i "$data/structured_nested.npy" -o out.npy && fields out.npy
try nested.perm --entry unzipped -i "$data/structured_nested.npy" -o a.npy -o b.npy && fields a.npy && fields b.npy
try nested.perm --entry joined -i b.npy -i a.npy -o out.npy && fields out.npy

echo '## names that need care'
printf "%s\n" '"a,b","say ""x""",it'\''s,back\slash,weiß,,same,same,same_7, lead,"#"' 0,1,2,3,4,5,6,7,8,9,10 >odd.csv
try -e 'map (\x -> x)' -i odd.csv -o odd.npy && fields odd.npy
try -e 'map (\x -> x)' -i odd.npy -o out.csv && cat out.csv
try -e 'map (\x -> x)' -i out.csv -o out.npy && cmp odd.npy out.npy
try -e 'id' -i 'odd.csv:a,b'
try -e 'id' -i odd.npy:weiß,same
try -e 'id' -i odd.csv:weiss
printf 'caf\351,two\nlines,x\n' >latin.csv
try -e 'id' -i latin.csv
printf 'caf\351,"two\nlines"\n1,2\n' >latin.csv
try -e 'map (\x -> x)' -i latin.csv -o out.npy && fields out.npy
try -e 'id' -i latin.csv:2
try -e 'id' -i out.npy:café
