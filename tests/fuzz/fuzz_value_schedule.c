// Schedules of permutations. Inputs of even length are taken as they are. Of others a header is
// made that is right of itself, hashes and all, which a fuzzer does not find: the first byte is the
// form, the second how many elements, and each other one a number of the steps, or of what
// describes a movement. What is read as a permutation is written as a schedule and read again.
#include "tests/fuzz/fuzz_value.h"

#include "core/permutation/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// As runtime/values/schedule.c says.
typedef struct header {
  char magic[8];
  uint32_t version, form;
  uint64_t length;
  uint32_t rows, width;
  uint64_t steps[SCHEDULE_STEPS], own;
} header;

enum { MOST = 1024 };  // numbers

static size_t make_schedule(const uint8_t *data, size_t size, unsigned char *to) {
  header h = {.magic = "\x89PERMS\r\n", .version = 1, .form = data[0] % 6, .length = data[1]};
  permutation_schedule shape = schedule_shape(h.length);
  uint64_t cells = schedule_cells(&shape);
  uint16_t steps[MOST] = {0};
  uint64_t numbers[MOST] = {0};
  size_t count = size - 2 < MOST ? size - 2 : MOST, bytes = count * sizeof *steps;
  for (size_t i = 0; i < count; i++)
    numbers[i] = steps[i] = data[2 + i];
  h.rows = h.form > 3 ? 0 : h.form ? (uint32_t)count : shape.rows;
  h.width = h.form > 3 ? data[0] / 6U : h.form ? 0 : shape.width;
  for (uint64_t i = 0; i < SCHEDULE_STEPS && !h.form && (i + 1) * cells <= MOST; i++)
    h.steps[i] = hash_bytes(steps + i * cells, cells * sizeof *steps);
  if (h.form > 3)
    h.steps[0] = hash_bytes(steps, bytes);
  if (h.form && h.form <= 3) {
    bytes = count * sizeof *numbers;
    h.steps[0] = hash_bytes(numbers, bytes);
  }
  h.own = hash_bytes(&h, offsetof(header, own));
  memcpy(to, &h, sizeof h);
  memcpy(to + sizeof h, h.form && h.form <= 3 ? (void *)numbers : steps, bytes);
  return sizeof h + bytes;
}

static void check_again(const uint8_t *data, size_t size) {
  static fuzz_values v;
  fuzz_read(&v, "input", data, size, (value_expectation){SCALAR_COUNT, -1}, false);
  if (v.count == 1 && v.values[0].permutation)
    fuzz_read_back(FORMAT_SCHEDULE, &(permc_value){.components = v.values, .count = 1});
  fuzz_free(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static unsigned char made[sizeof(header) + MOST * sizeof(uint64_t)];
  bool makes = size % 2 && size > 2;
  size_t count = makes ? make_schedule(data, size, made) : size;
  const uint8_t *input = makes ? made : data;
  fuzz_source("input", input, count);
  check_again(input, count);
  return 0;
}
