#!/bin/sh
# install.sh BUILD COMPILER CORE_ARCHIVE
# Installs BUILD into a folder, moves that folder, and uses what is there as a stranger would: the
# tool, the manual page, and C programs that pkg-config finds the library for: the example at the
# head of permc.h, beside functions with the inner names of the library (CORE_ARCHIVE), and those of
# docs/embedding.md, of which one needs MPI's headers.
set -eu
build=$1
compiler=$2
core=$3
source=$PWD
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
cd "$PERMC_TMP"
cmake --install "$build" --prefix "$PWD/first" >log || { cat log; exit 1; }
mv first moved

cat >program.c <<'END'
#include <permc.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION(name) \
  void name(void); \
  void name(void) { abort(); }
#include "names.h"

static void use(const void *data) {
  const uint32_t *sorted = data;
  printf("%s: %u %u %u %u\n", permc_version(), sorted[0], sorted[1], sorted[2], sorted[3]);
}

int main(void) {
#include "example.h"
  return 0;
}
END
sed -n 's|^//   |  |p; /^#/q' moved/include/permc.h >example.h
nm -g --defined-only "$core" |
  awk '$2 == "T" && $3 !~ /^permc_/ { print "FUNCTION(" $3 ")" }' | sort -u >names.h
[ "$(wc -l <names.h)" -ge 300 ] || { echo "nm found too few names"; exit 1; }

PKG_CONFIG_PATH=$(dirname "$(find "$PWD/moved" -name permc.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # flags are words
"$compiler" -std=c17 -Wall -Wextra -Wpedantic -Werror program.c -o program \
  $(pkg-config --static --cflags --libs permc)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir permc)
export LD_LIBRARY_PATH

# The programs of docs/embedding.md, and what they print.
page=$source/docs/embedding.md
block "$page" c 1 >sort.c
block "$page" c 2 >ranks.c
# shellcheck disable=SC2046  # flags are words
"$compiler" -std=c17 -Wall -Wextra -Wpedantic -Werror sort.c -o sort \
  $(pkg-config --static --cflags --libs permc)

version=$(pkg-config --modversion permc)
same "$(./program)" "$version: 0 1 2 3"
same "$(moved/bin/permc --version)" "permc $version"
same "$(find moved -name permc.1 | wc -l)" 1
same "$(./sort)" "$(block "$page" output 2)"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
for mpi in openmpi mpich; do
  # shellcheck disable=SC2046  # flags are words
  if mpicc.$mpi ranks.c -o ranks $(pkg-config --static --cflags --libs permc) 2>log; then
    same "$(mpirun.$mpi -n 4 ./ranks 2>&1)" "$(block "$page" output 3)"
  else
    skip "no headers of $mpi"
  fi
done
tally
