#!/bin/sh
# ahead.sh BUILD-TOOL COMPILER
# The example of docs/ahead.md, done as the page says with this compiler alone; the header in C++; two
# libraries in one program; and what cannot be built.
set -u
permc=$1
compiler=$2
source=$PWD
cd "$PERMC_TMP" || exit 1
passed=0
failed=0
same() { # same FOUND EXPECTED
  if [ "$1" = "$2" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'found %s\nexpected %s\n' "$1" "$2"
  fi
}
block() { # block LANGUAGE NUMBER: of the page
  awk -v fence="\`\`\`$1" -v wanted="$2" '
    $0 == fence && ++count == wanted { on = 1; next }
    /^```/ { on = 0 }
    on' "$source/docs/ahead.md"
}

PATH=$(dirname "$permc"):$PATH
export PATH
block c 1 >main.c
block sh 1 >build.sh
block sh 2 | sed "s|^cc |$compiler -Wall -Wextra -Werror |" >run.sh
sh build.sh && sh run.sh >found 2>&1
same "$(cat found)" "$(block output 1)"

refused() { # refused LINE OPTION...
  line=$1
  shift
  same "$(permc build "$@" 2>&1 | tail -n 1)" "permc: $line"
}
refused "sorter is there and is not empty; name another folder with -o, or remove it" \
  -e sort --arguments '[4]u32' -o sorter
refused "--arguments '[4]u32' and '[4]u32' have the same lengths: one function cannot tell them apart; build two libraries" \
  -e sort --arguments '[4]u32' --arguments '[4]u32' -o no
refused "--arguments '[4]u32' and '[8]f32' make functions of different C types: sizes behind one function differ in lengths alone; build two libraries" \
  -e sort --arguments '[4]u32' --arguments '[8]f32' -o no
refused "build: say the types and lengths of the arguments, such as --arguments '[1024]u32', once for each size" -e sort -o no
refused "absent/no: No such file or directory" -e sort --arguments '[4]u32' -o absent/no
same "$(find . -name 'no*')" ""

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
same "$(./gather)" "1 1 7 9: index 7 at position 1 of row 0 is not from 0 to 3"

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
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
