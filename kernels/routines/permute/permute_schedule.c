// What the kernels of a permutation read, made of the permutation. See permute.h.
#include "core/permutation/recognise.h"
#include "kernels/routines/permute/permute.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 16 };  // tiles, whose counts are neighbours

typedef struct making {
  const permute_shape *shape;
  const place_list *p;
  const permute_tables *tables;
  uint32_t
      *starts;      // tiled, by tile of a, then of b: where in a's tile its elements for b's begin,
  uint16_t *joins;  // and which of those that b's tile collects is the first of them
  const permutation_schedule *steps;  // scheduled
} making;

permute_tables permute_tables_of(const permute_shape *s) {
  permute_tables t = {0};
  if (s->strategy == PERMUTE_SCHEDULED) {
    for (int i = 0; i < SCHEDULE_STEPS; i++)
      t.bytes[PERMUTE_S + i] = t.bytes[PERMUTE_D + i] = s->n * sizeof(uint16_t);
  } else if (s->strategy == PERMUTE_TILED) {
    uint64_t cells = permute_tiles(s) * s->tile;
    t.bytes[PERMUTE_PUT] = t.bytes[PERMUTE_COLLECT] = cells * sizeof(uint16_t);
    t.bytes[PERMUTE_GROUPS] = cells / 32 * sizeof(uint64_t);
    t.bytes[PERMUTE_SEGMENTS] = permute_tiles(s) * permute_segments(s) * sizeof(uint32_t);
  } else if (s->strategy == PERMUTE_IN_ROWS) {
    t.bytes[PERMUTE_PUT] = permute_tiles(s) * s->tile * sizeof(uint16_t);
  } else {
    t.bytes[PERMUTE_P] = s->n * sizeof(uint32_t);
  }
  return t;
}

// ---- direct ------------------------------------------------------------------------------------

static bool write_images(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const making *m = with;
  uint32_t *to = m->tables->data[PERMUTE_P];
  bool scatters = m->shape->strategy == PERMUTE_D_DESIGNATED;
  (void)worker;
  for (uint64_t i = first; i < last; i++)
    *(scatters ? &to[i] : &to[place_at(m->p, i)]) = (uint32_t)(scatters ? place_at(m->p, i) : i);
  return true;
}

// ---- tiled -------------------------------------------------------------------------------------

// Where the number for element i of a tile stands, so that a thread loads 16 bytes of them: of put,
// whose lanes load 16 bytes of elements; of collect, whose lanes load an element each.
static inline uint64_t put_number(uint32_t bytes, uint64_t i) {
  uint64_t wide = 16 / bytes, step = wide > 8 ? wide : 8, in = i % (32 * step);
  return i - in + in / wide % 32 * step + in / (32 * wide) * wide + in % wide;
}
static inline uint64_t collect_number(uint64_t j) {
  return j / 256 * 256 + j % 32 * 8 + j / 32 % 8;
}

static inline uint64_t end_of(const permute_shape *s, uint64_t tile) {
  return (tile + 1) * s->tile < s->n ? (tile + 1) * s->tile : s->n;
}

// The elements of a tile of a, by tile of b: how many there are, summed up.
static bool write_starts(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const making *m = with;
  const permute_shape *s = m->shape;
  uint64_t tiles = permute_tiles(s);
  (void)worker;
  for (uint64_t a = first; a < last; a++) {
    uint32_t *start = m->starts + a * (tiles + 1);
    memset(start, 0, (tiles + 1) * sizeof *start);
    for (uint64_t i = a * s->tile; i < end_of(s, a); i++)
      start[place_at(m->p, i) / s->tile + 1]++;
    for (uint64_t b = 0; b < tiles; b++)
      start[b + 1] += start[b];
  }
  return true;
}

// The groups of a tile of b whose segments begin at the bits of `begins`, which are 0 then.
static void write_groups(const permute_shape *s, uint64_t *groups, uint32_t *begins) {
  uint64_t before = 0;
  for (uint32_t g = 0; g < s->tile / 32; g++) {
    groups[g] = before << 32 | begins[g];
    before += (uint64_t)__builtin_popcount(begins[g]);
    begins[g] = 0;
  }
}

