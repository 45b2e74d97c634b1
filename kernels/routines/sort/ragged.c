// Shapes, texts and launches of sorts of rows of any lengths. See ragged.h.
#include "kernels/routines/sort/ragged.h"
#include "core/number.h"
#include "kernels/routines/sort/merge.h"
#include "kernels/text/text.h"

enum { ENTRY_WORDS = 3, STATE_WORDS = 6, MOST_BLOCKS = INT32_MAX, DIGITS = 256 };

// Numbers of keys go with them in tiles: with floats too, as NaN of different bits are equal, and a
// network of comparators is stable by numbers.
static bool has_numbers(const sort_kernels *k) {
  return k->along_bytes || scalar_types[k->work.type].kind == KIND_FLOAT;
}

// Of scratch, as kernels/routines/sort/ragged_text.h divides it.
static uint32_t tile_bytes(const sort_kernels *k) {
  uint32_t words = (uint32_t)divide_up(sort_room(k->tile), 64);
  return sort_scratch(k, k->tile, has_numbers(k)) +
         8 * (words + (uint32_t)divide_up(words, 64) + 1) + 8 * 4 + 4 * 4;
}

// ... and kernels/routines/sort/ragged_parts_text.h.
static uint32_t part_bytes(const sort_kernels *k) {
  return sort_scratch(k, k->part, k->along_bytes > 0) + k->part.threads / 32 * DIGITS * 2 + 8 * 4 +
         8 * 2;
}

// By the mean length of rows, as measured on an H200.
static const struct {
  uint64_t mean;                // up to
  uint32_t short_row;           // keys that a thread sorts by itself
  bool lists;                   // all rows
  sort_shape tile, part, wide;  // wide: parts whose keys are not one word by themselves
} shapes[] = {
    {16, 40, false, {128, 17, 8}, {1024, 33, 1}, {1024, 17, 1}},
    {32, 64, false, {128, 33, 5}, {1024, 33, 1}, {1024, 17, 1}},
    {128, 0, false, {128, 31, 8}, {1024, 33, 1}, {1024, 17, 1}},
    {1024, 0, false, {512, 15, 3}, {1024, 33, 1}, {1024, 17, 1}},
    {2048, 0, true, {512, 31, 3}, {256, 17, 6}, {512, 17, 2}},
    {4096, 0, true, {512, 31, 3}, {256, 33, 4}, {512, 17, 2}},
    {8192, 0, true, {512, 31, 3}, {512, 33, 2}, {1024, 17, 1}},
    {UINT64_MAX, 0, true, {512, 31, 3}, {1024, 33, 1}, {1024, 17, 1}},
};
enum { SHORT_WORDS = 64, WIDE_SHORT_BLOCKS = 5 };

static void choose_shapes(sort_kernels *k) {
  uint32_t i = 0, words = sort_key_bytes(k) == 8 ? 2 : 1;
  uint64_t mean = k->work.length / k->work.offsets;
  while (mean > shapes[i].mean)
    i++;
  k->tile = shapes[i].tile;
  k->part = words + (k->along_bytes > 0) > 1 ? shapes[i].wide : shapes[i].part;
  k->short_row = shapes[i].short_row;
  if (k->short_row && words + has_numbers(k) > 1) {
    k->short_row = SHORT_WORDS / (words + has_numbers(k));
    k->tile.blocks = WIDE_SHORT_BLOCKS;
  }
  while (part_bytes(k) > k->work.shared_bytes)
    k->part.items -= 2;
  while (tile_bytes(k) > k->work.shared_bytes)
    k->tile.items -= 2;
  k->longest = shapes[i].lists ? 0 : (uint32_t)sort_room(k->tile);
  uint64_t room = sort_room(k->tile), overhang = 8 * mean;
  overhang = overhang > room / 2 ? room / 2 : overhang < room / 8 ? room / 8 : overhang;
  k->window = (uint32_t)((room - overhang) / 64 * 64);
}

