// Shapes, texts and launches of sorts of rows of any lengths. See ragged.h.
#include "kernels/routines/ragged.h"
#include "core/number.h"
#include "kernels/routines/order.h"
#include "kernels/text/text.h"

enum { ENTRY_WORDS = 3, STATE_WORDS = 6, MOST_BLOCKS = INT32_MAX };

static uint32_t key_bytes(const sort_kernels *k) {
  return (uint32_t)scalar_types[k->work.type].size;
}

// Numbers of keys go with them: with floats too, as NaN of different bits are equal, and a network of
// comparators is stable by numbers.
static bool has_numbers(const sort_kernels *k) {
  return k->along_bytes || scalar_types[k->work.type].kind == KIND_FLOAT;
}

static uint64_t room_of(sort_shape s) { return (uint64_t)s.threads * s.items; }

// Of scratch, as kernels/routines/ragged_text.h divides it.
static uint32_t scratch_bytes(const sort_kernels *k, sort_shape s) {
  uint64_t wide = k->along_bytes > key_bytes(k) ? k->along_bytes : key_bytes(k);
  uint64_t words = divide_up(room_of(s), 64), room = room_of(s) + 2;
  uint64_t bytes = divide_up(room * wide + (has_numbers(k) ? 2 * room : 0), 16) * 16;
  return (uint32_t)(bytes + 8 * (words + divide_up(words, 64) + 1) + 8 * 4 + 4 * 4);
}

// By the mean length of rows, as measured on an H200.
static void choose_shapes(sort_kernels *k) {
  uint64_t mean = k->work.length / k->work.offsets;
  k->tile = mean <= 16     ? (sort_shape){128, 15, 10}
            : mean <= 128  ? (sort_shape){128, 31, 8}
            : mean <= 1024 ? (sort_shape){512, 15, 3}
                           : (sort_shape){512, 31, 3};
  k->part = (sort_shape){1024, 31, 1};
  while (scratch_bytes(k, k->part) > k->work.shared_bytes)
    k->part.items -= 2;
  while (scratch_bytes(k, k->tile) > k->work.shared_bytes)
    k->tile.items -= 2;
  uint64_t room = room_of(k->tile), overhang = 8 * mean;
  overhang = overhang > room / 2 ? room / 2 : overhang < room / 8 ? room / 8 : overhang;
  k->window = (uint32_t)((room - overhang) / 64 * 64);
}

const char *ragged_kernels_of(sort_kernels *k) {
  const sort_work *w = &k->work;
  uint64_t elements = w->rows * w->length;
  choose_shapes(k);
  if (divide_up(w->length, k->window) > MOST_BLOCKS / w->rows)
    return "there are too many tiles of keys";
  k->room = elements / (room_of(k->tile) - k->window) + 2 * elements / room_of(k->part) + 1;
  k->bytes[SORT_SPARE_KEYS] = elements * key_bytes(k);
  k->bytes[SORT_SPARE_SORTED] = w->wants_keys ? 0 : elements * key_bytes(k);
  k->bytes[SORT_ALONG] = k->along_order ? elements * k->along_bytes : 0;
  k->bytes[SORT_SPARE_ALONG] = elements * k->along_bytes;
  k->bytes[SORT_STATE] = 8 * (STATE_WORDS + 2 * ENTRY_WORDS * k->room);
  return NULL;
}

// ---- text --------------------------------------------------------------------------------------

// A kernel's text, in its shape.
static void write_kernel(text *out, const char *name, sort_shape s) {
  text_printf(out, "#define RAGGED_NAME(x) %s_##x\n#define RAGGED_%s\n", name, name);
  text_printf(out, "#define RAGGED_THREADS %u\n#define RAGGED_ITEMS %u\n", s.threads, s.items);
  text_printf(out, "#define RAGGED_BLOCKS %u\n", s.blocks);
  c_source_add(out, "kernels/routines/ragged_text.h");
  text_printf(out, "#undef RAGGED_NAME\n#undef RAGGED_%s\n#undef RAGGED_THREADS\n", name);
  text_string(out, "#undef RAGGED_ITEMS\n#undef RAGGED_BLOCKS\n");
}

void ragged_kernels_write(text *out, const sort_kernels *k) {
  write_sort_order(out, "RAGGED_ORDER", k->work.type, k->work.descending);
  text_printf(out, "typedef %s RAGGED_KEY;\n", unsigned_of(key_bytes(k)));
  text_printf(out, "#define RAGGED_ALONG_BYTES %u\n#define RAGGED_WINDOW %u\n", k->along_bytes,
              k->window);
  text_printf(out, "#define RAGGED_NUMBER_BYTES %u\n", has_numbers(k) ? 2 : 0);
  text_printf(out, "#define RAGGED_PART %u\n", (uint32_t)room_of(k->part));
  c_source_add(out, "kernels/routines/ragged_head.h");
  write_kernel(out, "tiles", k->tile);
  write_kernel(out, "parts", k->part);
}

// ---- launches ----------------------------------------------------------------------------------

// The arrays of both kernels; `spare` of the second one.
static void add_arrays(routine_launch *l, const sort_kernels *k, bool spare) {
  bool numbers = k->along_order || (k->along_bytes && k->work.payloads->numbers);
  launch_add_array(l, SORT_KEYS);
  launch_add_array(l, k->work.wants_keys ? SORT_SORTED : SORT_SPARE_SORTED);
  if (spare)
    launch_add_array(l, SORT_SPARE_KEYS);
  if (k->along_bytes) {
    launch_add_array(l, numbers ? LAUNCH_NOTHING : SORT_PAYLOADS);
    launch_add_array(l, k->along_order ? SORT_ALONG : SORT_PAYLOADS + 1);
    if (spare)
      launch_add_array(l, SORT_SPARE_ALONG);
  }
}

static routine_launch tiles_launch(const sort_kernels *k) {
  routine_launch l = {.kernel = "tiles",
                      .blocks = k->work.rows * divide_up(k->work.length, k->window),
                      .threads = k->tile.threads,
                      .shared_bytes = scratch_bytes(k, k->tile)};
  add_arrays(&l, k, false);
  launch_add_array(&l, SORT_OFFSETS);
  launch_add_array(&l, SORT_STATE);
  launch_add_number(&l, k->work.offsets - 1);
  launch_add_number(&l, k->work.length);
  launch_add_number(&l, k->room);
  return l;
}

static routine_launch parts_launch(const sort_kernels *k) {
  routine_launch l = {.kernel = "parts",
                      .blocks = (uint64_t)k->work.multiprocessors * k->part.blocks,
                      .threads = k->part.threads,
                      .shared_bytes = scratch_bytes(k, k->part)};
  add_arrays(&l, k, true);
  launch_add_array(&l, SORT_STATE);
  launch_add_number(&l, k->work.length);
  launch_add_number(&l, k->room);
  launch_add_number(&l, l.blocks);
  return l;
}

void ragged_launches(const sort_kernels *k, routine_launch *out) {
  out[0] = tiles_launch(k);
  out[1] = parts_launch(k);
}
