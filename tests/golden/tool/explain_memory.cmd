# Runs on files: by the least memory that an error names, parts are few; a step does not make the
# parts of others small; one whose arrays are permuted differently is made several; boxes are not
# tiny.
permc explain -e sample_sort --arguments '[300000]f32' --target avx512 --memory 1MiB
least=$(permc explain -e sample_sort --arguments '[300000]f32' --target avx512 --memory 1MiB 2>&1 |
  sed 's/.*; \([0-9]*\) \([KMG]iB\) would do/\1\2/')
permc explain -e sample_sort --arguments '[300000]f32' --target avx512 --memory "$least" |
  sed -n '/^ step/,/^  all/s/ *[0-9.]* [mu]*s$//p'
permc explain -e '\xs -> (bitrev xs, transpose (split 6 xs), transpose (split 3 xs), sort_network xs)' \
  --arguments '[2^14]u32' --target avx512 --memory 64KiB |
  sed -n '/^ step/,/^  all/s/ *[0-9.]* [mu]*s$//p'
permc explain -e transpose --arguments '[1000][1024]f32' --target avx512 --memory 16MiB |
  sed -n '/^ step/,/^  all/s/ *[0-9.]* [mu]*s$//p'
# The halves of a pass have passes with stores of their own; these are not halved without end.
permc explain --arguments '[1023]c128 bf16' --target avx512 --memory 64KiB -e '\xs x ->
  let r = i64 x % 3 in let o = [r, 440 + r, 892 + r, 1021 + r, 1021 + r, 1021 + r, 1021 + r, 1021 + r, 1021 + r] in
  reduce_ranges (\(a, b) c -> (c.0, b)) (xs[29], x) (take 8 o) (drop 1 o) (padded (c128 x) (map (\y -> (y, bf16 (re y)))) xs)'
