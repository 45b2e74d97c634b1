// Shapes, texts and launches of partitions. See partition.h.
#include "kernels/routines/partition/partition.h"
#include "core/number.h"
#include "kernels/text/text.h"

enum { LEAST_THREADS = 128, MOST_BLOCKS = INT32_MAX };

// Of a block, by the widest word that moves; measured on an H200.
static const struct {
  uint32_t bytes, threads, items, blocks;
} shapes[] = {{4, 256, 16, 4}, {8, 512, 12, 2}};

static uint32_t tile_of(const partition_kernels *k) { return k->threads * k->items; }
static uint32_t keys_of(const partition_kernels *k) { return 1U << k->work.bits; }

static uint32_t widest_word(const partition_work *w) {
  uint32_t widest = 1;
  for (uint32_t i = 0; i < w->payload_count; i++) {
    uint32_t word = launch_word_bytes(w->payloads[i].bytes);
    widest = word > widest ? word : widest;
  }
  return widest;
}

// As PARTITION_HEAD, and what is staged behind it.
static uint32_t moved_bytes(const partition_kernels *k) {
  uint32_t head = (k->threads / 32 + 1) * keys_of(k) * 4 + 4 * keys_of(k) * k->count_bytes;
  return (head + 15) / 16 * 16 + tile_of(k) * widest_word(&k->work);
}

// Rows that are shorter than a tile have smaller tiles.
static void choose_tile(partition_kernels *k) {
  uint32_t i = widest_word(&k->work) > shapes[0].bytes;
  k->threads = shapes[i].threads;
  k->items = shapes[i].items;
  k->blocks = shapes[i].blocks;
  if (k->work.length < k->threads)
    k->threads = LEAST_THREADS;
  if (k->work.length < tile_of(k))
    k->items = (uint32_t)divide_up(k->work.length, k->threads);
}

bool partition_kernels_of(const partition_work *w, partition_kernels *out) {
  uint64_t elements;
  *out = (partition_kernels){.work = *w, .count_bytes = 4};
  if (w->bits > PARTITION_MOST_BITS || w->payload_count > PARTITION_MOST_PAYLOADS ||
      w->input_count > PARTITION_MOST_INPUTS ||
      __builtin_mul_overflow(w->rows, w->length, &elements))
    return false;
  if (elements >> 32)
    out->count_bytes = 8;
  choose_tile(out);
  uint64_t tiles = divide_up(w->length, tile_of(out));
  if (tiles > MOST_BLOCKS / w->rows)
    return false;
  out->tiles = (uint32_t)tiles;
  // As many groups as blocks are there at once.
  out->group = (uint32_t)divide_up(tiles * w->rows, (uint64_t)w->multiprocessors * out->blocks);
  out->group = out->group < out->tiles ? out->group : out->tiles;
  out->groups = (uint32_t)divide_up(tiles, out->group);
  out->state_bytes = w->rows * keys_of(out) * out->groups * out->count_bytes;
  return true;
}

// ---- text --------------------------------------------------------------------------------------

void partition_keys_write(text *out, uint32_t bytes, uint32_t bits) {
  c_source_add(out, "kernels/text/cuda_host.h");
  text_printf(out,
              "static inline uint32_t partition_key(uint%u_t k) { return (uint32_t)k & %uU; }\n",
              8 * bytes, (1U << bits) - 1);
}

static void write_inputs(text *out, const partition_work *w) {
  text_string(out, "#define PARTITION_INPUTS");
  for (uint32_t i = 0; i < w->input_count; i++)
    text_printf(out, "%s const uint%u_t *const in%u", i ? "," : "", 8 * w->input_bytes[i], i);
  text_string(out, "\n#define PARTITION_VALUES");
  for (uint32_t i = 0; i < w->input_count; i++)
    text_printf(out, " PERMC_VALUES(uint%u_t, value%u, TILE_ITEMS, TILE_THREADS)",
                8 * w->input_bytes[i], i);
  text_string(out, "\n#define PARTITION_LOAD(i, k)");
  for (uint32_t i = 0; i < w->input_count; i++)
    text_printf(out, " PERMC_AT(value%u, i) = PERMC_LOAD(uint%u_t, in%u + (k))%s;", i,
                8 * w->input_bytes[i], i, w->input_is_truth[i] ? " != 0" : "");
  text_string(out, "\n#define PARTITION_KEY(i) partition_key(");
  for (uint32_t i = 0; i < w->input_count; i++)
    text_printf(out, "%sPERMC_AT(value%u, i)", i ? ", " : "", i);
  text_string(out, ")\n");
}

