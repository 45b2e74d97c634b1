# Nesting beyond any limit is an error, however it is written.
cd "$PERMC_TMP" || exit 1
nested() { # nested NAME TEXT OPEN CLOSE: 100000 of them
  before=$2 middle=$3 after=$4 awk 'BEGIN {
    printf "main = "; for (i = 0; i < 100000; i++) printf "%s", ENVIRON["before"]
    printf "%s", ENVIRON["middle"]; for (i = 0; i < 100000; i++) printf "%s", ENVIRON["after"]
    print ""
  }' >"$1.perm"
  permc check "$1.perm"
  echo "$1: $?"
}
nested parentheses '(' 1 ')'
nested brackets '[' 1 ']'
nested minus '- ' 1 ''
nested lambda '\x -> ' 1 ''
nested let 'let x = ' 1 ' in x'
nested if 'if true then 1 else ' 1 ''
nested power '2 ^ ' 1 ''
nested sum '1 + ' 1 ''
nested application '' 'negate' ' 1'
nested fields '' '(1, 2)' '.0'
nested indices '' 'xs' '[0]'
nested pipe '1 |> ' 'negate' ''
