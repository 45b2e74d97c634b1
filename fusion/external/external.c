// How stages are made steps: which of them together, by which tiles. See external.h.
#include "core/units.h"
#include "fusion/external/making.h"

// ---- stages that are planned together -----------------------------------------------------------

// None reads what some of them write, and others.
static size_t end_of_group(const making *m, size_t first) {
  const net *n = m->from;
  size_t end = first;
  bool good = true;
  while (good && end < n->stages.count && (end == first || !n->stages.items[end].loop_count)) {
    bool any;
    end++;
    for (net_id a = 0; a < n->arrays.count; a++)
      good = good && making_is_written_in(m, first, end, a, &any);
  }
  return end > first + 1 && !good ? end - 1 : end;
}

// ---- tiles --------------------------------------------------------------------------------------

static target *outer_target(arena *a, const target *t, uint64_t tile, uint64_t line) {
  const target_link *disk = &t->links[TARGET_DISK];
  target *outer = NEW(a, target);
  *outer = *t;
  outer->tile_bytes = tile;
  outer->line_bytes = (uint32_t)line;
  outer->adapts = 0;
  outer->keeps_order = true;  // so that the ops of a pass are a stage
  outer->memory_bytes_per_second = disk->bytes_per_second;
  outer->pass_seconds = disk->latency;
  return outer;
}

// The largest blocks of which a tile has as many as each has elements, for elements of the least
// size: then any permutation by index bits is one pass.
static uint64_t line_of(const net *n, const target *t, uint64_t tile) {
  uint64_t size = 16, line = t->disk_block;
  for (size_t i = 0; i < n->arrays.count; i++) {
    uint64_t own = scalar_types[n->arrays.items[i].type].size;
    size = own < size && n->arrays.items[i].count > 1 ? own : size;
  }
  while (line > size && line / size * line > tile)
    line /= 2;
  return line;
}

// The steps of the first stages from `first` on, by such a tile and such lines. Returns where the
// next begin.
static size_t add_group(making *m, size_t first, uint64_t tile, uint64_t line, const target *t) {
  size_t end = first + 1;
  m->target = outer_target(m->memory, t, tile, line);
  m->wide = false;
  m->wrong = NULL;
  if (m->from->stages.items[first].loop_count)
    making_add_loops(m, &m->from->stages.items[first]);
  else
    making_add_stages(m, first, end = end_of_group(m, first));
  return end;
}

enum { LEAST_TILE = 1 << 6, LEAST_LINE = 16, TILE_PART = 8, LEAST_TILE_PART = 128 };

static uint64_t tile_of(uint64_t memory, uint64_t part) {
  uint64_t tile = LEAST_TILE;
  while (tile < memory / part)
    tile *= 2;
  return tile;
}

// The same by the largest tiles that do: the smallest is no small part of the memory, so that
// shares are not many times as many as they would be by a little more. Where all lines of a pass
// are too much for a tile, by shorter ones. False: there are none.
static bool add_by_some_tile(making *m, const target *t, size_t *first) {
  uint64_t least = tile_of(m->bytes, LEAST_TILE_PART), need;
  mark before = making_mark(m);
  size_t end = *first;
  for (uint64_t tile = tile_of(m->bytes, TILE_PART); tile >= least; tile /= 2) {
    uint64_t line = 2 * line_of(m->from, t, tile);
    do {
      making_go_back(m, before);
      end = add_group(m, *first, tile, line /= 2, t);
      need = m->wrong ? 0 : making_most_bytes(m, before.steps);
    } while (!m->wrong && need > m->bytes && m->wide && line > LEAST_LINE);
    if (!m->wrong && need <= m->bytes) {
      *first = end;
      return true;
    }
  }
  return false;
}

static bool add_fitting_group(making *m, const target *t, size_t *first) {
  bool good = false;
  for (int copies = 0; copies < 2 && !good; copies++) {
    mark before = making_mark(m);
    m->copies = copies;
    good = add_by_some_tile(m, t, first);
    if (!good && !copies)
      making_go_back(m, before);
  }
  return good;
}

// ---- files of which a step replaces a part ------------------------------------------------------

