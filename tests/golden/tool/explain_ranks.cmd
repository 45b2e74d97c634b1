# What 16 GPUs on two hosts send for a permutation, a network and a sort by keys; numbers of ranks that there are
# not, and other mistakes.
reverse='bmmc [2^11, 2^10, 2^9, 2^8, 2^7, 2^6, 2^5, 2^4, 2^3, 2^2, 2^1, 2^0] 0'
permc explain -e "$reverse" --arguments '[2^12]u32' --target gpu --ranks 16 | sed -n '/^ranks/,/^  all/p' |
  sed '/exchange/!s/ *[0-9.]* [mu]*s$//'
permc explain -e fwht --arguments '[2^24]f32' --target gpu --ranks 16 | sed -n '/^ranks/,/^  all/p' |
  sed '/exchange/!s/ *[0-9.]* [mu]*s$//'
permc explain -e fwht --arguments '[2^24]f32' --ranks 12
printf 'base = gpu\nname = two\nnodes = 2\n' >"$PERMC_TMP/two.target"
permc explain -e fwht --arguments '[2^24]f32' --ranks 32 --target "$PERMC_TMP/two.target"
permc explain -e radix_sort --arguments '[2^20]u16' --target gpu --ranks 16 | sed -n '/^ranks/,/^  all/p' |
  sed 's/ *[0-9.]* [mu]*s$//'
permc explain -e 'histogram 4 (\x -> x & 15u32)' --arguments '[1000]u32' --target gpu --ranks 4 | sed -n '/^ranks/,/^  all/p' |
  sed 's/ *[0-9.]* [mu]*s$//'
permc explain -e fwht --arguments '[2^24]f32' --ranks 4 --memory 1MiB
permc explain -e fwht --arguments '[2^24]f32' --ranks 2^21
