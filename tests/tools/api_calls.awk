# The functions of permc.h as calls in C, for tests/unit/nulls_test.c:
#   BOOL(permc_load_text, c, s, s, n)
# with what it returns: a BOOL, a POINTER, a NUMBER or NOTHING; c is a context, s a text, n a number,
# out and count where results and their number go; all other pointers are NULL.
{ sub(/\/\/.*/, "") }
/^PERMC_API/ { prototype = " " }
prototype { prototype = prototype $0 " " }
prototype && /;/ {
  match(prototype, /permc_[a-z_]*\(/)
  type = substr(prototype, 1, RSTART - 1)
  call = (type ~ /\*/ ? "POINTER" : type ~ /bool/ ? "BOOL" : type ~ /void/ ? "NOTHING" : "NUMBER") \
    "(" substr(prototype, RSTART, RLENGTH - 1)
  count = split(substr(prototype, RSTART + RLENGTH), parameters, ",")
  for (i = 1; i <= count; i++) {
    p = parameters[i]
    if (p !~ /^ *void\)/)
      call = call ", " (p ~ /permc_context \*/ ? "c" : p ~ /const char \*[a-z_]*( *$|\))/ ? "s" : \
        p ~ /permc_value \*\*\*|char \*\*/ ? "(void *)out" : p ~ /size_t \*/ ? "count" : p ~ /\*/ ? "NULL" : "n")
  }
  print call ")"
  prototype = ""
}
