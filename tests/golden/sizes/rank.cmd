# More than 16 dimensions, written and made.
cd "$PERMC_TMP" || exit 1
cat >written.perm <<'END'
main : [1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]i32 -> i32
main xs = 0
END
permc check written.perm
cat >made.perm <<'END'
eight x = more (more (more (more (more (more (more (more x)))))))
  where more y = replicate 1 y
main : i32 -> i64
main x = length (replicate 1 (eight (eight x)))
END
permc check made.perm
