# Reads the log of a ctest run (Testing/Temporary/LastTest.log) and prints
# `N passed, N failed, N skipped`, added up over its cases. A case counts as much as the last line
# of that form in its output says; without one it counts once. A case that ctest calls failed (also
# for a signal, a timeout, a leak at exit) counts at least one failure.

/^[0-9]+\/[0-9]+ Test: / { counted = 0; p = f = s = 0 }

/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { counted = 1; p = $1; f = $3; s = $5 }

/^Unable to find executable/ { missing = 1 }  # ctest calls such a case passed in its log

/^Test (Passed|Failed)\.$/ {
  good = /Passed/ && !missing
  if (good && !counted) p = 1
  if (!good && f == 0) f = 1
  passed += p; failed += f; skipped += s
  counted = missing = 0; p = f = s = 0
}

END {
  if (passed + failed + skipped == 0) failed = 1
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
