#!/bin/sh
# circles.sh OBJECT_FOLDER...
# Which files call each other in a circle: the call graph of the object files, by their symbols (file
# A uses a name that file B defines), and in it every group of files that all reach each other. None
# may be there but those of circles.txt beside this script, a line a group, sorted.
#
#   circles.sh --print OBJECT_FOLDER...    only prints the groups
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
print=false
if [ "${1:-}" = --print ]; then
  print=true
  shift
fi

find "$@" -path '*/permc_*.dir/*' -name '*.c.o' | sort | while read -r object; do
  name=${object#*.dir/}
  # What a build folder still holds of sources that are gone is passed over.
  [ -f "$tools/../../${name%.o}" ] || [ "${name#*generated/}" != "$name" ] || continue
  echo "$object"
done | xargs nm -A | awk '
  { sub(/^.*\.dir\//, ""); sub(/\.o:[0-9a-f]*/, "") }
  $2 == "U" { print $1, "uses", $3; next }
  $2 ~ /^[TDBRVWC]$/ { print $1, "defines", $3 }' | awk '
  # Strongly connected components (Tarjan 1972), without recursion: `path` is the walk so far.
  $2 == "defines" { home[$3] = $1 }
  $2 == "uses" { user[++uses] = $1; used[uses] = $3 }
  { if (!($1 in count)) { count[$1] = 0; file[++files] = $1 } }
  END {
    for (i = 1; i <= uses; i++) {
      from = user[i]
      to = home[used[i]]
      if (to != "" && to != from && !((from, to) in seen)) {
        seen[from, to] = 1
        next_of[from, ++count[from]] = to
      }
    }
    for (f = 1; f <= files; f++)
      if (!(file[f] in order))
        visit(file[f])
  }
  function visit(root,   v, w, depth, members, size, group) {
    depth = 1
    path[1] = root
    order[root] = low[root] = ++clock
    stack[++height] = root
    on[root] = 1
    while (depth > 0) {
      v = path[depth]
      if (at[v] < count[v]) {
        w = next_of[v, ++at[v]]
        if (!(w in order)) {
          order[w] = low[w] = ++clock
          stack[++height] = w
          on[w] = 1
          path[++depth] = w
        } else if (on[w] && order[w] < low[v])
          low[v] = order[w]
        continue
      }
      depth--
      if (depth > 0 && low[v] < low[path[depth]])
        low[path[depth]] = low[v]
      if (low[v] == order[v]) {
        size = 0
        do {
          w = stack[height--]
          on[w] = 0
          members[++size] = w
        } while (w != v)
        if (size > 1) {
          group = sorted(members, size)
          print group
        }
      }
    }
  }
  function sorted(list, size,   i, k, t, line) {
    for (i = 2; i <= size; i++)
      for (k = i; k > 1 && list[k] < list[k - 1]; k--) {
        t = list[k]
        list[k] = list[k - 1]
        list[k - 1] = t
      }
    line = list[1]
    for (i = 2; i <= size; i++)
      line = line " " list[i]
    return line
  }' | sort >"${PERMC_TMP:-/tmp}/circles.$$"
if $print; then
  cat "${PERMC_TMP:-/tmp}/circles.$$"
  rm -f "${PERMC_TMP:-/tmp}/circles.$$"
  exit 0
fi
if diff "$tools/circles.txt" "${PERMC_TMP:-/tmp}/circles.$$"; then
  rm -f "${PERMC_TMP:-/tmp}/circles.$$"
  echo "1 passed, 0 failed, 0 skipped"
else
  echo "files that call each other in a circle are not those of tests/tools/circles.txt"
  rm -f "${PERMC_TMP:-/tmp}/circles.$$"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
