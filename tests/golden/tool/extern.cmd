# Foreign functions: not allowed, no such library, no such function, a file that is no library.
cd "$PERMC_TMP" || exit 1
try() { # try NAME LIBRARY FUNCTION OPTION...
  printf 'extern "%s" %s : f64 -> f64\nmain : f64 -> f64\nmain x = %s x\n' "$2" "$3" "$3" >"$1.perm"
  name=$1
  shift 3
  echo 0.0 | permc run "$name.perm" "$@"
  echo "$name: $?"
}
try allowed m cos --allow-extern
try refused m cos
try missing no_such_library cos --allow-extern
try no_function m no_such_function --allow-extern
: >empty.so
try no_library ./empty.so cos --allow-extern 2>&1 | sed 's|cannot be loaded: .*|cannot be loaded: ...|'
permc check refused.perm
echo "check: $?"
