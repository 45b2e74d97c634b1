// Futhark's text format and plain text: no input may crash, and what is read is printed so that it
// reads back.
#include "tests/fuzz/fuzz_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_source("input", data, size);
  return 0;
}
