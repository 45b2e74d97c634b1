// See count.h.
#include "kernels/routines/partition/count.h"
#include "core/number.h"
#include "kernels/text/text.h"

enum { THREADS = 512, CLEAR_THREADS = 256, LEAST_CHUNK = 8 * THREADS, BLOCKS = 4 };

static uint64_t counts_in_scratch(const count_kernels *k) {
  return k->limit <= COUNT_IN_SCRATCH ? k->limit : 0;
}

// Keys of a row that a block counts. Its own counts are of 32 bits.
static uint64_t chunk_of(const count_kernels *k) {
  uint64_t all = k->rows * k->length, blocks = (uint64_t)k->multiprocessors * BLOCKS;
  uint64_t chunk = divide_up(all, blocks), own = counts_in_scratch(k);
  uint64_t least = LEAST_CHUNK > own ? LEAST_CHUNK : own;
  return chunk < least ? least : chunk > UINT32_MAX ? UINT32_MAX : chunk;
}

void count_kernels_write(text *out, const count_kernels *k) {
  scalar_row keys = scalar_types[k->type];
  c_source_add(out, "kernels/text/cuda_host.h");
  text_printf(out, "typedef %sint%zu_t COUNT_KEY;\n", keys.kind == KIND_SIGNED ? "" : "u",
              8 * keys.size);
  text_printf(out, "#define COUNT_LIMIT %lluU\n", (unsigned long long)k->limit);
  text_printf(out, "#define COUNT_THREADS %d\n", THREADS);
  text_printf(out, "#define COUNT_SCRATCH %u\n", 4 * (unsigned)counts_in_scratch(k));
  c_source_add(out, "kernels/routines/partition/count_text.h");
}

void count_launches(const count_kernels *k, routine_launch out[COUNT_LAUNCHES]) {
  uint64_t all = k->rows * k->limit, chunk = chunk_of(k);
  out[0] = (routine_launch){.kernel = "clear",
                            .blocks = divide_up(all, CLEAR_THREADS),
                            .threads = CLEAR_THREADS,
                            LAUNCH_ARRAYS(COUNT_COUNTS),
                            LAUNCH_NUMBERS(all)};
  out[1] = (routine_launch){.kernel = "count",
                            .blocks = k->rows * divide_up(k->length, chunk),
                            .threads = THREADS,
                            .shared_bytes = 4 * (uint32_t)counts_in_scratch(k),
                            LAUNCH_ARRAYS(COUNT_KEYS, COUNT_COUNTS),
                            LAUNCH_NUMBERS(k->length, chunk)};
}
