# Threads as ranks, and what ranks cannot be.
permc run -e sort --random '[10]u8' --ranks 4
permc run -e sort --random '[10]u8'
permc run -e 'map (\x -> x + 1) (iota 3)' --ranks 16 --backend cpu
permc run -e sort --random '[10]u8' --ranks 3
permc run -e sort --random '[10]u8' --ranks 1048576
permc run -e sort --random '[10]u8' --ranks 4 --backend interp
permc run -e sort --random '[2]u8' --ranks 1 --backend interp
permc run -e sort --random '[10]u8' --memory 1MiB --backend interp || echo "exit $?"
permc run -e sort --random '[10]u8' --transport threads
permc run -e sort --random '[10]u8' --timeout 5
permc run -e sort --random '[2]u8' --ranks 2 --timeout 5
permc run -e sort --random '[10]u8' --transport smoke --ranks 2
permc run -e sort --random '[10]u8' --ranks 2 --devices 0
RANK=1 WORLD_SIZE=4 permc run -e sort --random '[10]u8'
RANK=1 WORLD_SIZE=4 permc run -e sort --random '[10]u8' --ranks 1
