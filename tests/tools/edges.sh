#!/bin/sh
# edges.sh
# Reads every #include "..." of the sources and compares it with rooms.txt beside this script, which
# says which headers are the doors of a room (a folder) and which rooms a room may look into. Prints
# the edges that are there. The public header runtime/permc.h is a room of its own. Fails for
#   a header of another room that is no door of it
#   an edge that the table does not allow, and one that it allows and nobody uses
#   a floor that includes one above it; fusion includes nothing of lang but the Trace
#   rooms that include each other in a circle
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"
out=${PERMC_TMP:-/tmp}
root=$tools/../..

(cd "$root" && grep -rHo '^ *# *include "[^"]*"' --include=*.[chly] --include=*.inc \
  core lang fusion kernels runtime tool) |
  sed 's/: *# *include "/ /; s/"$//' | sort -u >"$out/includes"
rm -f "$out/edges" "$out/wrong" "$out/unused" "$out/above" "$out/edges.all"
awk -v out="$out" '
  function room(path) {
    if (path != "runtime/permc.h")
      sub(/\/[^\/]*$/, "", path)
    return path
  }
  function floor(path) {
    sub(/\/.*$/, "", path)
    return index("core lang fusion kernels runtime tool", path)
  }
  /^#/ || !NF { next }
  FNR == NR && $1 == "door" { door[$2] = 1; next }
  FNR == NR {  # ROOM: ROOM...
    from = substr($1, 1, length($1) - 1)
    for (i = 2; i <= NF; i++)
      allowed[from, $i] = 1
    next
  }
  $2 !~ /\// { next }  # generated
  {
    from = room($1)
    to = room($2)
    if (from == to)
      next
    if (!(($2) in door))
      print $1 " includes " $2 ", which is no door" >(out "/wrong")
    else if (!((from, to) in allowed))
      print $1 " includes " $2 ": " from " may not look into " to >(out "/wrong")
    if (floor(to) > floor(from) || (from ~ /^fusion/ && to ~ /^lang/ && $2 !~ /trace\.h$/))
      print $1 " includes " $2 ", which is of a floor above it" >(out "/above")
    used[from, to] = 1
    print from, to >(out "/edges.all")
  }
  END {
    for (pair in allowed)
      if (!(pair in used)) {
        split(pair, p, SUBSEP)
        print p[1] " may look into " p[2] ", and does not" >(out "/unused")
      }
  }' "$tools/rooms.txt" "$out/includes"
touch "$out/wrong" "$out/unused" "$out/above"
sort -u "$out/edges.all" >"$out/edges"
awk '{ if ($1 != last) { if (last) printf "\n"; printf "%s:", $1; last = $1 } printf " %s", $2 }
  END { printf "\n" }' "$out/edges"
none "includes that rooms.txt does not allow" "$out/wrong"
none "edges of rooms.txt that nobody uses" "$out/unused"
tsort "$out/edges" >"$out/order" 2>"$out/loops" || true
none "includes of a floor above" "$out/above"
none "rooms in a circle" "$out/loops"
tally
