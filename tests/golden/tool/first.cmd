# -o first:N=FILE: as many elements of a result as result N says; in all formats, in memory, in files
# and on ranks.
cd "$PERMC_TMP" || exit 1
echo '[5, 2, 8, 1, 6]' >xs.in
printf 'id,price\n1,2.5\n2,9\n3,4\n' >prices.csv
permc run -e 'compact even' -i xs.in -o first:2=kept.npy && permc run -e id -i kept.npy
permc run -e 'compact even' -i xs.in -o first:2=kept.bin -o - && permc run -e id -i kept.bin
permc run -e 'compact even' -i xs.in -o first:2=kept -o n.txt && cat kept n.txt
permc run -e 'compact even' -i xs.in -o first:2=-
permc run -e 'compact (\(k, x) -> x > 3.0)' -i prices.csv -o first:2=kept.csv && cat kept.csv
permc run -e '\xs -> (split 1 (take 4 xs), map negate xs, 1, 2u8)' -i xs.in -o first:3=a.csv -o first:4=b.txt && cat a.csv b.txt
permc run -e '\xs -> (xs, 0)' -i xs.in -o first:2=a.npy && permc run -e length -i a.npy
permc run -e '\xs -> (xs, xs, 2)' --random '[100000]i64' --memory 1MiB -o first:3=a.npy -o b.npy && permc run -e '\a b -> (length a, length b, all (zip_with (==) a (take 2 b)))' -i a.npy -i b.npy
permc run -e 'compact even' --random '[1000]i64' -o first:2=a.npy -o n.txt
permc run -e 'compact even' --random '[1000]i64' --ranks 4 -o first:2=b.npy -o n.txt && cmp a.npy b.npy
echo "== what is wrong, before and after the run"
rm -f ./a.csv
permc run -e '\xs -> (xs, sum xs)' -i xs.in -o first:2=a.csv
permc run -e '\xs -> (xs, 0 - sum xs)' -i xs.in -o first:2=a.csv
permc run -e '\xs -> (xs, f32 1.5)' -i xs.in -o first:2=a.csv
permc run -e '\xs -> (xs, xs)' -i xs.in -o first:2=a.csv
permc run -e '\xs -> (sum xs, 1)' -i xs.in -o first:2=a.csv
permc run -e '\xs -> (xs, 1)' -i xs.in -o first:3=a.csv
permc run -e '\xs -> (xs, 1)' -i xs.in -o first:=a.csv
permc run -e '\xs -> (xs, 1)' -i xs.in -o first:2
permc run -e '\xs -> (xs, 1)' -i xs.in -o first:2=a.csv -o ./a.csv
permc run -e '\xs -> (xs, 1)' -i xs.in -o ./first:2=a.csv -o n.txt && cat first:2=a.csv
ls ./*.csv
permc run -e 'compact even' -i xs.in -o first=x.txt
permc run -e 'compact (even . fst)' --random '[4](i32, i32)' -o first:3=x.txt
