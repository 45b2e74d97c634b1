# Files that are none of what was meant, and words in the wrong order. Before: "Is a directory",
# "ends before argument 1" of an empty file, "expected a value, found '\x1f'" of a compressed one, 20
# errors of one binary file after a minute, and some that were not noticed.
cd "$PERMC_TMP" || exit 1
try() {
  echo "== permc $*"
  permc "$@"
  echo "$?"
}
printf 'main : [m]a -> [m]a\nmain = padded maxval sort\n' >sort.perm
printf 'item,weight\nnails,2.5\nbolts,0.75\n' >goods.csv
printf 'x,y,x\n1,2,3\n' >twice.csv
printf 'x,y\n' >header.csv
printf '3\n1\n' >one.txt
: >empty.npy
: >empty.perm
mkdir folder
try run sort.perm -i folder
try run folder -i one.txt
try fmt folder
try run sort.perm -i ''
try run sort.perm -i empty.npy
try run sort.perm </dev/null
try run empty.perm -i one.txt
try test empty.perm
try run sort.perm -i header.csv
try run sort.perm -i twice.csv:x
try run sort.perm -i twice.csv:2
try run -e '\x y -> (x, y)' -i twice.csv
try run sort.perm -i one.txt:x
printf 'main : [m]f32 -> [m]f32\nmain = padded maxval sort\n' >floats.perm
permc run -e 'iota 3' -o ints.npy
try run floats.perm -i ints.npy
try run floats.perm -i goods.csv
try -i one.txt run sort.perm
try -x run sort.perm
try version
try run sort.perm -i=one.txt
try run sort -i one.txt
try run -e 1 -o a -o b
try doctor now
gzip -c goods.csv >goods.csv.gz
printf '\375%s' 7zXZ >goods.xz
printf '\050\265\057\375' >goods.zst
printf 'PAR1\025\004' >goods.parquet
printf '\211HDF\r\n' >goods.h5
printf '\377\376i\0' >goods_16.csv
printf '{"weight": [2.5, 0.75]}' >goods.json
printf '\177ELF\002' >program
printf '\0\0' >zeros
printf 'ARROW1\0\0\377\377\377\377' >goods.arrow
printf '\377\377\377\377\170\0\0\0' >stream.arrow
printf 'FEA1\0\0\0\0' >goods.feather
printf 'ORC\3' >goods.orc
printf 'Obj\1\4' >goods.avro
printf 'SQLite format 3\0' >goods.db
printf '\320\317\021\340' >goods.xls
printf 'CDF\1' >goods.nc
printf 'SIMPLE  =    T' >goods.fits
printf 'MATLAB 5.0 MAT-file%%20s\0\1IM' '' >goods.mat
printf '\200\4\225' >goods.pkl
printf '<?xml version="1.0"?>' >goods.xml
printf 'BZh91AY&SY\1' >goods.bz2
printf 'RIFF\44\1\0\0WAVE' >goods.wav
printf 'II*\0' >goods.tif
printf 'ORC,CDF,FEA1\n1,2,3\n' >header_only_looks.csv
for file in goods.csv.gz goods.xz goods.zst goods.parquet goods.h5 goods_16.csv goods.json program zeros \
  goods.arrow stream.arrow goods.feather goods.orc goods.avro goods.db goods.xls goods.nc goods.fits \
  goods.mat goods.pkl goods.xml goods.bz2 goods.wav goods.tif header_only_looks.csv:CDF; do
  try run sort.perm -i $file
done
ln -s loop.npy loop.npy
try run sort.perm -i loop.npy
# Binary data as a program: one error, at once.
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "%c%c", 1 + i % 126, 33 + i * i % 90 }' >noise.perm
try fmt noise.perm
# Text with many errors: those shown, at once.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "(%d [ $ %d : x\n", i, i }' >errors.perm
permc check errors.perm 2>&1 | tail -n 1