// The value of payload p that stands at a thread's element i.
static void write_move(text *out, const partition_work *w, uint32_t p) {
  const partition_moved *m = &w->payloads[p];
  uint32_t word = launch_word_bytes(m->bytes), words = m->bytes / word;
  for (uint32_t i = 0; i < words; i++) {
    text_printf(out, "%s PARTITION_MOVE(uint%u_t, %u, %u, ", p + i > 0 ? " PERMC_BARRIER" : "",
                8 * word, words, i);
    if (m->numbers)
      text_printf(out, "(uint%u_t)((uint64_t)tile * TILE_ELEMENTS + TILE_PLACE + 32 * i)",
                  8 * word);
    else if (m->input != PARTITION_NO_INPUT && words == 1)
      text_printf(out, "PERMC_AT(value%u, i)", m->input);
    else
      text_printf(
          out,
          "TILE_IS_LIVE(i) ? PERMC_LOAD(uint%u_t, from%u + (start + TILE_PLACE + 32 * i) * %u + "
          "%u) : 0",
          8 * word, p, words, i);
    text_printf(out, ", to%u, %s)", p,
                p == w->payload_count - 1 && i == words - 1 ? "PARTITION_LOAD_NEXT" : "");
  }
}

static void write_payloads(text *out, const partition_work *w) {
  text_string(out, "#define PARTITION_PARAMETERS");
  for (uint32_t i = 0; i < w->payload_count; i++) {
    uint32_t bits = 8 * launch_word_bytes(w->payloads[i].bytes);
    text_printf(out, ", const uint%u_t *const from%u, uint%u_t *const to%u", bits, i, bits, i);
  }
  text_string(out, "\n#define PARTITION_MOVES");
  for (uint32_t i = 0; i < w->payload_count; i++)
    write_move(out, w, i);
  if (w->payload_count == 0)
    text_string(out, " PARTITION_LOAD_NEXT");
  text_printf(out, "\n%s", w->wants_places ? "#define PARTITION_PLACES\n" : "");
}

void partition_kernels_write(text *out, const partition_kernels *k) {
  text_string(out, k->work.key_text);
  text_printf(out, "typedef uint%u_t TILE_COUNT;\n", 8 * k->count_bytes);
  text_printf(out, "#define TILE_THREADS %u\n#define TILE_ITEMS %u\n", k->threads, k->items);
  text_printf(out, "#define PARTITION_BLOCKS %u\n#define PARTITION_BITS %u\n", k->blocks,
              k->work.bits);
  text_printf(out, "#define PARTITION_GROUP %u\n", k->group);
  write_inputs(out, &k->work);
  write_payloads(out, &k->work);
  c_source_add(out, "kernels/text/tile.h");
  c_source_add(out, "kernels/routines/partition/partition_text.h");
}

// ---- launches ----------------------------------------------------------------------------------

static void add_inputs(routine_launch *l, const partition_kernels *k) {
  for (uint32_t i = 0; i < k->work.input_count; i++)
    launch_add_array(l, PARTITION_FIRST_INPUT + i);
}

void partition_launches(const partition_kernels *k, routine_launch out[PARTITION_LAUNCHES]) {
  const partition_work *w = &k->work;
  out[0] = (routine_launch){.kernel = "count",
                            .blocks = w->rows * k->groups,
                            .threads = k->threads,
                            .shared_bytes = k->threads / 32 * keys_of(k) * 4,
                            LAUNCH_NUMBERS(w->rows, w->length)};
  add_inputs(&out[0], k);
  launch_add_array(&out[0], PARTITION_STATE);
  out[1] = (routine_launch){.kernel = "partition",
                            .blocks = w->rows * k->groups,
                            .threads = k->threads,
                            .shared_bytes = moved_bytes(k),
                            LAUNCH_NUMBERS(w->rows, w->length)};
  add_inputs(&out[1], k);
  for (uint32_t i = 0; i < 2 * w->payload_count; i++)
    launch_add_array(&out[1], w->payloads[i / 2].numbers && i % 2 == 0
                                  ? LAUNCH_NOTHING
                                  : PARTITION_FIRST_PAYLOAD + i);
  launch_add_array(&out[1], PARTITION_STATE);
  launch_add_array(&out[1], PARTITION_TOTALS);
  if (w->wants_places)
    launch_add_array(&out[1], PARTITION_PLACED);
}