// The segments of the tiles first ... last - 1 of b, at most TOGETHER of them; `begins`: room for
// their bits, all 0.
static void write_neighbours(const making *m, uint64_t first, uint64_t last, uint32_t *begins) {
  const permute_shape *s = m->shape;
  uint64_t tiles = permute_tiles(s), most = permute_segments(s), words = s->tile / 32;
  uint32_t *segments = m->tables->data[PERMUTE_SEGMENTS], at[TOGETHER] = {0}, count[TOGETHER] = {0};
  uint64_t *groups = m->tables->data[PERMUTE_GROUPS];
  for (uint64_t a = 0; a < tiles; a++)
    for (uint64_t b = first, k = 0; b < last; b++, k++) {
      const uint32_t *start = m->starts + a * (tiles + 1) + b;
      uint32_t here = start[1] - start[0];
      m->joins[a * tiles + b] = (uint16_t)at[k];
      if (here == 0)
        continue;
      begins[k * words + at[k] / 32] |= UINT32_C(1) << at[k] % 32;
      segments[b * most + count[k]++] = (uint32_t)(a * s->tile) + start[0] - at[k];
      at[k] += here;
    }
  for (uint64_t b = first; b < last; b++)
    write_groups(s, groups + b * words, begins + (b - first) * words);
}

static bool write_segments(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const making *m = with;
  FREED uint32_t *begins = calloc((size_t)TOGETHER * (m->shape->tile / 32), sizeof *begins);
  (void)worker;
  for (uint64_t b = first; b < last && begins; b += TOGETHER)
    write_neighbours(m, b, last - b < TOGETHER ? last : b + TOGETHER, begins);
  return begins != NULL;
}

// Where the elements of tiles of a are put, and where in b's tiles they are collected to.
static bool write_places(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const making *m = with;
  const permute_shape *s = m->shape;
  uint64_t tiles = permute_tiles(s);
  uint16_t *put = m->tables->data[PERMUTE_PUT], *collect = m->tables->data[PERMUTE_COLLECT];
  FREED uint32_t *taken = malloc((tiles + 1) * sizeof *taken);
  (void)worker;
  for (uint64_t a = first; a < last && taken; a++) {
    const uint32_t *start = m->starts + a * (tiles + 1);
    memset(taken, 0, tiles * sizeof *taken);
    for (uint64_t i = a * s->tile; i < end_of(s, a); i++) {
      uint64_t to = place_at(m->p, i), b = to / s->tile, base = b * s->tile;
      uint32_t number = taken[b]++, j = m->joins[a * tiles + b] + number;
      put[a * s->tile + put_number(s->bytes, i - a * s->tile)] =
          (uint16_t)permute_place(s->bytes, start[b] + number);
      collect[base + collect_number(j)] = (uint16_t)permute_place(s->bytes, (uint32_t)(to - base));
    }
  }
  return taken != NULL;
}

static bool make_tiled(making *m, const schedule_means *means) {
  const permute_shape *s = m->shape;
  uint64_t tiles = permute_tiles(s);
  coloring_pool *run = means->pool ? means->pool : coloring_alone;
  m->starts = malloc(tiles * (tiles + 1) * sizeof *m->starts);
  m->joins = malloc(tiles * tiles * sizeof *m->joins);
  bool good = m->starts && m->joins;
  good = good && run(means->threads, tiles, 1, write_starts, m, means->interrupted) &&
         run(means->threads, tiles, TOGETHER, write_segments, m, means->interrupted) &&
         run(means->threads, tiles, 1, write_places, m, means->interrupted);
  free(m->starts);
  free(m->joins);
  return good;
}

// ---- in rows -----------------------------------------------------------------------------------

// Where in its tile each element goes.
static bool write_in_rows(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const making *m = with;
  const permute_shape *s = m->shape;
  uint16_t *put = m->tables->data[PERMUTE_PUT];
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    uint64_t base = i / s->tile * s->tile;
    put[base + put_number(s->bytes, i - base)] =
        (uint16_t)permute_place(s->bytes, (uint32_t)(place_at(m->p, i) - base));
  }
  return true;
}

// ---- scheduled ---------------------------------------------------------------------------------

typedef struct ordering {
  const making *m;
  uint32_t step, length;
} ordering;

// The rows of a step, without bank conflicts.
static bool order_rows(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const ordering *o = with;
  uint32_t length = o->length, lanes = o->m->shape->bytes < 8 ? 32 : 128 / o->m->shape->bytes;
  FREED uint32_t *scratch = malloc(row_copies_scratch(length, lanes) * sizeof *scratch);
  (void)worker;
  for (uint64_t row = first; row < last && scratch; row++)
    row_copies_make(o->m->steps->steps[o->step] + row * length, length, lanes,
                    (uint16_t *)o->m->tables->data[PERMUTE_S + o->step] + row * length,
                    (uint16_t *)o->m->tables->data[PERMUTE_D + o->step] + row * length, scratch);
  return scratch != NULL;
}