// Whether some of the first `count` steps write to the file.
static bool is_written(const external *e, size_t count, net_id file) {
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    const external_step *s = &e->steps.items[i];
    for (size_t k = 0; k < s->moves.count; k++)
      any = any || (s->moves.items[k].writes && s->moves.items[k].file == file);
    for (uint32_t k = 0; s->routine && k < s->routine->pair_count; k++)
      any = any || s->routine->pairs[k].to == file;
  }
  return any;
}

// Whether the move is alone in the step with its file, and no two shares have an element of it, as
// far as is seen at once: it is written once, or the boxes of shares follow one another.
static bool has_own_parts(const external_step *s, const external_move *m) {
  const share_box *b = &m->box;
  for (size_t i = 0; i < s->moves.count; i++)
    if (&s->moves.items[i] != m && s->moves.items[i].file == m->file)
      return false;
  if (m->by_bits)
    return f2_rank(m->bases.a) == m->bases.a.columns;
  return m->shares == 1 || m->whole ||
         (b->digit_count == 1 && b->digits[0].extent == m->shares &&
          magnitude_of(b->digits[0].step) >= share_box_span(b));
}

// What was not there is not read.
static void find_fresh(const external *e) {
  for (size_t i = 0; i < e->steps.count; i++)
    for (size_t k = 0; k < e->steps.items[i].moves.count; k++) {
      external_move *w = &e->steps.items[i].moves.items[k];
      w->fresh = w->partial && !is_written(e, i, w->file) && has_own_parts(&e->steps.items[i], w);
    }
}

// ---- all steps ----------------------------------------------------------------------------------

// NULL: so much memory is too little, or *wrong says what else is.
static const external *make_as_is(arena *a, const net *n, const target *t, uint64_t memory,
                                  const char **wrong) {
  making m = {.memory = a, .bytes = memory, .out = NEW(a, external), .to = NEW(a, net)};
  bool good = true;
  making_begin_net(&m, n);
  m.out->net = m.to;
  *m.to = (net){.externs = n->externs};
  for (size_t i = 0; i < n->arrays.count; i++)
    vec_push(a, &m.out->arrays, n->arrays.items[i]);
  for (size_t i = 0; i < n->stages.count && good;)
    good = add_fitting_group(&m, t, &i);
  *wrong = m.wrong;
  if (good)
    find_fresh(m.out);
  return good ? m.out : NULL;
}

static const external *make(arena *a, const net *n, const net *instead, const target *t,
                            uint64_t memory, const char **wrong) {
  const char *why;
  const external *e = make_as_is(a, n, t, memory, wrong);
  return e || !instead ? e : make_as_is(a, instead, t, memory, &why);
}

// A power of two of memory that does, where half of it does not, by bisection; 0: there is none.
static uint64_t find_enough(arena *a, const net *n, const net *instead, const target *t,
                            uint64_t memory) {
  enum { MOST = 46 };
  const char *why;
  int little = f2_msb(memory), enough = MOST;
  if (little >= MOST || !make(a, n, instead, t, f2_unit(MOST), &why))
    return 0;
  while (enough - little > 1) {
    int bits = (little + enough) / 2;
    *(make(a, n, instead, t, f2_unit(bits), &why) ? &enough : &little) = bits;
  }
  return f2_unit(enough);
}

const external *external_make(arena *a, const net *n, const net *instead, const target *t,
                              uint64_t memory, const char **wrong) {
  enum { HALVES = 3 };
  char bytes[NUMBER_SPACE];
  const char *why;
  if (memory < TILE_PART * LEAST_TILE) {
    *wrong = arena_printf(a, "at least %d bytes of memory are needed", TILE_PART * LEAST_TILE);
    return NULL;
  }
  const external *e = make(a, n, instead, t, memory, wrong);
  // By less memory the smallest tile is smaller, which may be what fits.
  for (int i = 1; i <= HALVES && !e && memory >> i >= TILE_PART * LEAST_TILE; i++)
    e = make(a, n, instead, t, memory >> i, &why);
  if (e)
    return e;
  if (!*wrong)
    *wrong = making_needs_more;
  uint64_t enough = find_enough(a, n, instead, t, memory);
  if (enough)
    *wrong = arena_printf(a, "%s; %s would do", *wrong, show_bytes(bytes, enough));
  return NULL;
}
