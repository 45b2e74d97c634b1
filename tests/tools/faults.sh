#!/bin/sh
# faults.sh PERMC
# Ranks that fail, as processes of Open MPI and as threads: all end with one line that names the rank and
# the cause, and neither a result nor a part of one is left. Skipped without mpirun.openmpi; a full disk
# also without the right to mount one.
set -u
permc=$1
folder=$(mktemp -d)
trap 'umount "$folder/disk" 2>/dev/null; rm -rf "$folder"' EXIT
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
cd "$folder" || exit 1
export PERMC_CACHE="$folder/cache" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if ! command -v mpirun.openmpi >/dev/null; then
  skip "no mpirun.openmpi"
  tally
  exit
fi
mpi() {  # mpi WORD...: quietly, with more ranks than processors
  timeout 60 mpirun.openmpi -q --oversubscribe --mca btl_base_warn_component_unused 0 "$@"
}

# ends NAME STATUS LINE: the lines that permc has written to `err`, each once; no file in `out`
ends() {
  grep '^permc: ' err | grep -v ': interrupted$' |  # mpirun ends those that have not ended yet
    sed 's/^permc: rank [0-9]*: rank /permc: rank /; s/^permc: none/permc: rank 3: none/
         s/rank [0-9]*: disk.*: /rank R: /' | sort -u >lines
  if [ "$2" -ne 0 ] && [ "$(cat lines)" = "$3" ] && [ -z "$(ls -A out)" ]; then
    pass
  else
    fail "$1: status $2, left: $(echo out/* out/.[!.]*)"
    cat err
  fi
}
mkdir out disk
"$permc" run -e id --random '[2^12]i32' -o keys.npy
"$permc" run -e id --random '[2^13]i32' -o more.npy

mpi -n 3 "$permc" run -e fwht -i keys.npy -o out/a.npy : -n 1 "$permc" run -e sort -i keys.npy -o out/a.npy 2>err
ends "another program" $? 'permc: rank 3 differs from rank 0 in its program text: sort, not fwht'

mpi -n 2 "$permc" run -e fwht -i keys.npy -o out/a.npy : -n 2 "$permc" run -e fwht -i more.npy -o out/a.npy 2>err
ends "another size" $? 'permc: rank 2 differs from rank 0 in its argument types: [8192]i32, not [4096]i32'

mpi -n 2 "$permc" run -e sort --random '[30]f32' --seed 3 -o out/a.npy : -n 2 "$permc" run -e sort --random '[30]f32' -o out/a.npy 2>err
ends "another seed" $? 'permc: rank 2 differs from rank 0 in its arguments that each rank has all of'

mpi -n 2 "$permc" run -e fwht -i keys.npy -o out/a.npy : -n 2 "$permc" run -e fwht --fast-fp -i keys.npy -o out/a.npy 2>err
ends "fast floats" $? 'permc: rank 2 differs from rank 0 in its choice of floats: fast floats, not strict ones'

mpi -n 3 "$permc" run -e fwht -i keys.npy -o out/a.npy : -n 1 "$permc" run -e fwht -i none.npy -o out/a.npy 2>err
ends "no argument" $? 'permc: rank 3: none.npy: No such file or directory'

# Rank 1 waits for its argument, whose writer meets it: the others are in their first exchange then.
start_late() {  # start_late WORD: of mpirun
  rm -f late.npy pid
  mkfifo late.npy
  cat >late.sh <<END
#!/bin/sh
echo \$\$ >pid
exec "$permc" run --timeout 10 -e fwht -i late.npy -o out/a.npy
END
  mpi $1 -n 1 "$permc" run --timeout 10 -e fwht -i keys.npy -o out/a.npy : -n 1 sh late.sh : \
    -n 2 "$permc" run --timeout 10 -e fwht -i keys.npy -o out/a.npy 2>err &
  run=$!
  (sleep 50 && exec timeout 1 cat late.npy) >/dev/null 2>&1 &  # for a rank that never comes
  exec 3>late.npy
  kill $!
}
start_late -q
wait "$run"
ends "a rank that hangs" $? 'permc: rank 1 did not come within 10 s'
exec 3>&-

start_late --enable-recovery
kill -9 "$(cat pid)"
wait "$run"  # with the status of those that it recovers from
ends "a rank that is killed" 1 'permc: rank 1 did not come within 10 s'
exec 3>&-

if mount -t tmpfs -o size=1m none disk 2>/dev/null; then
  mpi -n 4 "$permc" run -e fwht --random '[2^20]i32' -o disk/a.npy 2>err
  status=$?
  rm -rf out && cp -a disk out
  ends "a full disk" $status 'permc: rank R: No space left on device'
  "$permc" run --ranks 4 -e fwht --random '[2^20]i32' -o disk/a.npy 2>err
  status=$?
  rm -rf out && cp -a disk out
  ends "a full disk of threads" $status 'permc: disk/a.npy: No space left on device'
fi
tally
