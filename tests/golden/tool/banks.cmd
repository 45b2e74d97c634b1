# Traces that are wrong, options that do not fit, layouts that need other banks.
cd "$PERMC_TMP" || exit 1
try() {
  permc banks "$@"
  echo "exit $?"
}
: >empty.txt
printf '# a comment\n\n' >comments.txt
printf '0 1 2\n0 foo\n' >word.txt
printf '0 1 2\n\n0 -1\n' >negative.txt
printf '0 0x1000000000000\n' >far.txt
printf '0 8 16 24 # columns\n0x0,0x1,2,3\n' >good.txt
try empty.txt
try comments.txt
try word.txt
try negative.txt
try far.txt
try missing.txt
try .
try
try good.txt --banks 0
try good.txt --banks 2000
try good.txt --words 24
try good.txt --seed x
try good.txt --layout fixed
try good.txt --layout foo
try good.txt --layout fixed-xor --banks 24
try good.txt --layout optimal --banks 8
try --banks=8 --layout rap --seed 7 - <good.txt
try --layout optimal --banks 8 --json good.txt
try --layout help
# Of plans.
printf 'main : [2^n]u32 -> [2^n]u32\nmain xs = bitrev xs\n' >program.perm
try program.perm --size n=14 --strategy tile --layout optimal
try -e bitrev --arguments '[2^14]u32' --strategy tile --layout optimal --json
try program.perm --strategy tile
try program.perm --entry mian --size n=14
try program.perm --size n=14 --strategy tiles
try -e bitrev --arguments '[2^14]u32' --strategy online
try -e 'map (+ 1)' --arguments '[2^14]u32'
try good.txt --size n=14
# A seed behind a layout's name.
try good.txt --layout RAP:7 --banks 8
try good.txt --layout RAP:7 --seed 3
try good.txt --layout RAP:99999999999999999999999
try good.txt --layout raw:7
# One of each.
printf '5\n' >one.txt
try one.txt --banks 1
printf '0 \0001\n' >zero.txt
try zero.txt
# No pattern; two hundred patterns.
printf '9 2 17 2\n' >random.txt
try random.txt --banks 4 --layout raw --seed 3
i=2
while [ $i -le 201 ]; do
  echo "0 $i"
  echo "1 $((i + 1))"
  i=$((i + 1))
done >strides.txt
try strides.txt --layout raw
