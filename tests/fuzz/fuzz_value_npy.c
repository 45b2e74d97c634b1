// NumPy's .npy. Inputs are taken as they are and, where the size is odd, as the text of a header
// up to the first newline with its data behind it: a fuzzer does not keep the header's length true.
#include "tests/fuzz/fuzz_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t bytes[2048] = "\x93NUMPY\1\0";
  if (size % 2 == 0 || size > sizeof bytes - 10) {
    fuzz_source("input", data, size);
    return 0;
  }
  const uint8_t *newline = memchr(data, '\n', size);
  size_t length = newline ? (size_t)(newline - data) + 1 : size;
  bytes[8] = (uint8_t)length;
  bytes[9] = (uint8_t)(length >> 8);
  memcpy(bytes + 10, data, size);
  fuzz_source("input", bytes, size + 10);
  return 0;
}
