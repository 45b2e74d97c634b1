# Errors in the expression of -e.
try() {
  permc run -e "$@" </dev/null
  echo "$?"
}
try 'srot'
try 'sort +'
try 'parm 1'
try '\x -> y' 
try '1 + true'
try ''
try 'let x = 1'
try 'x = 3'
try ') + 1'
try 'map (map sort)' --random '[3][3]i32'
cd "$PERMC_TMP" || exit 1
echo 'twice xs = concat xs xs' >twice.perm
check() {
  permc check "$@"
  echo "$?"
}
check -e 'map (+ 1)'
check -e 'sort +'
check -e twice
check -e twice twice.perm
check -e bitrev --arguments '[3]u8'
check -e sort --entry main
