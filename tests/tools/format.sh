#!/bin/sh
# format.sh
# That the C sources are as .clang-format has them, by clang-format 14: other versions differ in
# details. Skipped where there is none.
set -eu
cd "$(dirname "$0")/../.."
for formatter in clang-format-14 clang-format; do
  if "$formatter" --version 2>/dev/null | grep -q 'version 14\.'; then
    files=$(find core lang fusion kernels runtime tool python tests bench -name '*.[ch]' -o -name '*.inc' | sort)
    # shellcheck disable=SC2086  # names have no blanks
    if "$formatter" --dry-run --Werror $files 2>"${PERMC_TMP:-/tmp}/format"; then
      echo "1 passed, 0 failed, 0 skipped"
      exit 0
    fi
    grep 'error:' "${PERMC_TMP:-/tmp}/format" | head -n 40
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
  fi
done
echo "there is no clang-format 14"
echo "0 passed, 0 failed, 1 skipped"
