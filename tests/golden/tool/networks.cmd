# Which sorts are by networks: as the target's row says, for each width of keys, or a file.
cd "$PERMC_TMP" || exit 1
printf 'base = avx512\nnetwork_keys_4 = 4096\nnetwork_pairs_2 = 8\nnetwork_rows_8 = 2\nnetwork_top_1 = 3\n' >own
sorts() { # TARGET SORT TYPES...
  target=$1 sort=$2
  shift 2
  printf '%-8s %-17s' "$target" "$sort"
  for types; do
    permc explain -e "$sort" --arguments "$types" --target "$target" 2>&1 |
      awk -v t="$types" '/routine sort|routine places/ { r = 1 } END { printf " %s %s", t, r ? "routine" : "network" }'
  done
  echo
}
for target in avx512 avx2 baseline gpu; do
  sorts $target sort '[2^4]u64' '[2^10]u64' '[2^22]u64' '[2^22]f32' '[2^14]u8' '[2^12]i16'
  sorts $target argsort '[2^3]u8' '[2^10]f64' '[2^18]u64'
  sorts $target 'sort_on fst' '[100](u16, u32)' '[2^18](f32, u8)'
  sorts $target 'top_k 4' '[2^16]u32'
  sorts $target 'map sort' '[100][2^3]u32' '[100][2^6]u64' '[100][2^10]u64'
done
sorts own sort '[2^12]u32' '[4097]u32' '[2^4]u64'
sorts own argsort '[2^3]i16' '[9]i16'
sorts own 'map sort' '[9][2]f64' '[9][4]f64'
sorts own 'top_k 3' '[2^6]u8'
sorts own 'bottom_k 4' '[2^6]u8'
sorts own 'padded maxval sort' '[100]u64'
printf 'base = avx2\nnetwork_keys_8 = -1\n' >own
permc explain -e sort --arguments '[4]u8' --target own
