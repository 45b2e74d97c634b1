// Shapes and launches of transposes. See transpose.h.
#include "kernels/routines/transpose/transpose.h"
#include "core/f2.h"
#include "core/number.h"

// As measured on an H200. The result is written in sectors of LINE_BYTES: these are what memory
// moves.
enum { TILE_BYTES = 16384, LINE_BYTES = 32, LOADS_AT_ONCE = 16, WARP = 32, BANK_BYTES = 4 };

// Blocks of so many threads, so many on a multiprocessor: the second where a thread of the first
// had more loads than are under way at once.
static const struct { uint32_t threads, blocks; } shapes[] = {{256, 8}, {384, 4}};

// ---- the tile ----------------------------------------------------------------------------------

// Runs are as long before as after, or half as long, as far as that fits.
static void choose_tile(transpose_kernel *k, uint64_t most) {
  uint64_t tile[NET_DIMENSIONS];
  for (uint32_t d = 0; d < k->count; d++)
    k->tile[d] = 1;
  for (uint32_t doubled = 1; f2_unit((int)doubled / 2) <= most; doubled++) {
    for (uint32_t d = 0; d < k->count; d++)
      tile[d] = 1;
    dimensions_widen(k->dimensions, k->count, k->reads, f2_unit((int)doubled / 2), tile);
    dimensions_widen(k->dimensions, k->count, k->writes, f2_unit((int)(doubled + 1) / 2), tile);
    if (product_of(tile, k->count) > most)
      return;
    for (uint32_t d = 0; d < k->count; d++)
      k->tile[d] = tile[d];
  }
}

// Runs of the result are whole lines: the last dimension in them is cut by elements, not by its
// indices.
static void cut_runs(transpose_kernel *k) {
  const net_dimension *d = k->dimensions;
  k->inner = 1;
  for (k->in_run = 1; k->in_run < k->count; k->in_run++) {
    uint32_t own = k->writes[k->in_run - 1];
    if (k->tile[own] < d[own].extent)
      break;
    k->inner *= d[own].extent;
  }
  k->cut = k->writes[k->in_run - 1];
  uint64_t row = k->inner * d[k->cut].extent;
  k->run = divide_up(k->tile[k->cut] * k->inner, k->line) * k->line;
  if (k->run > row)
    k->run = divide_up(row, k->packed) * k->packed;
  bool aligned = true;  // all rows begin where lines do
  for (uint32_t i = k->in_run; i < k->count; i++)
    aligned = aligned && d[k->writes[i]].to % k->line == 0;
  if (aligned || row == k->run)
    k->line = k->packed;
}

// Of the dimension that is cut it has what the runs of all rows together need.
static void choose_box(transpose_kernel *k) {
  k->tiles = 1;
  for (uint32_t d = 0; d < k->count; d++) {
    uint64_t extent = k->dimensions[d].extent, row = extent * k->inner, held = k->tile[d];
    if (d == k->cut)
      held = k->inner == 1 ? k->run + k->line - 1 : (k->run + k->line - 2) / k->inner + 2;
    k->box[d] = held < extent ? held : extent;
    k->numbers[d] =
        d == k->cut ? divide_up(row + k->line - k->packed, k->run) : divide_up(extent, k->tile[d]);
    k->tiles *= k->numbers[d];
  }
}

// ---- scratch -----------------------------------------------------------------------------------

// Where element e is, of those that come in this order.
static uint64_t place_of(const transpose_kernel *k, const uint32_t *order, uint64_t e) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < k->count; i++) {
    at += e % k->box[order[i]] * k->pitch[order[i]];
    e /= k->box[order[i]];
  }
  return at;
}

// Turns at the banks of the first warps; `step`: of neighbouring threads.
static uint32_t count_turns(const transpose_kernel *k, const uint32_t *order, uint64_t step) {
  enum { WARPS = 8 };
  uint32_t sum = 0, lanes = k->bytes > BANK_BYTES ? WARP * BANK_BYTES / k->bytes : WARP;
  uint64_t bytes = k->bytes, all = product_of(k->box, k->count);
  for (uint64_t w = 0; w < WARPS; w++) {
    uint64_t words[WARP];
    uint32_t count[WARP] = {0}, most = 0, listed = 0;
    for (uint64_t l = 0; l < lanes; l++) {
      uint64_t word = place_of(k, order, (w * lanes + l) * step % all) * bytes / BANK_BYTES;
      bool known = false;
      for (uint32_t i = 0; i < listed; i++)
        known |= words[i] == word;
      if (known)
        continue;
      words[listed++] = word;
      uint32_t bank = (uint32_t)(word % WARP);
      count[bank] += 1;
      most = count[bank] > most ? count[bank] : most;
    }
    sum += most;
  }
  return sum;
}

// In the order of the array before; rows are padded where that has fewer conflicts.
static void choose_pitches(transpose_kernel *k) {
  enum { PADS = 33 };
  uint32_t least = UINT32_MAX;
  uint64_t best[NET_DIMENSIONS] = {0};
  for (uint32_t level = 1; level < k->count || level == 1; level++)
    for (uint64_t pad = 0; pad < PADS; pad++) {
      uint64_t pitch = 1;
      for (uint32_t i = 0; i < k->count; i++) {
        k->pitch[k->reads[i]] = pitch;
        pitch = pitch * k->box[k->reads[i]] + (i + 1 == level ? pad : 0);
      }
      uint32_t turns =
          count_turns(k, k->reads, 1) + count_turns(k, k->writes, k->packed) * k->packed;
      if (turns < least) {
        least = turns;
        for (uint32_t d = 0; d < k->count; d++)
          best[d] = k->pitch[d];
      }
    }
  k->scratch = 1;
  for (uint32_t d = 0; d < k->count; d++) {
    k->pitch[d] = best[d];
    k->scratch += (k->box[d] - 1) * best[d];
  }
}

