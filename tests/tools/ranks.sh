#!/bin/sh
# ranks.sh DIFFERENTIAL_TEST RANKS_TEST FAKE_CUDA FAKE_NVRTC
# Programs on ranks that are processes, by an mpirun that is here (with PERMC_ALL by each): a file that all read and write, what
# they print, numbers of ranks that cannot be, a rank that fails; calls in C on communicators of the
# caller; and random programs beside interp. With a GPU each as well: those of the fake driver, whose
# arrays are exchanged through memory of the host.
set -u
differential=$1
ranks_test=$2
fake_cuda=$3
fake_nvrtc=$4
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
cd "$PERMC_TMP" || exit 1
programs=40
[ "${PERMC_ALL:-}" ] && programs=3400

verdict() { # verdict NAME STATUS
  if [ "$2" = 0 ]; then
    pass
  else
    fail "$mpirun: $1"
    cat out err
  fi
}

# on RANKS COMMAND...: its output goes to out and err.
on() {
  ranks=$1
  shift
  $mpirun -n "$ranks" "$@" >out 2>err </dev/null
}

# on_gpus RANKS COMMAND...
on_gpus() {
  ranks=$1
  shift
  on "$ranks" env PERMC_CUDA_DRIVER="$fake_cuda" PERMC_NVRTC="$fake_nvrtc" PERMC_NCCL=off \
    FAKE_NVRTC_HOST="$PWD" FAKE_CUDA=devices=4 "$@"
}

# Open MPI wants to be told that this is root's, and that there are few processors; it leaks.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export ASAN_OPTIONS=detect_leaks=0

"$PERMC" run -e '\x -> x' --random '[20000]u32' -o in.npy
"$PERMC" run -e sort -i in.npy -o expected.npy
"$PERMC" run -e sum -i in.npy >sum
printf 'a : [m]u32 -> [m]u32\na = sort\nb : [m]u32 -> [m]u32\nb = reverse\n' >two.perm
for mpirun in mpirun.openmpi mpirun.mpich; do
  command -v $mpirun >/dev/null || continue
  on 4 "$PERMC" run -e sort -i in.npy -o sorted.npy
  cmp -s sorted.npy expected.npy
  verdict "a file by all" $?
  on_gpus 4 "$PERMC" run -e sort -i in.npy -o sorted_by_gpus.npy --backend cuda
  cmp -s sorted_by_gpus.npy expected.npy
  verdict "a file by GPUs" $?
  on_gpus 4 "$differential" --backends cuda --mpi --count $((programs / 8))
  [ $? = 0 ] && [ "$(grep -c '^1 passed, 0 failed' out)" = 4 ]
  verdict "random programs on GPUs" $?
  on 2 "$PERMC" run -e sum -i in.npy
  cmp -s out sum
  verdict "what rank 0 prints" $?
  on 3 "$PERMC" run -e sum -i in.npy
  [ $? != 0 ] && grep -q '^permc: 3 ranks are no power of two; take 2, 4, 8, \.\.\.$' err
  verdict "three ranks" $?
  on 2 "$PERMC" run -e sum -i in.npy --ranks 2
  cmp -s out sum
  verdict "as many as were asked for" $?
  on 2 "$PERMC" run -e sum -i in.npy --ranks 4
  [ $? != 0 ] && grep -q '^permc: 4 ranks were asked for, and there are 2; start as many (mpirun -n 4)$' err
  verdict "fewer than were asked for" $?
  on 1 "$PERMC" run -e sum -i in.npy : -n 1 "$PERMC" run -e sum -i in.npy --ranks 4
  [ $? != 0 ] && grep -q '^permc: rank 1: 4 ranks were asked for, and there are 2' err
  verdict "fewer than one has asked for" $?
  on 4 sh -c 'cp in.npy in.$$.npy; [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" != 2 ] ||
    "$PERMC" run -e "take 5000" -i in.npy --ranks 1 -o in.$$.npy
    exec "$PERMC" run -e sort -i in.$$.npy -o other.npy'
  [ $? != 0 ] && grep -q 'rank 2 differs from rank 0 in its argument types: \[5000\]u32, not \[20000\]u32$' err &&
    [ ! -e other.npy ]
  verdict "another file on one rank" $?
  rm -f in.[0-9]*.npy
  same="$PERMC run -e sort -i in.npy"
  on 1 $same -o x.npy : -n 1 $same -o y.npy
  [ $? != 0 ] && grep -q 'rank 1 differs from rank 0 in its output file, and all write one: y.npy, not x.npy$' err &&
    [ ! -e x.npy ] && [ ! -e y.npy ]
  verdict "two output files" $?
  on 1 $same -o x.npy : -n 1 $same
  [ $? != 0 ] && [ ! -s out ] && [ ! -e x.npy ] &&
    grep -q 'rank 1 differs from rank 0 in its step: showing a result, not writing a file$' err
  verdict "one writes, one shows" $?
  while IFS='|' read -r line one other; do
    eval "on 1 \"$PERMC\" run -i in.npy -o x.npy $one : -n 1 \"$PERMC\" run -i in.npy -o x.npy $other"
    [ $? != 0 ] && [ ! -e x.npy ] && grep -q "^permc: rank 1 differs from rank 0 in its $line\$" err
    verdict "$one beside $other" $?
  done <<'END'
