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
programs=$((40 / ${PERMC_SLOWER:-1}))
[ "${PERMC_ALL:-}" ] && programs=3400

verdict() { # verdict NAME STATUS
  if [ "$2" = 0 ]; then
    pass
  else
    fail "$mpirun: $1"
    cat out err
  fi
}

# says_once STATUS LINE: it has failed, with one line of permc, that begins so
says_once() {
  [ "$1" != 0 ] && [ "$(grep -c 'error: \|permc: ' err)" = 1 ] && grep -q "^permc: $2" err
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
"$PERMC" run -e 'take 5000' -i in.npy -o few.npy
"$PERMC" run -e id --random '[2^23]u32' -o many.npy
"$PERMC" run -e sort -i many.npy -o many_sorted.npy
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
  on 2 "$ranks_test" --starts "$PERMC" run -e sum -i in.npy --ranks 2
  [ $? = 0 ] && cat sum sum | cmp -s - out && [ ! -s err ]
  verdict "what each rank starts" $?
  on 2 "$ranks_test" --starts "$PERMC" run -e sum -i in.npy --transport mpi
  [ $? != 0 ] && grep -q 'a rank of .* has started this process, which is no rank' err
  verdict "MPI in what a rank starts" $?
  "$ranks_test" --starts "$PERMC" run -e sum -i in.npy >out 2>err
  [ $? = 0 ] && cmp -s sum out
  verdict "what a rank without a launcher starts" $?
  on 3 "$PERMC" run -e sum -i in.npy
  says_once $? '3 ranks are no power of two; take 2, 4, 8, \.\.\.$'
  verdict "three ranks" $?
  on 2 "$PERMC" run -e sum -i in.npy --ranks 2
  cmp -s out sum
  verdict "as many as were asked for" $?
  on 2 "$PERMC" run -e sum -i in.npy --ranks 4
  says_once $? '4 ranks were asked for, and there are 2; start as many (mpirun -n 4)$'
  verdict "fewer than were asked for" $?
  on 1 "$PERMC" run -e sum -i in.npy : -n 1 "$PERMC" run -e sum -i in.npy --ranks 4
  says_once $? 'rank 1: 4 ranks were asked for, and there are 2'
  verdict "fewer than one has asked for" $?
  same="$PERMC run -e sort -i in.npy"
  on 1 $same -o x.npy : -n 1 $same -o y.npy
  says_once $? 'rank 1 differs from rank 0 in its output file, and all write one: y.npy, not x.npy$' &&
    [ ! -e x.npy ] && [ ! -e y.npy ]
  verdict "two output files" $?
  on 1 $same -o x.npy : -n 1 $same
  says_once $? 'rank 1 differs from rank 0 in its step: showing a result, not writing a file$' &&
    [ ! -s out ] && [ ! -e x.npy ]
  verdict "one writes, one shows" $?
  while IFS='|' read -r line one other; do
    taken || continue
    eval "on 1 \"$PERMC\" run -i in.npy -o x.npy $one : -n 1 \"$PERMC\" run -i in.npy -o x.npy $other"
    says_once $? "rank 1 differs from rank 0 in its $line\$" && [ ! -e x.npy ]
    verdict "$one beside $other" $?
  done <<'END'
entry point: b, not a|two.perm --entry a|two.perm --entry b
program text: padded maxval sort_network, not sort|-e sort|-e 'padded maxval sort_network'
END
  on 2 $same -i - -o x.npy
  says_once $? 'standard input is that of one rank; give all a file'
  verdict "standard input" $?
  on 1 $same --timeout 1 -o x.npy : -n 1 sleep 4
  says_once $? 'rank 0: not all ranks came to MPI within 2 s' && [ ! -e x.npy ]
  verdict "one that is not permc" $?
  # What all ranks find alike is said once, and no rank is ended by the launcher.
  while read -r words; do
    taken || continue
    eval "on 4 \"$PERMC\" run $words"
    [ $? != 0 ] && [ "$(grep -c 'error: \|^permc: ' err)" = 1 ]
    verdict "said once: $words" $?
  done <<'END'
-e 'map (+ '
-e sort -i absent.npy
absent.perm
-e sort -i in.npy --ranks 8
-e sort -i in.npy --memory 1MiB
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
  says_once $? 'rank 1: absent.npy: No such file'
  verdict "one rank without its file" $?
  on 1 "$PERMC" run -e sort --bogus : -n 1 sleep 8
  says_once $? "rank 0: run: unknown option '--bogus'"
  verdict "a wrong option beside one that is not permc" $?
  mkdir -p once
  to_file="$same -o once/x.npy"
  while IFS='|' read -r line words; do
    taken || continue
    eval "on 2 $to_file : -n 1 \"$PERMC\" $words : -n 1 $to_file"
    says_once $? "rank 2$line" && [ -z "$(ls -A once)" ]
    verdict "a mistake of rank 2: $words" $?
  done <<'END'
: run: unknown option '--bogus'|run -e sort -i in.npy -o once/x.npy --bogus
: unknown verb 'runn'|runn -e sort -i in.npy
: run: FILE or -e EXPR is missing|run
: run: --ranks must be a power of two, not 3$|run -e sort -i in.npy -o once/x.npy --ranks 3
: 8 ranks were asked for, and there are 4; start|run -e sort -i in.npy -o once/x.npy --ranks 8
: a run on ranks has its arrays in memory|run -e sort -i in.npy -o once/x.npy --memory 1MiB
: absent.npy: No such file|run -e sort -i absent.npy -o once/x.npy
: absent.perm: No such file|run absent.perm -i in.npy -o once/x.npy
: absent/x.npy: there is no folder|run -e sort -i in.npy -o absent/x.npy
: standard input is that of one rank|run -e sort -i - -o once/x.npy
: -e:1:6: error: the expression ends too early|run -e 'sort(' -i in.npy -o once/x.npy
: -e:1:1: error: 'sort_network' needs a length|run -e sort_network -i in.npy -o once/x.npy
 differs from rank 0 in its program text: reverse, not sort$|run -e reverse -i in.npy -o once/x.npy
 differs from rank 0 in its argument types: \[5000\]u32, not|run -e sort -i few.npy -o once/x.npy
 differs from rank 0 in its output file, and all write one: y|run -e sort -i in.npy -o once/y.npy
END
  # What ends in the middle: the launcher names it where it kills the others, or one of these does. Open MPI's own
  # end may then hang.
  launcher=$mpirun
  mpirun="timeout -k 2 40 $launcher"
  for way in KILL TERM STOP; do
    long="$PERMC run -e sort -i many.npy -o once/x.npy --timeout 2"
    on 2 $long : -n 1 sh -c "(sleep 0.6; kill -$way \$\$) >/dev/null 2>&1 & exec $long" : -n 1 $long
    status=$? left=$(ls -A once)
    [ $status != 0 ] && [ -z "$left" ] || { [ "$left" = x.npy ] && cmp -s once/x.npy many_sorted.npy; }
    verdict "a rank that gets SIG$way leaves nothing, or all" $?
    [ "$(grep -c '^permc: ' err)" -le 1 ] && ! grep -q '^permc: interrupted\|rank [0-9]*: rank' err
    verdict "a rank that gets SIG$way is said once" $?
    rm -f once/x.npy
  done
  mpirun=$launcher
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
