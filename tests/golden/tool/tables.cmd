# Tables of numbers, read and written. Before: a first row of names and numbers was dropped in
# silence, .csv was written without names, and a choice of columns of other files was not heeded.
cd "$PERMC_TMP" || exit 1
try() { # try OPTION...
  echo "== permc run $*"
  permc run "$@"
  status=$?
  [ "$status" = 0 ] || echo "$status"
}
show() {
  echo "-- $1"
  cat "$1"
}
printf 'item,weight,"count, all"\r\nnails,2.5,300\r\n"bolts, short", 0.75 ,"120"\r\n# none\r\n\r\n' >goods.csv
try -e 'padded maxval sort' -i goods.csv:weight
try -e 'padded maxval sort' -i goods.csv:1 -o weight.csv && show weight.csv
try -e 'padded maxval (sort_on fst)' -i 'goods.csv:weight,2' -o sorted.csv && show sorted.csv
try -e 'transpose' -i sorted.csv:1,1
try -e 'padded maxval sort' -i 'goods.csv:count, all'
try -e 'padded maxval sort' -i goods.csv:price
try -e 'padded maxval sort' -i goods.csv:3
try -e 'padded maxval sort' -i goods.csv
try -e 'padded maxval sort' -i missing.csv:price

echo '## the names of results: those of elements that were moved or chosen'
for program in 'map (\(w, c) -> (c, w))' 'map (\(w, c) -> (2 * w, c))' 'map (\(w, c) -> (c, c, w))' 'maximum' \
  'map (\(w, c) -> (if c > 200 then w else 0, c + 1))' 'map (\(w, c) -> (f64 c, if c > 200 then w else f64 c))'; do
  try -e "$program" -i sorted.csv -o out.csv && show out.csv
done
printf 'main : [m]f64 -> [m]i64 -> ([m]i64, [m]f64)\nmain ws cs = (reverse cs, ws)\n' >apart.perm
try apart.perm -i sorted.csv -o first.csv -o second.csv && show first.csv && show second.csv
printf '2019,2020,total\n1,2,3\n' >years.csv
try -e 'map (\x -> x)' -i years.csv:2019,2020 -o out.csv && show out.csv
try -e 'map (\x -> x)' -i years.csv:total,2020 -o out.csv && show out.csv

echo '## a first row with numbers'
printf 'alice,5\nbob,7\n' >people.csv
try -e 'padded maxval sort' -i people.csv:1
try -e 'padded maxval sort' -i people.csv:1 --quiet
try -e 'padded maxval sort' -i people.csv:5
try -e 'padded maxval sort' -i people.csv
(echo 'name,count' && cat people.csv) | permc run -e 'padded maxval sort' -i -:count
printf 'NA,5\n1,7\n' >measured.csv
try -e 'id' -i measured.csv

echo '## .txt'
printf '# a comment\n1 2\n\n3   4\n' >rows.txt
try -e 'transpose' -i rows.txt
try -e 'transpose' -i rows.txt -o columns.txt && show columns.txt
try -e 'map (\(w, c) -> (c, w))' -i sorted.csv -o columns.txt && show columns.txt
try -e 'padded maxval sort' -i rows.txt:1
try -e 'padded maxval sort' -i rows.txt:b

echo '## one row, which may be an array. Before: three arrays of one element without a word'
echo '3 1 2' >one-line.txt
printf 'main : [m]int -> [m]int\nmain = map (+ 1)\n' >one.perm
printf 'main : [m](int, int, int) -> [m]int\nmain = map fst . map (\\(a, b, c) -> (a, b))\n' >three.perm
try -e 'padded maxval sort' -i one-line.txt
try -e 'padded maxval sort' -i - <one-line.txt
try -e 'padded maxval sort' -i one-line.txt:0,1
try -e transpose -i one-line.txt
try one.perm -i one-line.txt
try three.perm -i one-line.txt

echo '## what two separators may separate, NUL, ends of lines. Before: [5, 5], [1, 3], no rows'
printf '1;2,5\n3;4,5\n' >semicolon.csv
printf '1,5 2,5\n' >blanks.txt
printf '1\0009\n3\n' >nul.csv
printf 'a,b\r1,2\r3,4\r' >cr.csv
try -e 'map id' -i semicolon.csv:1
try -e 'map id' -i blanks.txt
try -e 'map id' -i nul.csv
try -e 'map id' -i - <nul.csv
try -e 'map id' -i cr.csv:b

echo '## no rows, no columns'
: >empty.csv
try -e 'map (+ 1.0f64)' -i empty.csv
try -e 'map (+ 1.0f64)' -i empty.csv:price
echo '[1, 2]' >two.txt
try -e 'id' -i two.txt -o two.bin
try -e 'id' -i two.bin:0
try -e 'id' -i two.txt -o two.npy
try -e 'id' -i two.npy:price

echo '## columns and parameters. Before: the file ends before argument 2, 1 column more, and an array of 1'
printf 'id,price\n1,2.5\n2,1.5\n' >shop.csv
try -e '\p i -> map snd (padded maxval (sort_on fst) (zip p i))' -i shop.csv:price,id
try -e '\p i -> map snd (padded maxval (sort_on fst) (zip p i))' -i shop.csv:price -i shop.csv:id
try -e '\p i -> map snd (zip p i)' -i -:price,id <shop.csv
try -e 'map (+ 1)' -i shop.csv:price,id
printf 'main : [m][8]a -> [m][8]a\nmain = map sort\n' >rows.perm
try rows.perm -i shop.csv:price

echo '## fields that cannot be read. Before: none could be chosen beside them'
{
  printf '\223NUMPY\001\000\166\000%-117s\n' \
    "{'descr': [('name', '<U1'), ('n', '|i1'), ('v', '|u1', (2,))], 'fortran_order': False, 'shape': (2,), }"
  printf 'a\0\0\0\003..b\0\0\0\001..'
} >fields.npy
try -e 'map id' -i fields.npy:n
try -e 'map id' -i fields.npy
try -e 'map id' -i fields.npy:v
{
  printf '\223NUMPY\001\000\166\000%-117s\n' \
    "{'descr': [('name', '<U1'), ('n', '|i1'), ('v', '|u1', (2,))], 'fortran_order': False, 'shape': (2600,), }"
  awk 'BEGIN { for (i = 0; i < 2600; i++) printf "name%c..", 65 + i % 26 }'
} >many.npy
try -e 'map id' -i many.npy:n -o n.npy
try -e 'map id' -i many.npy:n --memory 1MiB -o apart.npy
try -e '\xs ys -> (take 3 xs, sum (zip_with (\x y -> if x == y then 1 else 0) xs ys))' -i n.npy -i apart.npy

echo '## fields with the names that NumPy gives. Before: f0 was what is computed, and f0_1 the field f0'
printf 'f0,f1\n1,2.5\n' >f.csv
try -e 'map (\(a, b) -> (f64 a + b, a, b))' -i f.csv -o out.csv && show out.csv
