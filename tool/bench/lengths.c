// See lengths.h.
#include "tool/bench/lengths.h"
#include "core/random.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 5 };

static double draw_weight(bool zipf, uint64_t number, uint64_t *state) {
  return zipf ? 1 / (double)(number + 1) : (double)(draw_word(state) >> 11) * 0x1p-53;
}

bool bench_offsets_write(const char *lengths, int64_t *offsets, uint64_t rows, uint64_t elements) {
  uint64_t state = SEED;
  double total = 0, sum = 0, *weights = malloc((rows + 1) * sizeof *weights);
  if (!weights)
    return false;
  for (uint64_t i = 0; i < rows; i++) {
    uint64_t place = draw_word(&state) % (i + 1);
    double own = draw_weight(strcmp(lengths, "zipf") == 0, i, &state);
    weights[i] = weights[place];
    weights[place] = own;
    total += own;
  }
  for (uint64_t i = 0; i < rows; i++) {
    offsets[i] = (int64_t)(sum / total * (double)elements);
    sum += weights[i];
  }
  offsets[rows] = (int64_t)elements;
  free(weights);
  return true;
}
