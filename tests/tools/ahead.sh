#!/bin/sh
# ahead.sh BUILD-TOOL COMPILER
# The example of docs/embedding.md, done as the page says with this compiler alone; the header in C++; two
# libraries in one program; and what cannot be built.
set -u
permc=$1
compiler=$2
source=$PWD
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
cd "$PERMC_TMP" || exit 1
page=$source/docs/embedding.md

PATH=$(dirname "$permc"):$PATH
export PATH
block "$page" c 3 >main.c
block "$page" sh 7 >build.sh
block "$page" sh 8 | sed "s|^cc |$compiler -Wall -Wextra -Werror |" >run.sh
sh build.sh && sh run.sh >found 2>&1
same "$(cat found)" "$(block "$page" output 4)"


# No type of 64-bit machines alone; on a 32-bit one, where the compiler has its libraries.
same "$(grep -l int128 sorter/*)" ""
if "$compiler" -m32 -x c -o small - -lm 2>/dev/null <<'END'
#include <math.h>
int main(int count, char **words) { return words[0] == 0 || sin(count) == 2; }
END
then
  "$compiler" -m32 -std=c99 -O1 -Wall -Wextra -Werror main.c sorter/*.c -lm -o small
  same "$(./small)" "$(block "$page" output 4)"
fi

# A program with a target named m, which is not the library of C.
if command -v cmake >/dev/null; then
  mkdir target_m
  echo 'int m;' >target_m/m.c
  cat >target_m/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.15)
project(target_m C)
add_library(m m.c)
add_subdirectory(../sorter sorter)
add_executable(main ../main.c)
target_link_libraries(main sorter::sorter)
END
  cmake -S target_m -B target_m/build -DCMAKE_C_COMPILER="$compiler" >log && cmake --build target_m/build >>log
  same "$(target_m/build/main)" "$(block "$page" output 4)"
fi

refused() { # refused LINE OPTION...
  line=$1
  shift
  same "$(permc build "$@" 2>&1 | tail -n 1)" "permc: $line"
}
refused "sorter is there and is not empty; name another folder with -o, or remove it" \
  -e sort --arguments '[4]u32' -o sorter
refused "build: --arguments was given twice" \
  -e sort --arguments '[4]u32' --arguments '[8]u32' -o no
refused "build: say the types and lengths of the arguments, such as --arguments '[1024]u32', or the sizes of the signature, such as --size n=10" \
  -e sort -o no
refused "absent/no: there is no folder 'absent'; make it (mkdir -p absent), or write elsewhere" \
  -e sort --arguments '[4]u32' -o absent/no
same "$(permc build -e '\xs -> [xs[i] * xs[j] + xs[(i*j)%64] + sum (take (i - i) xs) | i <- 0..63, j <- 0..63]' --arguments '[64]i32' -o no 2>&1 |
  sed 's/becomes [0-9.]* MiB/becomes N MiB/')" \
  "permc: the program becomes N MiB of C, and a compiler gets at most 4 MiB; write it with map, column or parm, which become loops, or for fewer elements"
same "$(find . -name 'no*')" ""

# Names begin with --name; the package's target is none that CMake has itself.
permc build -e sort --arguments '[4]u32' --name all -o named
same "$(grep -o '^int all_call' named/all.h) $(grep -o '^add_library(all_library' named/CMakeLists.txt)" \
  "int all_call add_library(all_library"

# An index outside of its array: nothing is written.
cat >gather.c <<'END'
#include "picks.h"
#include <stdio.h>
int main(void) {
  int32_t places[3] = {1, 7, 0};
  float from[4] = {1, 2, 3, 4}, to[3] = {9, 9, 9};
  picks_error e;
  int code = picks_call(places, from, to, NULL, &e);
  printf("%d %lld %lld %g: %s\n", code == PICKS_DATA, (long long)e.position, (long long)e.value,
         to[0], e.message);
  return 0;
}
END
permc build -e gather --arguments '[3]i32 [4]f32' -o picks &&
  "$compiler" -std=c99 -Ipicks gather.c picks/*.c -lm -o gather
same "$(./gather)" "1 1 7 9: index 7 at position 1 is outside of an array of 4 elements"

# C functions that the program has; two libraries in it, one called from C++ where there is a compiler.
cat >bend.perm <<'END'
extern "" bend : f32 -> f32

main : [m]f32 -> [m]f32
main = map bend
END
cat >bend.c <<'END'
#include "curve.h"
#include "picks.h"
#include <stdio.h>
float bend(float x) { return 2 * x + 1; }
int main(void) {
  int32_t places[3] = {3, 0, 1};
  float from[4] = {1, 2, 3, 4}, to[3], bent[3];
  int wrong = picks_call(places, from, to, NULL, NULL);
  wrong += curve_call(to, bent, NULL, NULL);
  printf("%d %g %g %g\n", wrong, bent[0], bent[1], bent[2]);
  return 0;
}
END
permc build bend.perm --arguments '[3]f32' -o curve &&
  "$compiler" -std=c99 -Wall -Wextra -Werror -Icurve -Ipicks bend.c curve/*.c picks/*.c -lm -o bend
same "$(./bend)" "0 9 3 5"
if command -v c++ >/dev/null; then
  echo '#include "sorter/sorter.h"' | c++ -x c++ -Wall -Wextra -Werror -fsyntax-only -I. -
  same "$?" 0
fi

# For CUDA: what is launched, by a driver that executes the kernels' text on the host (ahead_driver.c).
# Beside the library for C, in one program.
cat >both.c <<'END'
#include "gpu.h"
#include "cpu.h"
#include <stdio.h>
#include <string.h>
static float in[2048], host[2048], device[2048];
int main(void) {
  gpu_device *d;
  gpu_error e = {0, 0, 0, 0, ""};
  int i;
  for (i = 0; i < 2048; i++)
    in[i] = (float)(i * 389 % 2048) / 16;
  if (gpu_open(&d, &e) != GPU_OK || gpu_call(d, in, device, NULL, NULL, &e) != GPU_OK)
    puts(e.message);
  gpu_close(d);
  cpu_call(in, host, NULL, NULL);
  puts(memcmp(host, device, sizeof host) ? "differs" : "same");
  return 0;
}
END
PERMC_NVRTC=$PWD/absent permc build -e fft --arguments '[1024]c64' --target cuda -o gpu 2>warning
same "$(cut -c 1-84 warning)" \
  "permc: warning: the library has the text of its kernels, but no machine code, and wi"
permc build -e fft --arguments '[1024]c64' -o cpu
driver() { # driver LIBRARY TEXT: driver.o, with the kernels of that text
  sed -i 's/^\(static const permc_image images_[0-9]*\[\] = {\){0, NULL}/\1{90, ""}, {0, NULL}/' "$1"/*.c
  awk '/^PERMC_KERNEL\(/ {
    number = $0
    sub(/^PERMC_KERNEL\(/, "", number)
    sub(/,.*/, "", number)
    state = /uint64_t \*state/
    count = gsub(/void \*/, "")
    printf "KERNEL(%d, %d", number, count
    for (i = 1; i <= count; i++)
      printf ", *(void **)p[%d]", i
    printf ", *(const permc_imports **)p[%d]", count + 1
    if (state)
      printf ", *(uint64_t **)p[%d]", count + 2
    print ")"
  }' "$1/$2" >kernels.inc
  "$compiler" -std=gnu11 -w -O1 -I. -DTEXT="\"$1/$2\"" "$source/tests/tools/ahead_driver.c" -c -o driver.o
}
driver gpu gpu_1.cu &&
  "$compiler" -std=c99 -Wall -Wextra -Werror -Igpu -Icpu both.c gpu/*.c cpu/*.c driver.o -lm -o both
same "$(./both)" same
# Halfway through a scan, whose blocks keep what they come to, comes another: in workspaces of their
# own, with what has been there before.
cat >scans.c <<'END'
#include "sums.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern void (*between)(void);
static sums_device *device;
static uint32_t in[2][SUMS_COUNT], out[2][SUMS_COUNT];
static void call(int i) {
  size_t bytes = (size_t)sums_workspace_bytes(), room = (bytes + 255) / 256 * 256;
  void *workspace = aligned_alloc(256, room);
  memset(workspace, 1, room);
  if (sums_call(device, in[i], out[i], workspace, NULL, NULL) != SUMS_OK)
    puts("failed");
  free(workspace);
}
static void call_other(void) { call(1); }
int main(void) {
  uint32_t i, k, sum, wrong = 0;
  for (i = 0; i < 2 * SUMS_COUNT; i++)
    in[i / SUMS_COUNT][i % SUMS_COUNT] = i * 389 % 2048 + i / SUMS_COUNT;
  between = call_other;
  if (sums_open(&device, NULL) == SUMS_OK)
    call(0);
  for (k = 0; k < 2; k++)
    for (i = sum = 0; i < SUMS_COUNT; i++)
      wrong += out[k][i] != (sum += in[k][i]);
  printf("%u wrong\n", wrong);
  sums_close(device);
  return 0;
}
END
PERMC_NVRTC=$PWD/absent permc build -e 'scan (+)' --arguments '[131072]u32' --target cuda \
  -o sums 2>warning
driver sums sums_1.cu &&
  "$compiler" -std=c11 -Wall -Wextra -Werror -DSUMS_COUNT=131072 -Isums scans.c sums/*.c driver.o -lm -o scans
same "$(./scans)" "0 wrong"
# With NVRTC, if it is there, machine code is in the source.
permc build -e 'map (+ 1)' --arguments '[100]i32' --target cuda -o inc 2>warning
same "$(grep -c '^static const uint64_t code_0_90' inc/inc_program.c)" "$(grep -q 'no machine code' warning && echo 0 || echo 1)"

# A library writes to no memory but the caller's.
"$compiler" -std=c99 -O1 -fno-pic -c sorter/*.c gpu/*.c
same "$(nm ./sorter*.o ./gpu*.o | awk 'NF == 3 && $2 ~ /[bBdDC]/')" ""
tally
