# Runs on files: by the least memory that an error names, parts are few; a step does not make the
# parts of others small; one whose arrays are permuted differently is made several; boxes are not
# tiny.
permc explain -e sample_sort --arguments '[300000]f32' --target avx512 --memory 1MiB
least=$(permc explain -e sample_sort --arguments '[300000]f32' --target avx512 --memory 1MiB 2>&1 |
  sed 's/.*needs \([0-9]*\) bytes.*/\1/')
permc explain -e sample_sort --arguments '[300000]f32' --target avx512 --memory "$least" |
  sed -n '/^ step/,/^  all/s/ *[0-9.]* [mu]*s$//p'
permc explain -e '\xs -> (bitrev xs, transpose (split 6 xs), transpose (split 3 xs), sort_network xs)' \
  --arguments '[2^14]u32' --target avx512 --memory 64KiB |
  sed -n '/^ step/,/^  all/s/ *[0-9.]* [mu]*s$//p'
permc explain -e transpose --arguments '[1000][1024]f32' --target avx512 --memory 16MiB |
  sed -n '/^ step/,/^  all/s/ *[0-9.]* [mu]*s$//p'
permc explain -e transpose --arguments '[3000][3700]u16' --target avx512 --memory 41000
