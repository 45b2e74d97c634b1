#!/bin/sh
# pages.sh PERMC SOURCE_ROOT
# The pages that docs/pages.sh makes are as they were committed, and they and the manual page have
# each verb and each option of `permc help`.
set -eu
permc=${1:-$PERMC}
root=${2:-.}
folder=${PERMC_TMP:-$(mktemp -d)}/pages
mkdir -p "$folder"
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"

check() { if "$@"; then pass; else fail "$*"; fi; }

for page in command-line library; do
  "$root/docs/pages.sh" "$permc" $page >"$folder/$page.md"
  check diff "$root/docs/$page.md" "$folder/$page.md"
done

"$root/docs/pages.sh" "$permc" permc.1 >"$folder/permc.1"
check grep -q "^\.TH PERMC 1 .*\"$("$permc" --version)\"" "$folder/permc.1"
check grep -q '^\.B PERMC_CACHE$' "$folder/permc.1"
count=0
for verb in $("$permc" help | awk '/^  permc [a-z]/ { print $2 }'); do
  check grep -q "^\.SS $verb\$" "$folder/permc.1"
  check grep -q "^## $verb\$" "$folder/command-line.md"
  for option in $("$permc" help "$verb" | awk '/^  -/ { print $1 }'); do
    count=$((count + 1))
    sed "1,/^## $verb\$/d; /^## /,\$d" "$folder/command-line.md" >"$folder/verb"
    check grep -qF "\`$option" "$folder/verb"
    sed 's/\\//g' "$folder/permc.1" | sed "1,/^\.SS $verb\$/d; /^\.S[SH] /,\$d" >"$folder/verb"
    check grep -q "^\.BI \"$option[ \"]" "$folder/verb"
  done
done
check [ "$count" -ge 150 ]
check grep -qF '| `--limit NAME=N` |' "$folder/command-line.md"
tally