static bool make_scheduled(making *m, const schedule_means *means) {
  permutation_schedule steps = schedule_shape(m->shape->n);
  schedule_means own = *means;
  coloring_pool *run = means->pool ? means->pool : coloring_alone;
  uint64_t cells = schedule_cells(&steps);
  steps.steps[0] = malloc(SCHEDULE_STEPS * cells * sizeof **steps.steps);
  own.scratch = malloc(schedule_scratch(&steps, means->threads) * sizeof *own.scratch);
  bool good = steps.steps[0] && own.scratch;
  for (int i = 1; i < SCHEDULE_STEPS && good; i++)
    steps.steps[i] = steps.steps[i - 1] + cells;
  m->steps = &steps;
  good = good && schedule_make(&steps, m->p, &own);
  for (uint32_t i = 0; i < SCHEDULE_STEPS && good; i++) {
    ordering o = {m, i, i == 1 ? steps.rows : steps.width};
    good = run(means->threads, cells / o.length, 8, order_rows, &o, means->interrupted);
  }
  free(steps.steps[0]);
  free(own.scratch);
  return good;
}

// ---- all ---------------------------------------------------------------------------------------

bool permute_tables_make(const permute_shape *s, const place_list *p, const schedule_means *means,
                         permute_tables *out) {
  making m = {.shape = s, .p = p, .tables = out};
  coloring_pool *run = means->pool ? means->pool : coloring_alone;
  if (s->n == 0)
    return true;
  if (s->strategy == PERMUTE_TILED)
    return make_tiled(&m, means);
  if (s->strategy == PERMUTE_SCHEDULED)
    return make_scheduled(&m, means);
  return run(means->threads, s->n, 1 << 16,
             s->strategy == PERMUTE_IN_ROWS ? write_in_rows : write_images, &m, means->interrupted);
}

// ---- spread ------------------------------------------------------------------------------------

// The sectors that the accesses first ... last - 1 touch; as many bits of `seen` as there are
// sectors, all 0 before and after.
static uint64_t count_sectors(const uint32_t *places, uint64_t first, uint64_t last, uint32_t bytes,
                              uint32_t *seen) {
  uint64_t sectors = 0;
  for (uint64_t i = first; i < last; i++) {
    uint64_t sector = (uint64_t)places[i] * bytes / PERMUTE_SECTOR;
    sectors += (seen[sector / 32] >> sector % 32 & 1) == 0;
    seen[sector / 32] |= UINT32_C(1) << sector % 32;
  }
  for (uint64_t i = first; i < last; i++)
    seen[(uint64_t)places[i] * bytes / PERMUTE_SECTOR / 32] = 0;
  return sectors;
}

// Over a few windows, and the warps of each.
static permute_casual spread_in(const uint32_t *places, uint64_t n, uint32_t bytes,
                                uint32_t *seen) {
  enum { WINDOWS = 4 };
  uint64_t of_windows = 0, of_warps = 0, looked = 0;
  for (uint64_t w = 0; w < WINDOWS; w++) {
    uint64_t first = w * (n / WINDOWS), end = first + PERMUTE_WINDOW;
    uint64_t last = end < n ? end : n;
    of_windows += count_sectors(places, first, last, bytes, seen);
    for (uint64_t i = first; i < last; i += PERMUTE_WARP)
      of_warps +=
          count_sectors(places, i, last - i < PERMUTE_WARP ? last : i + PERMUTE_WARP, bytes, seen);
    looked += last - first;
  }
  if (!looked)
    return (permute_casual){0, 0};
  return (permute_casual){(double)of_warps / (double)looked, (double)of_windows / (double)looked};
}

bool permute_spread_of(uint64_t n, uint32_t bytes, const place_list *p, const schedule_means *means,
                       permute_spread *out) {
  static const permute_strategy direct[] = {PERMUTE_D_DESIGNATED, PERMUTE_S_DESIGNATED};
  permute_tables t = {.data = {malloc((n + 1) * sizeof(uint32_t))}};
  FREED uint32_t *seen = calloc(n * bytes / PERMUTE_SECTOR / 32 + 1, sizeof *seen);
  movement m = recognise_movement(p);
  bool good = t.data[PERMUTE_P] && seen;
  out->rows = m.kind == MOVES_IN_ROWS ? m.width : 0;
  for (int i = 0; i < 2 && good; i++) {
    permute_shape s;
    good =
        !permute_shape_of(direct[i], n, bytes, NULL, &s) && permute_tables_make(&s, p, means, &t);
    if (good)
      *(i ? &out->reads : &out->writes) = spread_in(t.data[PERMUTE_P], n, bytes, seen);
  }
  free(t.data[PERMUTE_P]);
  return good;
}