entry point: b, not a|two.perm --entry a|two.perm --entry b
program text: padded maxval sort_network, not sort|-e sort|-e 'padded maxval sort_network'
END
  on 2 $same -i - -o x.npy
  [ $? != 0 ] && grep -q '^permc: standard input is that of one rank; give all a file' err
  verdict "standard input" $?
  on 1 $same --timeout 1 -o x.npy : -n 1 sleep 4
  [ $? != 0 ] && [ ! -e x.npy ] && grep -q '^permc: rank 0: not all ranks came to MPI within 2 s' err
  verdict "one that is not permc" $?
  # What all ranks find alike is said once, and no rank is ended by the launcher.
  while read -r words; do
    eval "on 4 \"$PERMC\" run $words"
    [ $? != 0 ] && [ "$(grep -c 'error: \|^permc: ' err)" = 1 ]
    verdict "said once: $words" $?
  done <<'END'
-e 'map (+ '
-e sort -i absent.npy
absent.perm
-e 'parm 1 id' -i in.npy
-e 'padded 0u32 sort_network' --random '[5]u32'
-e sort -i in.npy -o absent/sorted.npy
-e sort -i in.npy --backend cuda
-e sort --bogus
-e sort -i in.npy --seed 5
-e sort -i in.npy --strategy none
-e sort -i in.npy --ranks 3
END
  on 2 sh -c '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" != 1 ] || exec "$PERMC" run -e sort -i absent.npy
    exec "$PERMC" run -e sort -i in.npy'
  [ $? != 0 ] && grep -q '^permc: absent.npy: No such file' err &&
    grep -q '^permc: rank 1: absent.npy: No such file' err
  verdict "one rank without its file" $?
  on 1 $same : -n 1 "$PERMC" run -e sort --bogus
  [ $? != 0 ] && grep -q "^permc: run: unknown option '--bogus'" err &&
    grep -q "^permc: rank 1: run: unknown option '--bogus'" err
  verdict "one rank with another option" $?
  on 1 "$PERMC" run -e sort --bogus : -n 1 sleep 8
  [ $? != 0 ] && [ "$(grep -c "^permc: run: unknown option '--bogus'" err)" = 1 ]
  verdict "a wrong option beside one that is not permc" $?
  on 1 $same : -n 1 "$PERMC" run -e sort_network -i in.npy
  [ $? != 0 ] && grep -q "^-e:1:1: error: 'sort_network' needs a length that" err &&
    grep -q "^permc: rank 1: -e:1:1: error: 'sort_network' needs a length that" err
  verdict "one rank whose program is wrong" $?
  for ranks in 2 4; do
    on $ranks "$ranks_test" --halves
    verdict "halves of $ranks ranks" $?
  done
  on 4 "$differential" --mpi --count $programs
  [ $? = 0 ] && [ "$(grep -c '^1 passed, 0 failed' out)" = 4 ]
  verdict "random programs" $?
  [ "${PERMC_ALL:-}" ] || break
done
[ $passed = 0 ] && [ $failed = 0 ] && skip "no mpirun"
tally
