#!/bin/sh
# help_agrees.sh PERMC SOURCE_ROOT
# The verbs and options that `permc help`, docs/permc.1 and docs/reference.md ("The command line")
# name are the same. Each is turned into sorted lines such as
#   run
#   run --entry NAME
# and the three lists are compared. The version of the man page is compared, too.
set -eu
permc=${1:-$PERMC}
root=${2:-.}
folder=${PERMC_TMP:-$(mktemp -d)}/help_agrees
mkdir -p "$folder"

from_help() {
  "$permc" help | awk '/^  permc [a-z]+ / { print $2 } /^  --/ { print "permc", $1 }'
  for verb in $("$permc" help | awk '/^  permc [a-z]+ / { print $2 }'); do
    "$permc" help "$verb" | awk -v verb="$verb" '
      /^options:$/ { inside = 1; next }
      /^$/ { inside = 0 }
      inside && /^  -/ { print verb, $1 (substr($0, length($1) + 3, 2) ~ /^ [^ ]/ ? " " $2 : "") }'
  done
}

# .SS run, then .TP and .BI \-\-entry " NAME" or .B \-\-time
from_man_page() {
  awk '
    { gsub(/\\-/, "-") }
    /^\.SH / { verb = ""; verbs = $2 == "VERBS" }
    /^\.SS / && verbs { verb = $2; print verb }
    /^\.B permc --/ { print "permc", $3 }
    after_tp && verb != "" { gsub(/"/, ""); print verb, $2 ($3 != "" ? " " $3 : "") }
    { after_tp = /^\.TP/ }
  ' "$root/docs/permc.1"
}

# permc run [OPTION]... in the box; | `run` | `--entry NAME` | ... in the table
from_reference() {
  awk '
    /^## / { inside = /The command line/ }
    !inside { next }
    /^permc --/ { gsub(/,/, ""); for (i = 2; i <= NF; i++) if ($i ~ /^--/) print "permc", $i; next }
    /^permc [a-z]+ / { print $2 }
    /^\| `[a-z]+` \|/ { verb = $2; gsub(/`/, "", verb) }
    /^\|.*\| `-/ {
      line = $0
      gsub(/\\\|/, "\001", line)
      split(line, cells, "|")
      option = cells[3]
      gsub(/^ *`|` *$/, "", option)
      gsub(/\001/, "|", option)
      print verb, option
    }
  ' "$root/docs/reference.md"
}

from_help | LC_ALL=C sort >"$folder/help"
from_man_page | LC_ALL=C sort >"$folder/man"
from_reference | LC_ALL=C sort >"$folder/reference"

passed=0
failed=0
check() {
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $*"
  fi
}
names_something() { [ "$(wc -l <"$1")" -ge 20 ]; }
version_agrees() { grep -q "^\.TH PERMC 1 .*\"$("$permc" --version)\"" "$root/docs/permc.1"; }

check names_something "$folder/help"
check diff "$folder/help" "$folder/man"
check diff "$folder/help" "$folder/reference"
check version_agrees
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
