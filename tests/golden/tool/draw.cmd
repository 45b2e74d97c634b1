# Pictures: networks, matrices with the tiles of a plan; and what is none.
cd "$PERMC_TMP" || exit 1
cat >a.perm <<'END'
-- A comparator upward, an element alone, and a bit reversal.
up : [2^n]i32 -> [2^n]i32
up xs = bitrev (map (* 2) (parm 1 (column 1 (\[a, b] -> [max a b, min a b])) xs))

both : [2^n]i32 -> [2^n]i32 -> [2^n]i32
both xs ys = zip_with (+) xs (bitrev ys)
END
permc draw -e balanced_merge --arguments '[2^4]u32'
permc draw a.perm --entry up --size n=3
permc draw a.perm --entry both --size n=2
permc draw -e '\[a, b, c, _] -> max (min a b) (min (max a b) c)' --arguments '[2^2]u32'
permc draw -e '\[a, b, c, _] -> max (min a b) (min (max a b) c)' --arguments '[2^2]f32'
permc draw -e '\[a, b, c, d] -> [min a b, min (min a b) c, max c b, d]' --arguments '[2^2]u32'
permc draw -e 'sort_network' --arguments '[2^3](u8, f64)'
permc draw -e fft --arguments '[2^3]c64'
permc draw -e sum --arguments '[2^2]i32'
permc draw -e argsort --arguments '[2^2]f32' --target sketch
permc draw -e 'sort_by (\x y -> total_le y.1 x.1)' --arguments '[2^2](u8, f64)'
permc draw -e 'top_k 1' --arguments '[2^2]i32'
permc draw -e '\xs -> [sum (map (\x -> x * k) xs) | k <- 1..4]' --arguments '[2^2]i64'
permc draw -e 'rotate'
permc draw -e bitrev --arguments '[2^6]u32' --target sketch
permc draw -e 'flip_bits 5 . bitrev' --arguments '[2^3](i8, f64)'
permc draw -e bitrev --arguments '[2^12]u32' --what matrix
permc draw -e 'map (+ 1)' --arguments '[3]i32'
permc draw -e sort --arguments '[2^20]u32' --target gpu
permc draw -e sort --arguments '[2^20]u32' --what network
permc draw -e sort_network --arguments '[2^7]u32' --what network
permc draw -e sort --arguments '[2^4]u32' --what matrix
permc draw -e reverse --arguments '[10]u32' --what matrix
permc draw -e reverse --arguments '[10]u32' --target gpu
permc draw -e reverse --arguments '[0]u32'
permc draw -e sort --arguments '[2^3]'
permc draw -e sort --what tiles
permc draw -e sort_network --arguments '[2^3]u32' -o sort.svg && head -n 1 sort.svg
permc draw -e sort_network --arguments '[2^3]u32' -o sort.txt && cat sort.txt
permc draw -e bitrev --arguments '[2^3]u32' -o absent/sort.svg
permc draw -e bitrev --arguments '[2^3]u32' -o sort.png
permc explain -e bitrev --arguments '[2^3]u32' --html --target sketch |
  grep -v '<rect\|<text\|<style\|^planned'
