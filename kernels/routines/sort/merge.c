// Texts and launches of merges. See merge.h.
#include "kernels/routines/sort/merge.h"
#include "core/number.h"
#include "kernels/text/text.h"

// As kernels/routines/sort/merge_head.h divides it.
uint32_t sort_scratch(const sort_kernels *k, sort_shape s, bool numbers) {
  uint64_t wide = k->along_bytes > sort_key_bytes(k) ? k->along_bytes : sort_key_bytes(k);
  uint64_t room = sort_room(s) + 2;
  return (uint32_t)(divide_up(room * wide + (numbers ? 2 * room : 0), 16) * 16);
}

// ---- text --------------------------------------------------------------------------------------

// MERGE_ORDER makes a key an unsigned number with the order of the key: a flipped sign, all bits of
// negative floats flipped, all NaN equal, all bits flipped where they descend. RAGGED_LAST is a key
// that none comes behind.
void sort_order_write(text *out, const sort_kernels *k) {
  uint32_t bits = 8 * sort_key_bytes(k);
  unsigned long long top = 1ULL << (bits - 1), all = 2 * top - 1,
                     infinity = scalar_types[k->work.type].infinity;
  scalar_kind kind = scalar_types[k->work.type].kind;
  bool descending = k->work.descending;
  text_printf(out, "static inline uint%u_t MERGE_ORDER(uint%u_t k) {\n", bits, bits);
  if (kind == KIND_SIGNED)
    text_printf(out, "  k ^= %lluU;\n", top);
  if (kind == KIND_FLOAT)
    text_printf(out, "  k = (k & %lluU) > %lluU ? %lluU : k & %lluU ? ~k : k | %lluU;\n", top - 1,
                infinity, all, top, top);
  text_printf(out, "  return (uint%u_t)%sk;\n}\n", bits, descending ? "~" : "");
  unsigned long long least = kind == KIND_SIGNED ? top : kind == KIND_FLOAT ? top | infinity : 0;
  text_printf(out, "#define RAGGED_LAST ((uint%u_t)%lluU)\n", bits,
              descending            ? least
              : kind == KIND_SIGNED ? top - 1
                                    : all);
}

void sort_block_write(text *out, const char *const *files, sort_shape s, bool numbers) {
  text_printf(out, "#define MERGE_THREADS %u\n#define MERGE_ITEMS %u\n", s.threads, s.items);
  text_printf(out, "#define MERGE_BLOCKS %u\n#define MERGE_NUMBER_BYTES %u\n", s.blocks,
              numbers ? 2 : 0);
  for (; *files; files++)
    c_source_add(out, *files);
  text_string(out, "#undef MERGE_THREADS\n#undef MERGE_ITEMS\n#undef MERGE_BLOCKS\n");
  text_string(out, "#undef MERGE_NUMBER_BYTES\n#undef RAGGED_SHARED\n");
}

// ---- shares ------------------------------------------------------------------------------------

// By 4-byte words of a key and of what goes along.
static const sort_shape shapes[] = {{512, 15, 3}, {512, 15, 3}, {512, 15, 2}, {512, 11, 2}};
enum { SHAPES = sizeof shapes / sizeof *shapes, STRIDE = 32 };

// Tiles of a pair of runs at a level, the first 0.
static uint64_t pair_tiles(const sort_kernels *k, uint32_t level) {
  return divide_up(k->work.length << (level + 1), sort_room(k->part));
}

static uint64_t level_tiles(const sort_kernels *k, uint32_t level) {
  return (k->work.shares >> (level + 1)) * pair_tiles(k, level);
}

void merge_kernels_of(sort_kernels *k) {
  if (k->work.shares <= 1)
    return;
  uint64_t all = k->work.shares * k->work.length, keys = all * sort_key_bytes(k);
  uint32_t words =
      (uint32_t)divide_up(sort_key_bytes(k), 4) + (uint32_t)divide_up(k->along_bytes, 4);
  k->levels = (uint32_t)__builtin_ctz(k->work.shares);
  k->part = shapes[words > SHAPES ? SHAPES - 1 : words - 1];
  k->bytes[SORT_CUTS] = 8 * level_tiles(k, 0);  // the most of any level
  k->bytes[SORT_SPARE_SORTED] = k->bytes[SORT_ALONG] = 0;
  k->bytes[SORT_RUNS] = keys;
  k->bytes[SORT_RUNS_ALONG] = all * k->along_bytes;
  k->bytes[SORT_MERGED] = k->levels > 1 ? keys : 0;
  k->bytes[SORT_MERGED_ALONG] = k->levels > 1 ? all * k->along_bytes : 0;
  k->bytes[SORT_ORDER] = k->along_order ? all * k->along_bytes : 0;
}

void merge_kernels_write(text *out, const sort_kernels *k) {
  static const char *const files[] = {"kernels/routines/sort/merge_runs_text.h",
                                      "kernels/routines/sort/merge_text.h", NULL};
  text_printf(out, "#define MERGE_ALONG_BYTES %u\n#define MERGE_STRIDE %d\n", k->along_bytes,
              STRIDE);
  sort_order_write(out, k);
  c_source_add(out, "kernels/routines/sort/merge_head.h");
  sort_block_write(out, files, k->part, k->along_bytes > 0);
}

// Runs go to and fro between two arrays; the last level writes what is wanted.
static routine_launch merge_launch(const sort_kernels *k, uint32_t level) {
  static const uint32_t keys[] = {SORT_RUNS, SORT_MERGED};
  static const uint32_t along[] = {SORT_RUNS_ALONG, SORT_MERGED_ALONG};
  bool last = level == k->levels - 1;
  uint32_t sorted = k->work.wants_keys ? SORT_SORTED : LAUNCH_NOTHING;
  bool numbers = level == 0 && k->along_bytes && sort_along_from(k) == LAUNCH_NOTHING;
  routine_launch l = {
      .kernel = "merge",
      .blocks = level_tiles(k, level),
      .threads = k->part.threads,
      .shared_bytes = sort_scratch(k, k->part, k->along_bytes > 0),
      LAUNCH_NUMBERS(k->work.length << level, pair_tiles(k, level), numbers ? k->work.length : 0),
      .scope = LAUNCH_SHARED};
  launch_add_array(&l, keys[level % 2]);
  launch_add_array(&l, last ? sorted : keys[(level + 1) % 2]);
  if (k->along_bytes) {
    launch_add_array(&l, along[level % 2]);
    launch_add_array(&l, last ? sort_along_to(k) : along[(level + 1) % 2]);
  }
  launch_add_array(&l, SORT_CUTS);
  return l;
}

static routine_launch cuts_launch(const sort_kernels *k, uint32_t level, bool between) {
  uint64_t tiles = pair_tiles(k, level), all = level_tiles(k, level);
  uint64_t threads = between ? all : all / tiles * divide_up(tiles, STRIDE);
  return (routine_launch){.kernel = "cuts",
                          .blocks = divide_up(threads, 256),
                          .threads = 256,
                          LAUNCH_ARRAYS(level % 2 ? SORT_MERGED : SORT_RUNS, SORT_CUTS),
                          LAUNCH_NUMBERS(k->work.length << level, tiles, all, between),
                          .scope = LAUNCH_ALL,
                          .meets = !between};
}

void merge_launches(const sort_kernels *k, routine_launch *out) {
  for (uint32_t level = 0; level < k->levels; level++) {
    *out++ = cuts_launch(k, level, false);
    *out++ = cuts_launch(k, level, true);
    *out++ = merge_launch(k, level);
  }
}
