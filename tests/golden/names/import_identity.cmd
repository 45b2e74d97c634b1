# An imported file is told by what it is, not by how its path is written; only regular files are
# imported, and not without end. A hang is status 124.
cd "$PERMC_TMP" || exit 1
mkdir left right common
check() {
  echo "-- $1"
  timeout 10 permc check "$1"
  echo "status $?"
}
echo 'shared = 3' >common/shared.perm
ln common/shared.perm left/hard.perm
ln -s ../common/shared.perm right/symbolic.perm
ln -s common linked

printf '%s\n' 'import "../common/shared.perm"' 'import "hard.perm"' 'one = shared' >left/one.perm
printf '%s\n' 'import "../left/../common//shared.perm"' 'import "symbolic.perm"' \
  'import "../linked/shared.perm"' 'two = shared' >right/two.perm
printf '%s\n' 'import "left/one.perm"' 'import "right/two.perm"' 'import "common/shared.perm"' \
  'main : i32' 'main = one + two + shared' >diamond.perm
check diamond.perm
(cd left && check ../diamond.perm)

printf '%s\n' 'import ".//itself.perm"' 'import "left/../itself.perm"' 'main = 1' >itself.perm
check itself.perm
printf '%s\n' 'import ".//ping.perm"' 'a = 1' >pong.perm
printf '%s\n' 'import ".//pong.perm"' 'main = a' >ping.perm
check ping.perm

mkfifo pipe
printf '%s\n' 'import "pipe"' 'import "common"' 'import "/dev/zero"' 'import "missing.perm"' \
  'main = 1' >special.perm
check special.perm

# Two files of the same content are two files.
cp common/shared.perm copy.perm
printf '%s\n' 'import "common/shared.perm"' 'import "copy.perm"' 'main = shared' >copies.perm
check copies.perm

# A program is read from a pipe, too.
mkfifo program
echo 'main = 1' >program &
check program
wait

mkdir many
for i in $(seq 1 1000); do
  echo "import \"$((i + 1)).perm\"" >many/$i.perm
done
echo 'a = 1' >many/1000.perm
printf '%s\n' 'import "many/1.perm"' 'main = a' >most.perm
check most.perm
printf '%s\n' 'import "1001.perm"' 'a = 1' >many/1000.perm
: >many/1001.perm
check most.perm