// ---- threads -----------------------------------------------------------------------------------

// Boxes of threads, as large as there are threads, the first level first. `unit`: the box of the
// first one is a multiple of it, where there are several.
static void spread_threads(transpose_threads *s, uint32_t threads, uint64_t unit) {
  uint64_t left = threads;
  s->turns = s->at_work = 1;
  for (uint32_t i = 0; i < s->count; i++) {
    transpose_level *l = &s->levels[i];
    l->width = l->extent < left ? l->extent : left;
    if (i == 0 && l->width < l->extent && unit <= l->width)
      l->width -= l->width % unit;
    left /= l->width;
    l->turns = divide_up(l->extent, l->width);
    s->turns *= l->turns;
    s->at_work *= l->width;
  }
}

// Whether all boxes have all of the dimension: a box of the cut one may be as long as that, and
// begin later.
static bool has_all(const transpose_kernel *k, uint32_t d) {
  return k->box[d] == k->dimensions[d].extent && k->numbers[d] == 1;
}

// Dimensions whose elements go on where those of the one before end, both in memory and in scratch,
// are one level with it.
static void find_read_levels(transpose_kernel *k) {
  transpose_threads *s = &k->reading;
  for (uint32_t i = 0; i < k->count; i++) {
    uint32_t d = k->reads[i];
    const net_dimension *own = &k->dimensions[d];
    transpose_level *last = s->count ? &s->levels[s->count - 1] : NULL;
    if (last && last->all && own->from == last->array * last->extent &&
        k->pitch[d] == last->scratch * last->extent) {
      last->inner = last->extent;
      last->extent *= k->box[d];
    } else {
      last = &s->levels[s->count++];
      *last = (transpose_level){
          .extent = k->box[d], .array = own->from, .scratch = k->pitch[d], .inner = 1};
    }
    last->dimension = d;
    last->all = has_all(k, d);
  }
}

static void find_write_levels(transpose_kernel *k) {
  transpose_threads *s = &k->writing;
  s->levels[s->count++] = (transpose_level){.extent = k->run / k->packed, .inner = 1, .all = true};
  for (uint32_t i = k->in_run; i < k->count; i++) {
    uint32_t d = k->writes[i];
    s->levels[s->count++] = (transpose_level){.extent = k->box[d],
                                              .array = k->dimensions[d].to,
                                              .scratch = k->pitch[d],
                                              .inner = 1,
                                              .dimension = d,
                                              .all = has_all(k, d)};
  }
}

static void choose_threads(transpose_kernel *k) {
  uint64_t unit = k->inner / greatest_common_divisor(k->inner, k->packed);
  for (int i = 0; i < 2; i++) {
    if (i && (k->reading.turns <= LOADS_AT_ONCE || k->packed > 1))
      break;
    k->threads = shapes[i].threads;
    k->blocks = shapes[i].blocks;
    spread_threads(&k->reading, k->threads, 1);
    spread_threads(&k->writing, k->threads, unit);
  }
  k->at_once = k->reading.turns < LOADS_AT_ONCE ? (uint32_t)k->reading.turns : LOADS_AT_ONCE;
}

// Elements that stay together are one element, as wide as can be.
static void widen_elements(transpose_kernel *k, const net_dimension *dimensions, uint32_t count) {
  enum { WIDEST = 16 };
  uint64_t together = k->bytes, wide = k->bytes;
  for (uint32_t d = 0; d < count; d++)
    if (dimensions[d].from == 1 && dimensions[d].to == 1)
      together *= dimensions[d].extent;
  while (wide < WIDEST && together % (2 * wide) == 0)
    wide *= 2;
  for (uint32_t d = 0; d < count; d++) {
    net_dimension own = dimensions[d];
    if (own.from == 1 && own.to == 1)
      own.extent = together / wide;
    else
      own = (net_dimension){own.extent, own.from * k->bytes / wide, own.to * k->bytes / wide};
    if (own.extent > 1)
      k->dimensions[k->count++] = own;
  }
  if (!k->count)
    k->dimensions[k->count++] = (net_dimension){1, 1, 1};
  k->bytes = (uint32_t)wide;
}

void transpose_kernel_of(uint32_t bytes, uint32_t count, const net_dimension *dimensions,
                         transpose_kernel *out) {
  transpose_kernel *k = out;
  *k = (transpose_kernel){.bytes = bytes};
  widen_elements(k, dimensions, count);
  k->packed = k->bytes < BANK_BYTES ? BANK_BYTES / k->bytes : 1;
  k->line = LINE_BYTES / k->bytes;
  dimensions_order(k->dimensions, k->count, false, k->reads);
  dimensions_order(k->dimensions, k->count, true, k->writes);
  choose_tile(k, TILE_BYTES / k->bytes);
  cut_runs(k);
  choose_box(k);
  choose_pitches(k);
  find_read_levels(k);
  find_write_levels(k);
  choose_threads(k);
}

routine_launch transpose_launch(const transpose_kernel *k) {
  return (routine_launch){.kernel = "transpose",
                          .blocks = k->tiles,
                          .threads = k->threads,
                          .shared_bytes = (uint32_t)(k->scratch * k->bytes),
                          LAUNCH_ARRAYS(TRANSPOSE_FROM, TRANSPOSE_TO)};
}
