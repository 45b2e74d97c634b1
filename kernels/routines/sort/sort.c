// Shapes, texts and launches of sorts. See sort.h.
#include "kernels/routines/sort/sort.h"
#include "core/number.h"
#include "kernels/routines/sort/merge.h"
#include "kernels/routines/sort/ragged.h"
#include "kernels/text/text.h"

enum {
  DIGITS = 256,      // of 8 bits
  LEAST_TILE = 256,  // a thread for each digit
  MOST_BLOCKS = INT32_MAX,
  GATHER_THREADS = 256,
  COUNT_COPIES = 16,
  LEAST_ITEMS = 2,
  FLOAT_ITEMS = 20  // more would not stay in registers
};

// Of a block, by the bytes of what moves with a key; measured on an H200. Larger tiles have longer
// runs of a digit, smaller ones suffice for all multiprocessors.
static const struct {
  uint32_t word_bytes, apart_bytes;        // up to
  uint32_t threads, items, fewer, blocks;  // fewer items, where there would be few tiles
} shapes[] = {
    {4, 0, 512, 28, 16, 2}, {4, 4, 512, 20, 16, 2}, {4, 8, 384, 16, 12, 2},
    {8, 0, 512, 16, 12, 2}, {8, 8, 384, 12, 8, 2},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static uint32_t tile_of(const sort_kernels *k) { return k->threads * k->items; }

static uint32_t tile_blocks(const sort_kernels *k) { return (uint32_t)(k->work.rows * k->tiles); }

// Of shared memory, for a tile.
static uint32_t digit_bytes(const sort_kernels *k) {
  uint32_t staged = (tile_of(k) / 32 * 33 + 7) / 8 * 8;
  return staged * (sort_key_bytes(k) + k->along_bytes) + k->threads / 32 * DIGITS * 4 +
         (DIGITS + 16) * k->count_bytes;
}

// ---- shapes ------------------------------------------------------------------------------------

static bool is_carried(const sort_moved *m) {
  return m->bytes == 1 || m->bytes == 2 || m->bytes == 4 || m->bytes == 8;
}

static void choose_along(sort_kernels *k) {
  const sort_work *w = &k->work;
  if (w->payload_count == 1 && is_carried(w->payloads)) {
    k->along_bytes = w->payloads->bytes;
  } else if (w->payload_count > 0 || w->wants_places) {
    k->along_order = true;
    k->along_bytes = (w->length * (w->shares > 1 ? w->shares : 1)) >> 32 ? 8 : 4;
  }
  k->joined = k->along_bytes == sort_key_bytes(k) && k->along_bytes <= 4;
}

static uint32_t word_bytes(const sort_kernels *k) {
  return sort_key_bytes(k) + (k->joined ? k->along_bytes : 0);
}

// How often each multiprocessor is given its blocks, with so many keys for each thread.
static uint64_t rounds_of(const sort_kernels *k, uint32_t items) {
  uint64_t keys = (uint64_t)k->work.multiprocessors * k->blocks * k->threads * items;
  return divide_up(k->work.rows * k->work.length, keys ? keys : 1);
}

// Of few keys. A thread's keys take their time one after the other, and so do the states of the
// tiles before: both together take least where a tile has 8 times the root of all keys (measured:
// 1024 of 2^14, 2048 of 2^16, 4096 of 2^18).
static bool is_slow(const sort_kernels *k, uint32_t items) {
  uint64_t tile = k->threads * items / 8;
  return tile * tile >= k->work.rows * k->work.length;
}

// Rows that are shorter than a tile have smaller tiles.
static void choose_tile(sort_kernels *k) {
  uint32_t i = 0, apart = k->joined ? 0 : k->along_bytes;
  while (i + 1 < SHAPES && (shapes[i].word_bytes < word_bytes(k) || shapes[i].apart_bytes < apart))
    i++;
  k->threads = shapes[i].threads;
  k->items = shapes[i].items;
  k->blocks = shapes[i].blocks;
  bool floats = scalar_types[k->work.type].kind == KIND_FLOAT;
  if (floats && k->items > FLOAT_ITEMS)
    k->items = FLOAT_ITEMS;
  uint32_t fewer = shapes[i].fewer;
  if (rounds_of(k, fewer) <= 2 && rounds_of(k, fewer) * fewer < rounds_of(k, k->items) * k->items)
    k->items = fewer;
  while (k->items > LEAST_ITEMS && is_slow(k, k->items - 1))
    k->items--;
  while (digit_bytes(k) > k->work.shared_bytes && k->items > 1)
    k->items--;
  if (k->work.length < k->threads)
    k->threads = LEAST_TILE;
  if (k->work.length < tile_of(k))
    k->items = (uint32_t)divide_up(k->work.length, k->threads);
}

// One for each block that there is room for. Those of some tiles have copies of their counters.
static void choose_chunk(sort_kernels *k) {
  uint64_t blocks = (uint64_t)k->work.multiprocessors * k->blocks;
  uint64_t each = divide_up(divide_up(k->work.rows * k->work.length, blocks), k->threads);
  k->chunk = k->threads * (each < k->items ? k->items : each);
  k->copies = each >= 2 * k->items && k->digits <= 4 ? COUNT_COPIES : 1;
}

static uint64_t state_words(const sort_kernels *k) {
  return 2 * DIGITS * (uint64_t)tile_blocks(k) + (DIGITS * k->work.rows + 1) * k->digits;
}

static void choose_temporaries(sort_kernels *k) {
  uint64_t elements = k->work.rows * k->work.length, keys = elements * sort_key_bytes(k);
  uint64_t along = elements * k->along_bytes;
  k->bytes[SORT_ALONG] = k->along_order ? along : 0;
  if (k->joined) {
    k->bytes[SORT_SPARE_KEYS] = k->digits > 1 ? keys + along : 0;
    k->bytes[SORT_SPARE_ALONG] = k->digits > 2 ? keys + along : 0;
  } else {
    k->bytes[SORT_SPARE_KEYS] = k->digits > 1 ? keys : 0;
    k->bytes[SORT_SPARE_SORTED] = k->work.wants_keys ? 0 : keys;
    k->bytes[SORT_SPARE_ALONG] = k->digits > 1 ? along : 0;
  }
  k->bytes[SORT_STATE] = state_words(k) * k->count_bytes;
}

const char *sort_kernels_of(const sort_work *w, sort_kernels *out) {
  uint64_t elements, tiles;
  *out = (sort_kernels){.work = *w, .count_bytes = 4};
  if (__builtin_mul_overflow(w->rows, w->length, &elements))
    return "there are too many keys";
  if (elements >> 30)  // two bits of a state say what it is
    out->count_bytes = 8;
  uint32_t bits = w->type == SCALAR_BOOL ? 1 : 8 * sort_key_bytes(out);
  out->digits = ((w->bits && w->bits < bits ? w->bits : bits) + 7) / 8;
  choose_along(out);
  if (w->offsets)
    return ragged_kernels_of(out);
  choose_tile(out);
  tiles = divide_up(w->length, tile_of(out));
  if (tiles > MOST_BLOCKS / w->rows)
    return "there are too many tiles of keys";
  out->tiles = (uint32_t)tiles;
  choose_chunk(out);
  choose_temporaries(out);
  merge_kernels_of(out);
  return NULL;
}

// ---- text --------------------------------------------------------------------------------------

// Words, whose order is that of keys, and keys of words. All NaN come last, those with a sign too:
// by as many floats are turned round.
static void write_words(text *out, const sort_kernels *k) {
  scalar_kind kind = scalar_types[k->work.type].kind;
  unsigned long long top = 1ULL << (8 * sort_key_bytes(k) - 1),
                     infinity = scalar_types[k->work.type].infinity;
  text_printf(out, "#define SORT_WAY(w) ((SORT_KEY)%s(w))\n", k->work.descending ? "~" : "");
  if (kind == KIND_FLOAT)
    text_printf(out, "#define SORT_FLOATS\n#define SORT_TOP %lluU\n#define SORT_NAN %lluU\n", top,
                top - 1 - infinity);
  else
    text_printf(out, "#define SORT_TOP %lluU\n", kind == KIND_SIGNED ? top : 0);
}

static void write_digits(text *out, const sort_kernels *k) {
  text_printf(out, "typedef uint%u_t SORT_KEY;\ntypedef uint%u_t SORT_WORD;\n",
              8 * sort_key_bytes(k), 8 * word_bytes(k));
  text_printf(out, "typedef uint%u_t TILE_COUNT;\ntypedef int%u_t SORT_OFFSET;\n",
              8 * k->count_bytes, 8 * k->count_bytes);
  if (k->joined)
    text_string(out, "#define SORT_JOINED\n");
  text_printf(out, "#define SORT_DIGITS %u\n#define TILE_THREADS %u\n", k->digits, k->threads);
  text_printf(out, "#define TILE_ITEMS %u\n#define SORT_BLOCKS %u\n", k->items, k->blocks);
  text_printf(out, "#define SORT_COPIES %u\n", k->copies);
  write_words(out, k);
  c_source_add(out, "kernels/text/tile.h");
  c_source_add(out, "kernels/routines/sort/digit_text.h");
  c_source_add(out, "kernels/routines/sort/sort_text.h");
}

void sort_kernels_write(text *out, const sort_kernels *k) {
  c_source_add(out, "kernels/text/cuda_host.h");
  if (k->along_bytes)
    text_printf(out, "#define SORT_PAYLOAD uint%u_t\n", 8 * k->along_bytes);
  if (k->work.offsets)
    ragged_kernels_write(out, k);
  else
    write_digits(out, k);
  if (k->levels)
    merge_kernels_write(out, k);
  if (k->along_order)
    c_source_add(out, "kernels/routines/sort/gather_text.h");
}

// ---- launches ----------------------------------------------------------------------------------

static routine_launch count_launch(const sort_kernels *k) {
  return (routine_launch){.kernel = "count",
                          .blocks = k->work.rows * divide_up(k->work.length, k->chunk),
                          .threads = k->threads,
                          .shared_bytes = k->copies * k->digits * DIGITS * 4,
                          LAUNCH_ARRAYS(SORT_KEYS, SORT_STATE),
                          LAUNCH_NUMBERS(k->work.rows, k->work.length, k->chunk)};
}

// Where a pass reads and writes, so that the last one writes to the end.
static void add_ends(routine_launch *l, uint32_t left, uint32_t start, uint32_t end, uint32_t spare,
                     bool first) {
  launch_add_array(l, first ? start : left % 2 ? end : spare);
  launch_add_array(l, left % 2 ? spare : end);
}

// Of the device's own keys.
static uint32_t sorted_along(const sort_kernels *k) {
  return k->levels ? SORT_RUNS_ALONG : sort_along_to(k);
}

// Words that are joined go from keys and payloads over two temporaries to keys and payloads.
static void add_joined_ends(const sort_kernels *k, routine_launch *l, uint32_t digit) {
  static const uint32_t spare[] = {SORT_SPARE_KEYS, SORT_SPARE_ALONG};
  bool last = digit == k->digits - 1;
  uint32_t end = k->levels            ? (uint32_t)SORT_RUNS
                 : k->work.wants_keys ? (uint32_t)SORT_SORTED
                                      : (uint32_t)LAUNCH_NOTHING;
  launch_add_array(l, digit == 0 ? SORT_KEYS : spare[(digit - 1) % 2]);
  launch_add_array(l, last ? end : spare[digit % 2]);
  launch_add_array(l, digit == 0 ? sort_along_from(k) : LAUNCH_NOTHING);
  launch_add_array(l, last ? sorted_along(k) : LAUNCH_NOTHING);
}

static routine_launch digit_launch(const sort_kernels *k, uint32_t digit) {
  uint32_t left = k->digits - 1 - digit;
  uint32_t end = k->levels ? SORT_RUNS : k->work.wants_keys ? SORT_SORTED : SORT_SPARE_SORTED;
  routine_launch l = {.kernel = "digit",
                      .blocks = tile_blocks(k),
                      .threads = k->threads,
                      .shared_bytes = digit_bytes(k),
                      LAUNCH_NUMBERS(k->work.rows, k->work.length, digit)};
  if (k->joined)
    add_joined_ends(k, &l, digit);
  else
    add_ends(&l, left, SORT_KEYS, end, SORT_SPARE_KEYS, digit == 0);
  if (k->along_bytes && !k->joined)
    add_ends(&l, left, sort_along_from(k), sorted_along(k), SORT_SPARE_ALONG, digit == 0);
  launch_add_array(&l, SORT_STATE);
  return l;
}

// Of all shares, by number: places by their order, which all have made.
static uint64_t all_keys(const sort_kernels *k) {
  return k->work.rows * k->work.length << k->levels;
}

static launch_scope of_all(const sort_kernels *k) { return k->levels ? LAUNCH_SHARED : LAUNCH_OWN; }

// A thread for each word.
static routine_launch gather_launch(const sort_kernels *k, uint32_t payload) {
  static const char *const names[] = {"gather_1", "gather_2", "gather_4", "gather_8"};
  const sort_moved *m = &k->work.payloads[payload];
  uint32_t word = launch_word_bytes(m->bytes), words = m->bytes / word;
  uint32_t from = SORT_PAYLOADS + 2 * payload;
  return (routine_launch){
      .kernel = names[__builtin_ctz(word)],
      .blocks = divide_up(all_keys(k) * words, GATHER_THREADS),
      .threads = GATHER_THREADS,
      LAUNCH_ARRAYS(m->numbers ? LAUNCH_NOTHING : from, from + 1, sort_order(k)),
      LAUNCH_NUMBERS(k->work.rows, k->work.length << k->levels, words),
      .scope = of_all(k),
      .meets = k->levels > 0};
}

static routine_launch places_launch(const sort_kernels *k) {
  return (routine_launch){.kernel = "places",
                          .blocks = divide_up(all_keys(k), GATHER_THREADS),
                          .threads = GATHER_THREADS,
                          LAUNCH_ARRAYS(SORT_PLACES, sort_order(k)),
                          LAUNCH_NUMBERS(k->work.rows, k->work.length << k->levels),
                          .scope = of_all(k),
                          .meets = k->levels > 0};
}

static uint32_t gather_count(const sort_kernels *k) {
  return k->along_order ? k->work.payload_count : 0;
}

uint32_t sort_launch_count(const sort_kernels *k) {
  uint32_t sorting = k->work.offsets ? RAGGED_LAUNCHES : 1 + k->digits + MERGE_LAUNCHES * k->levels;
  return sorting + gather_count(k) + k->work.wants_places;
}

void sort_launches(const sort_kernels *k, routine_launch *out) {
  if (k->work.offsets) {
    ragged_launches(k, out);
    out += RAGGED_LAUNCHES;
  } else {
    *out++ = count_launch(k);
    for (uint32_t d = 0; d < k->digits; d++)
      *out++ = digit_launch(k, d);
    merge_launches(k, out);
    out += MERGE_LAUNCHES * k->levels;
  }
  for (uint32_t i = 0; i < gather_count(k); i++)
    *out++ = gather_launch(k, i);
  if (k->work.wants_places)
    *out = places_launch(k);
}
