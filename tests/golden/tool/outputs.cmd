# The files of -o are checked before anything runs: each of these programs would run for minutes.
# Before, all of them ran first, and what could not be written was lost.
cd "$PERMC_TMP" || exit 1
echo 1 >one.txt
printf 'main : i64 -> (i64, i64)\nmain x = (sum (iota (2^34)) + x, x)\n' >long.perm
mkdir folder
echo old >kept.npy
ln -s kept.npy link.npy
mkdir sealed
echo old >sealed.npy
chmod 500 sealed sealed.npy
plain= # what takes from root the right to write anywhere
[ "$(id -u)" != 0 ] || plain='setpriv --bounding-set=-dac_override,-dac_read_search'
try() {
  echo "== permc run $*"
  $plain permc run "$@"
  echo "$?"
}
try long.perm -i one.txt -o a -o b -o c
try long.perm -i one.txt -o kept.npy -o kept.npy
try long.perm -i one.txt -o kept.npy -o ./kept.npy
try long.perm -i one.txt -o kept.npy -o folder/../link.npy
try long.perm -i one.txt -o new.npy -o folder/../new.npy
try long.perm -i one.txt -o missing/a.npy -o b
try long.perm -i one.txt -o a -o missing/folder/b.npy
try long.perm -i one.txt -o one.txt/a -o b
try long.perm -i one.txt -o sealed/a.npy -o b
try long.perm -i one.txt -o a -o sealed.npy
try long.perm -i one.txt -o folder -o b
try long.perm -i one.txt -o folder/ -o b
try long.perm -i one.txt -o '' -o b
try long.perm -i one.txt -o a.json -o b
try long.perm -i one.txt -o a.npz -o b
try -e '\x -> split 1 (split 1 (iota (2^34 + x)))' -i one.txt -o a.csv
try -e '\x -> (iota 4, [x])' -i one.txt -o - -o -
ls -R
