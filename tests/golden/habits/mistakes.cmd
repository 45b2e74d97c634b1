# Mistakes of people who write their first programs, call the tool, and test.
cd "$PERMC_TMP"
checked() { # checked TEXT
  printf '%b' "$1" >program.perm
  echo "=== $(head -n 1 program.perm)"
  permc check program.perm
}
any='main : [n]i32 -> [n]i32\n'
checked 'main xs = xs [0]\n'
checked 'first xs = xs [0]\nmain : [n]i32 -> i32\nmain xs = first xs\n'
checked ' main xs = xs\n'
checked 'f x = x\n g x = f x\n f y = y\nmain : i32 -> i32\nmain = f\n'
checked 'f x = y + z\n  where y = 1\n         z = 2\n'
checked 'main : [8 -> i32\nmain xs = 1\n'
checked 'main : 8 i32 -> i32\nmain xs = 1\n'
checked 'main : [2^70]i32 -> i32\nmain xs = 1\n'
checked 'main : c64 -> i32\nmain z = i32 z\n'
checked 'main : [n]f64 -> f64\nmain xs = f64 / length xs\n'
checked "${any}main xs == map (+ 1) xs\\n"
checked 'main [n]i32 -> [n]i32\nmain xs = xs\n'
checked "${any}main xs = map (1 +) xs)\\n"
checked "${any}main xs = if xs then xs else xs\\n"
checked 'main : [n]u8 -> [n]u8\nmain xs = map (+ 256) xs\n'
checked 'main : []f64 -> f64\nmain xs = xs[0]\n'
checked 'main : []c64 -> []c64\nmain = fft\n'
checked 'main : [n]i32 -> [m]i32 -> [n]i32\nmain xs ys = zip_with (+) xs ys\n'
# A place is counted in characters, whatever bytes, tabulators and ends of lines they are.
checked "-- h\\303\\251llo\\r\\n${any}main xs =\\r\\n\\tmap (+ 1)\\tsrot xs -- \\303\\251\\r\\n"

echo '=== data'
printf '1.5\n2.5\n' >keys.txt
printf 'xx' >keys.npy
permc run -e top_k -i keys.txt
permc run -e top_k --random '[8]f64'
permc run -e '\xs -> xs [0]' -i keys.txt
permc run -e sort -i keys.npy
permc fmt keys.npy
permc run -e sort

echo '=== tools'
permc draw -e sort --arguments '[8]i32' 2>&1 >/dev/null
permc bench nothere.perm --size n=1..3
echo $?
permc help then
permc help where | sed -n '/^from/p'
cat >tests.perm <<'END'
main : [n]i32 -> [n]i32
main = sort
-- ==
-- structure { colums 3 }
-- ==
-- structure { passes 3 comparers 2 }
-- ==
-- inptu { [1, 2] }
-- output { [1, 2] }
END
permc test tests.perm

echo '=== numbers, names, types'
checked 'main = 017\n'
checked 'far = 1000000 : i32\nmain = far\n'
checked 'f all@xs = 3\nmain : [m]int -> int\nmain = f\n'
checked 'pass_ k xs = sort_on (\\x -> (x >> (4 * k)) & 15) xs\nmain : [m]u16 -> [m]u16\nmain xs = iteri 4 pass_ xs\n'

echo '=== a program from standard input, and where there is none'
echo 'main = 3 + 4' | permc run -
echo 'main = x' | permc check -
permc run - <&-
permc run -e sort --random '[n]i32'
permc run -e sort --random '[2^70]i32'
permc run -e sort --limit memory=1 --random '[4]i32'
permc build -e sort --arguments '[8]i32' -o absent/lib/
permc check -e 'true && 1'
