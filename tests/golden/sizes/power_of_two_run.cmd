# The same where the length comes from data: 0, 3, 6, 1000 elements.
for count in 0 3 6 1000; do
  permc run -e sort_network --random "[$count]f32"
  echo "$count: $?"
done
permc run -e 'padded maxval sort' --random '[3]u8'
