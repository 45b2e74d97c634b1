# Data that does not fit the entry.
cd "$PERMC_TMP" || exit 1
printf 'main : [2^n]i32 -> i32 -> [2^n]i32\nmain xs y = map (\\x -> x + y) xs\n' >main.perm
try() {
  printf '%s' "$1" | permc run main.perm
  echo "$?"
}
try '[1, 2] 3'
try ''
try '[1, 2]'
try '[1, 2] 3 4'
try '[1.5, 2] 3'
try '[1, 2, 3] 3'
try '[1, [2]] 3'
try '[1, 2'
try '[1i64] 3'
try '[3000000000] 3'
try '3 [1]'
try '[] 3'
try 'empty([0]i32) 3'
permc run main.perm -i missing.npy
echo "$?"
permc run main.perm -i .
echo "$?"
