// Tables, .csv: no input may crash, and the columns that are read are written and read back.
#include "tests/fuzz/fuzz_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_source("input.csv", data, size);
  return 0;
}
