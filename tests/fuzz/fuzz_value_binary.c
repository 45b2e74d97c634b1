// Futhark's binary format. Half of the inputs get a header in front, so that the elements are
// reached often.
#include "tests/fuzz/fuzz_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t bytes[1024] = {'b', 2};
  if (size % 2 == 0 || size > sizeof bytes - 2) {
    fuzz_source("input", data, size);
  } else {
    memcpy(bytes + 2, data, size);
    fuzz_source("input", bytes, size + 2);
  }
  return 0;
}
