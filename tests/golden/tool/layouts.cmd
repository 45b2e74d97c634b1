# Layouts by name, and what passes cost on a memory machine like a GPU.
try() {
  permc "$@"
  echo "exit $?"
}
try explain -e sort --arguments '[2^12]u32' --machine
try explain -e transpose --arguments '[2^6][2^6]u32' --machine --layout RAP:3
try explain -e transpose --arguments '[2^6][2^6]u32' --machine --layout raw --json
try explain -e bitrev --arguments '[16]u32' --machine --target avx2
try explain -e bitrev --arguments '[16]u32' --machine --dump plan
try explain -e bitrev --arguments '[16]u32' --layout foo
try run -e bitrev --random '[16]u8' --layout RAP:x
try run -e bitrev --random '[16]u8' --layout rap:18446744073709551615
try run -e 'id' --random '[2]u8' --layout optimal:1
try explain -e bitrev --arguments '[2^40]u32' --machine
