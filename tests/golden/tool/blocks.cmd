# Loops along lines of memory are in blocks, also where rows are long, as lanes of what is computed
# across them: sums of columns. Arrays between passes have room for blocks that overlap.
for shape in 1000][1000 100000][97 100000][96; do
  permc explain -e '\a -> map sum (transpose a)' --arguments "[$shape]f32" --target avx2 --dump plan |
    grep -oE '^stage .*loops .*|^array .* temporary|^  load .* padded'
done
# One element of an array for each row of another: blocks are of rows, not of few elements of many.
permc explain -e 'zip_with (\x -> map (\y -> y - x))' --arguments '[1000]f32 [1000][1000]f32' --target avx2 --dump plan |
  grep -oE '^stage .*loops .*'
