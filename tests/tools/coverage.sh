#!/bin/sh
# coverage.sh [CTEST_ARGUMENT]...
# Builds build/coverage with gcc's counters, runs the release tests there, and prints for each folder
# how many branches there are and how many percent of them were taken. Needs gcovr (PyPI). Takes
# about an hour on one core.
set -eu
cd "$(dirname "$0")/../.."
build=build/coverage
cmake -B $build -G "Unix Makefiles" -D CMAKE_BUILD_TYPE=Debug \
  -D CMAKE_C_FLAGS_DEBUG="-O1 -g1 -fno-inline -fno-early-inlining --coverage" . >/dev/null
cmake --build $build --target all -j "$(nproc)" >/dev/null
ctest --test-dir $build -E 'structure|install|symbols' "$@" >$build/tests.log || tail -n 20 $build/tests.log
gcovr --root . --object-directory $build --exclude build --exclude tests --gcov-ignore-errors=all \
  --gcov-ignore-parse-errors=all --merge-mode-functions=merge-use-line-min --csv - $build |
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    {
      folder = $1
      sub(/\/[^\/]*$/, "", folder)
      all[folder] += $column["branch_total"]; all["total"] += $column["branch_total"]
      hit[folder] += $column["branch_covered"]; hit["total"] += $column["branch_covered"]
    }
    END { for (f in all) if (all[f]) printf "%-20s %6d %5.1f\n", f, all[f], 100 * hit[f] / all[f] }' |
  sort
