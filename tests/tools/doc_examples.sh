#!/bin/sh
# doc_examples.sh PERMC SOURCE_ROOT
# Runs every example of docs/language.md: each ```perm block becomes a file of its own, whose tests
# run. Lines keep their numbers, so that a failure names the line of the page. A block without a test
# is a failure: an example that nothing executes is one that may be wrong.
set -eu
permc=$1
page=$2/docs/language.md
folder=${PERMC_TMP:-$(mktemp -d)}/examples
rm -rf "$folder"
mkdir -p "$folder"

awk -v folder="$folder" '
  /^```perm$/ { file = sprintf("%s/line_%04d.perm", folder, NR); tests = 0
                for (i = 0; i < NR; i++) print "" > file
                next }
  /^```/ && file { if (!tests) print "line " NR ": the example before it has no test" > "/dev/stderr"
                   untested += !tests; close(file); file = ""; next }
  file { print > file; tests += /^-- ==/ }
  END { print untested + 0 > (folder "/untested") }
' "$page"

status=0
"$permc" test --allow-extern "$folder" >"$folder/log" 2>&1 || status=$?
untested=$(cat "$folder/untested")
if [ "$status" -ne 0 ]; then
  cat "$folder/log"
fi
counts=$(tail -n 1 "$folder/log")
case $counts in
*" passed, "*" failed, "*" skipped")
  passed=${counts%% passed*}
  rest=${counts#* passed, }
  failed=${rest%% failed*}
  skipped=${rest#* failed, }
  skipped=${skipped%% skipped*}
  ;;
*)
  passed=0 failed=1 skipped=0
  ;;
esac
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
  failed=1
fi
failed=$((failed + untested))
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
