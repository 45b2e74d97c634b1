#!/bin/sh
# sizes.sh [COMMIT]
# Prints lines of C by floor and by room: of the files that git knows, as they are, without tests and
# bench. With COMMIT: also what there was, and the difference. A table in Markdown.
set -eu
cd "$(dirname "$0")/../.."
commit=${1:-}

# count WHEN [COMMIT]: `WHEN lines path` of each file
count() {
  git grep -c '' ${2:+"$2"} -- '*.c' '*.h' '*.inc' '*.l' '*.y' ':!tests' ':!bench' |
    sed "s/^${2:+$2:}\(.*\):\([0-9]*\)\$/$1 \2 \1/"
}

if [ -n "$commit" ]; then
  printf '| | %s | now | |\n|---|---|---|---|\n' "$commit"
else
  printf '| | lines |\n|---|---|\n'
fi
{
  [ -z "$commit" ] || count then "$commit"
  count now
} | awk -v compared="$commit" '
  {
    floor = room = $3
    sub("/.*", "", floor)
    sub("/[^/]*$", "", room)
    split("**all** **" floor "** `" room "/`", names, " ")
    for (i in names) {
      rows[names[i]]
      lines[$1, names[i]] += $2
    }
  }
  END {
    for (r in rows)
      if (compared == "") printf "| %s | %d |\n", r, lines["now", r]
      else printf "| %s | %d | %d | %+d |\n", r, lines["then", r], lines["now", r], lines["now", r] - lines["then", r]
  }' | LC_ALL=C sort
