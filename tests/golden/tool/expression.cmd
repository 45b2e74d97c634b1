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
