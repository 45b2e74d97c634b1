#!/bin/sh
# doc_examples.sh PERMC SOURCE_ROOT
# Runs every example of README.md, docs/guide.md, docs/language.md and docs/running.md, but scripts
# in Python (tests/python/pages_test.py).
#
#   ```perm      a file of its own, whose test blocks run. Its lines keep their numbers, so that a
#                failure names the line of the page. A block without a test is a failure.
#   ```message   the output of `permc check example.perm` for the perm block before it
#   ```explain   a call of `permc explain example.perm` and its output for the perm block before it,
#                except for the time that planning took
#   ```console   `$ COMMAND` and its output; a file NAME.perm in the command is the last perm block
#   ```sh        commands, as one script; each must succeed. What builds permc (./bootstrap, cmake,
#                ctest, pip) does not build it again, and nothing is installed.
#   ```output    what the ```sh block before it prints
#   ```csv FILE  a file of the sources, as it is there
# Commands run in a folder of their own that has the sources' examples/.
set -eu
case $1 in
/*) permc=$1 ;;
*) permc=$PWD/$1 ;;
esac
root=$(cd "$2" && pwd)
folder=${PERMC_TMP:-$(mktemp -d)}/examples
rm -rf "$folder"
mkdir -p "$folder/tests" "$folder/outputs" "$folder/bin"
ln -s "$permc" "$folder/bin/permc"
PATH=$folder/bin:$PATH

# `./bootstrap VERB ...` is permc; `./bootstrap test`, `build` and cmake do nothing, but presets must exist.
cat >"$folder/bootstrap" <<'END'
#!/bin/sh
[ "$*" = test ] || [ "$*" = build ] || exec permc "$@"
END
cat >"$folder/bin/cmake" <<END
#!/bin/sh
while [ \$# -gt 1 ]; do
  [ "\$1" != --preset ] || grep -q "\"name\": \"\$2\"" "$root/CMakePresets.json" || exit 1
  shift
done
END
cp "$folder/bin/cmake" "$folder/bin/ctest"
echo '#!/bin/sh' | tee "$folder/bin/pip" "$folder/bin/apt-get" "$folder/bin/activate" >/dev/null
echo '[ "$1 $2" = "-m venv" ] || PATH=${PATH#*:} exec python3 "$@"' >"$folder/bin/python3"
mkdir "$folder/permc-python" && ln -s ../bin "$folder/permc-python/bin"
HOME=$folder
export HOME
chmod +x "$folder/bootstrap" "$folder"/bin/*

# tests/PAGE_LINE.perm for each program; outputs/PAGE:LINE/{example.perm,command,expected} for each
# output, without `expected` for commands that must only succeed; `wrong` has a line for each fault.
for page in README docs/guide docs/language docs/running; do
  awk -v folder="$folder" -v page="${page##*/}" -v root="$root" '
    function complain(what) { print page ".md:" NR ": " what >> (folder "/wrong") }
    function begin_program() {
      program = ""; tests = 0; kind = "perm"
      file = sprintf("%s/tests/%s_%04d.perm", folder, page, NR)
      for (i = 1; i <= NR; i++) print "" > file
    }
    function begin_output(what) { kind = what; output = ""; command = ""; first = NR }
    function write(into, text) { printf "%s", text > into; close(into) }
    function end_output() {
      place = folder "/outputs/" page ".md:" first
      system("mkdir -p " place)
      write(place "/example.perm", program)
      write(place "/command", kind == "sh" ? output : command "\n")
      if (kind != "sh") write(place "/expected", output)
    }
    function check_file(   line, found) {
      while ((getline line < (root "/" file)) > 0) found = found line "\n"
      if (found != output) complain("this is not what " file " holds")
    }
    function end_block() {
      if (kind == "csv") check_file()
      else if (kind == "output") write(place "/expected", output)
      else if (kind != "perm") end_output()
      else {
        close(file)
        if (!tests) complain("the example that ends here has no test")
      }
      kind = ""
    }
    /^```[a-z]/ { before = language; language = substr($0, 4) }
    /^```output$/ && before == "python" { next }
    /^```perm$/ { begin_program(); next }
    /^```message$/ { begin_output("message"); command = "permc check example.perm"; next }
    /^```(explain|console|sh|output)$/ { begin_output(substr($0, 4)); next }
    /^```csv / { begin_output("csv"); file = $2; next }
    /^```/ && kind { end_block(); next }
    /^```/ { next }
    kind == "perm" { print > file; program = program $0 "\n"; tests += /^-- ==/; next }
    /^[$] / && kind == "console" && !command { command = substr($0, 3); next }
    kind == "explain" && !command { command = $0; next }
    kind { output = output $0 "\n" }
  ' "$root/$page.md"
done

status=0
permc test --allow-extern "$folder/tests" >"$folder/log" 2>&1 || status=$?
touch "$folder/wrong"
cat "$folder/wrong"
failed=$(wc -l <"$folder/wrong")
[ "$status" -eq 0 ] || cat "$folder/log"
counts=$(tail -n 1 "$folder/log")
case $counts in
*" passed, "*" failed, "*" skipped")
  passed=${counts%% passed*}
  rest=${counts#* passed, }
  failed=$((failed + ${rest%% failed*}))
  skipped=${rest#* failed, }
  skipped=${skipped%% skipped*}
  ;;
*) passed=0 skipped=0 ;;
esac
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi

for place in "$folder"/outputs/*; do
  ln -s "$root/examples" "$folder/bootstrap" "$place"
  for name in $(grep -o '\(examples/\)\?[a-z_]*\.perm' "$place/command"); do
    [ -e "$place/$name" ] || cp "$place/example.perm" "$place/$name"
  done
  status=0
  (cd "$place" && sh -e ./command) >"$place/found" 2>&1 || status=$?
  sed -i 's/^planned in .*/planned in .../' "$place/found"
  if [ -e "$place/expected" ] && ! cmp -s "$place/expected" "$place/found"; then
    failed=$((failed + 1))
    echo "${place##*/}: the output of permc has changed"
    diff "$place/expected" "$place/found" || true
  elif [ ! -e "$place/expected" ] && [ "$status" -ne 0 ]; then
    failed=$((failed + 1))
    echo "${place##*/}: a command fails"
    cat "$place/found"
  else
    passed=$((passed + 1))
  fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