const char *ragged_kernels_of(sort_kernels *k) {
  const sort_work *w = &k->work;
  uint64_t elements = w->rows * w->length;
  choose_shapes(k);
  if (divide_up(w->length, k->window) > MOST_BLOCKS / w->rows)
    return "there are too many tiles of keys";
  k->room = 2 * elements / sort_room(k->part) + 1;
  k->room += k->longest ? elements / (sort_room(k->tile) - k->window) : w->rows * w->offsets;
  k->bytes[SORT_SPARE_KEYS] = elements * sort_key_bytes(k);
  k->bytes[SORT_SPARE_SORTED] = w->wants_keys ? 0 : elements * sort_key_bytes(k);
  k->bytes[SORT_ALONG] = k->along_order ? elements * k->along_bytes : 0;
  k->bytes[SORT_SPARE_ALONG] = elements * k->along_bytes;
  uint64_t windows = w->rows * divide_up(w->length, k->window);
  k->bytes[SORT_STATE] = 8 * (STATE_WORDS + 2 * ENTRY_WORDS * k->room + windows);
  return NULL;
}

// ---- text --------------------------------------------------------------------------------------

void ragged_kernels_write(text *out, const sort_kernels *k) {
  sort_order_write(out, k);
  text_printf(out, "typedef uint%u_t SORT_KEY;\ntypedef uint32_t TILE_COUNT;\n",
              8 * sort_key_bytes(k));
  text_printf(out, "#define MERGE_ALONG_BYTES %u\n#define RAGGED_WINDOW %u\n", k->along_bytes,
              k->window);
  text_printf(out, "#define RAGGED_PART %u\n", (uint32_t)sort_room(k->part));
  text_printf(out, "#define RAGGED_SHORT %u\n#define RAGGED_LONGEST %u\n", k->short_row,
              k->longest);
  c_source_add(out, "kernels/text/tile.h");
  c_source_add(out, "kernels/routines/sort/digit_text.h");
  c_source_add(out, "kernels/routines/sort/merge_head.h");
  c_source_add(out, "kernels/routines/sort/ragged_head.h");
  static const char *const tiles[] = {"kernels/routines/sort/ragged_text.h", NULL};
  static const char *const parts[] = {"kernels/routines/sort/merge_runs_text.h",
                                      "kernels/routines/sort/ragged_parts_text.h", NULL};
  sort_block_write(out, tiles, k->tile, has_numbers(k));
  sort_block_write(out, parts, k->part, k->along_bytes > 0);
}

// ---- launches ----------------------------------------------------------------------------------

// The arrays of both kernels; `spare` of the second one.
static void add_arrays(routine_launch *l, const sort_kernels *k, bool spare) {
  launch_add_array(l, SORT_KEYS);
  launch_add_array(l, k->work.wants_keys ? SORT_SORTED : SORT_SPARE_SORTED);
  if (spare)
    launch_add_array(l, SORT_SPARE_KEYS);
  if (k->along_bytes) {
    launch_add_array(l, sort_along_from(k));
    launch_add_array(l, sort_along_to(k));
    if (spare)
      launch_add_array(l, SORT_SPARE_ALONG);
  }
}

static routine_launch starts_launch(const sort_kernels *k) {
  uint64_t all = k->work.rows * k->work.offsets;
  return (routine_launch){.kernel = "starts",
                          .blocks = divide_up(all, 256),
                          .threads = 256,
                          LAUNCH_ARRAYS(SORT_OFFSETS, SORT_STATE),
                          LAUNCH_NUMBERS(k->work.offsets - 1, k->work.length, k->room, all)};
}

static routine_launch tiles_launch(const sort_kernels *k) {
  routine_launch l = {.kernel = "tiles",
                      .blocks = k->work.rows * divide_up(k->work.length, k->window),
                      .threads = k->tile.threads,
                      .shared_bytes = tile_bytes(k),
                      LAUNCH_NUMBERS(k->work.offsets - 1, k->work.length, k->room)};
  add_arrays(&l, k, false);
  launch_add_array(&l, SORT_OFFSETS);
  launch_add_array(&l, SORT_STATE);
  return l;
}

static routine_launch parts_launch(const sort_kernels *k) {
  uint64_t blocks = (uint64_t)k->work.multiprocessors * k->part.blocks;
  routine_launch l = {.kernel = "parts",
                      .blocks = blocks,
                      .threads = k->part.threads,
                      .shared_bytes = part_bytes(k),
                      LAUNCH_NUMBERS(k->work.length, k->room, blocks)};
  add_arrays(&l, k, true);
  launch_add_array(&l, SORT_STATE);
  return l;
}

void ragged_launches(const sort_kernels *k, routine_launch *out) {
  out[0] = starts_launch(k);
  out[1] = tiles_launch(k);
  out[2] = parts_launch(k);
}
