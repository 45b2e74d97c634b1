#include "kernels/emit/access.h"
#include "kernels/emit/swizzle.h"
#include "kernels/text/function.h"

// ---- neighbours ------------------------------------------------------------------------------

// A vector of W that turns over one row of weight 2^i and nothing else.
static bool neighbour(const c_map *m, uint32_t i, uint32_t *row, uint64_t *x) {
  for (uint32_t r = 0; r < m->rows; r++)
    if (m->weight[r] == UINT64_C(1) << i &&
        f2_coordinates((int)m->vectors, m->vector, f2_unit((int)r), x)) {
      *row = r;
      return true;
    }
  return false;
}

uint32_t c_wide_vectors(const c_map *m, uint32_t bytes, uint32_t row[C_CHUNK],
                        uint64_t x[C_CHUNK]) {
  uint32_t count = 0;
  while (bytes << count < 16 && neighbour(m, count, &row[count], &x[count]))
    count++;
  return count;
}

// x without what it has in the rows of the chunk, or of the wide access.
static uint64_t reduced(const c_access *a, const uint64_t *chunk, uint64_t x, uint64_t bits) {
  for (uint32_t i = 0; i < a->chunk + a->wide; i++)
    if (f2_bit(bits, (int)a->chunk_row[i]))
      x ^= chunk[i];
  return x;
}

static c_layout home_layout(const c_space *s, uint32_t parts) {
  c_layout y = {.registers = s->r + parts - 1, .lanes = s->l};
  for (uint32_t i = 0; i < y.registers; i++)
    y.vector[i] = f2_unit((int)(i < s->r ? i : s->r + s->l));
  for (uint32_t i = 0; i < s->l; i++)
    y.vector[y.registers + i] = f2_unit((int)(s->r + i));
  return y;
}

// The lanes begin with the chunk's vectors and go on with the phase's own lanes; what else lies in
// a line comes first among the registers.
static void set_layout(c_access *a, const uint64_t *line, uint32_t line_bits) {
  c_layout *y = &a->memory;
  *y = a->home;
  f2_space lanes = f2_space_zero((int)a->map.vectors);
  uint64_t *lane = y->vector + y->registers;
  uint32_t count = 0, next = 0;
  for (; count < a->chunk; count++)
    f2_space_insert(&lanes, lane[count] = line[count]);
  for (uint32_t i = 0; count < y->lanes; i++)
    if (f2_space_insert(&lanes, a->home.vector[a->home.registers + i]))
      lane[count++] = a->home.vector[a->home.registers + i];
  f2_space all = lanes;
  for (uint32_t i = a->chunk; i < line_bits && next < y->registers; i++)
    if (f2_space_insert(&all, line[i]))
      y->vector[next++] = line[i];
  for (uint32_t i = 0; next < y->registers; i++)
    if (f2_space_insert(&all, f2_unit((int)i)))
      y->vector[next++] = f2_unit((int)i);
  for (uint32_t i = a->wide; i < y->registers + y->lanes; i++)
    if (i < y->registers || i >= y->registers + a->chunk)
      y->vector[i] =
          reduced(a, line, y->vector[i], c_map_bits(&a->map, y->vector[i]) ^ a->map.constant);
  y->origin = reduced(a, line, 0, a->map.constant);
}

// How many of the lowest address bits registers alone decide, all else being a multiple of theirs.
static uint32_t wide_bits(const c_map *m, const c_access *a, uint32_t line_bits, uint32_t widest) {
  uint64_t others = m->offset, own = 0;
  uint32_t wide = 0;
  while (wide < line_bits && wide < widest && a->bytes << wide < 16)
    own |= f2_unit((int)a->chunk_row[wide++]);
  for (uint32_t r = 0; r < m->rows; r++)
    others |= f2_bit(own, (int)r) ? 0 : m->weight[r];
  for (uint32_t i = 0; i < m->loops; i++)
    others |= (uint64_t)m->strides[i];
  while (wide > 0 && others & f2_mask((int)wide))
    wide = (uint32_t)f2_lsb(others);
  return wide;
}

c_access c_access_of(const c_map *m, const c_space *s, uint32_t bytes, uint32_t parts,
                     uint32_t longest, uint32_t widest) {
  c_access a = {.map = *m, .bytes = bytes, .home = home_layout(s, parts)};
  uint64_t line[C_CHUNK], turning = c_map_rows_of_blocks(m) | c_map_rows_of_threads(m);
  uint32_t line_bits = 0;
  while (line_bits < C_CHUNK && neighbour(m, line_bits, &a.chunk_row[line_bits], &line[line_bits]))
    line_bits++;
  a.whole_lines = bytes << line_bits >= 64;
  a.chunk = line_bits < s->l ? line_bits : s->l;
  if (a.chunk > longest)
    a.chunk = longest;
  a.wide = s->l == 0 ? wide_bits(m, &a, line_bits, widest) : 0;
  for (uint32_t i = 0; i < a.chunk + a.wide; i++)
    a.turned |= f2_bit(turning, (int)a.chunk_row[i]);
  set_layout(&a, line, line_bits);
  return a;
}

// All that is added to an address of a line is a multiple of 64 bytes.
bool c_access_streams(const c_access *a) {
  uint64_t others = f2_mask((int)a->map.rows), all = a->map.offset;
  uint32_t in_line = 0;
  while (a->bytes << in_line < 64)
    others &= ~f2_unit((int)a->chunk_row[in_line++]);
  for (; others != 0; others &= others - 1)
    all |= a->map.weight[f2_lsb(others)];
  for (uint32_t i = 0; i < a->map.loops; i++)
    all |= (uint64_t)a->map.strides[i];
  return a->whole_lines && a->chunk == a->home.lanes && a->bytes << a->chunk >= 16 &&
         all % (64 / a->bytes) == 0;
}

// ---- what loads and stores share -------------------------------------------------------------

typedef struct transfer {
  c_writer *w;
  const c_access *access;
  const c_place *place;
  c_bound bound;
  const char *vector, *pointer;  // the vector's type; the address that is the same in all registers
  const char *turn;              // the variable d, or NULL
  uint32_t lanes, parts;
  uint64_t limit;  // in parts
} transfer;

static transfer begin(c_writer *w, const c_access *a, const c_place *place, uint32_t parts,
                      bool loads) {
  transfer t = {w, a, place, {0}, NULL, NULL, NULL, 1U << a->home.lanes, parts, UINT64_MAX};
  uint64_t chunk_rows = 0;
  for (uint32_t i = 0; i < a->chunk + a->wide; i++)
    chunk_rows |= f2_unit((int)a->chunk_row[i]);
  t.bound = c_bind(w, &a->map, chunk_rows);
  t.turn = a->turned ? c_bind_bits(w, &a->map, a->chunk + a->wide, a->chunk_row) : NULL;
  t.vector = c_vector(w, a->bytes, t.lanes);
  t.pointer = c_format(w, "p%u", w->next++);
  const char *constant = loads ? "const " : "";
  bool shifted = strcmp(t.bound.sum, "0") != 0;
  const char *element = a->map.bytes ? "char" : c_vector_in_memory(w, a->bytes, 1);
  if (a->map.swizzle) {
    c_line(w, "const uint32_t %s = (uint32_t)(%s);", t.pointer, t.bound.sum);
    return t;
  }
  c_line(w, "%s%s *const %s = (%s%s *)%s%s%s;", constant, element, t.pointer, constant, element,
         place->array, shifted ? " + " : "", shifted ? t.bound.sum : "");
  if (place->limit != UINT64_MAX)
    t.limit = (place->limit < UINT64_MAX / 8 ? place->limit : UINT64_MAX / 8) * parts;
  return t;
}

static const char *through_layout(const transfer *t, const char *rest) {
  const char *element = c_vector_in_memory(t->w, t->access->bytes, 1);
  const char *at = c_format(t->w, "%s((uint32_t)(%s + %s))",
                            c_swizzle_function(t->w, t->access->map.swizzle), t->pointer, rest);
  return t->access->map.bytes ? c_format(t->w, "(%s *)(%s + %s)", element, t->place->array, at)
                              : c_format(t->w, "(%s *)%s + %s", element, t->place->array, at);
}

// "p3 + 16": the address of the element at coordinates x.
static const char *address_of(const transfer *t, uint64_t x) {
  const char *rest = c_bound_rest(t->w, &t->bound, x);
  if (t->access->map.swizzle)
    return through_layout(t, rest);
  if (t->access->map.bytes)
    return c_format(t->w, "(%s *)(%s + %s)", c_vector_in_memory(t->w, t->access->bytes, 1),
                    t->pointer, rest);
  return c_format(t->w, "%s + %s", t->pointer, rest);
}

// Whether it is below the limit: a condition.
static const char *within(const transfer *t, uint64_t x) {
  return c_format(t->w, "(uint64_t)(%s + %s) < %s", t->bound.sum, c_bound_rest(t->w, &t->bound, x),
                  c_number(t->w, t->limit));
}

static uint64_t fill_bits(const transfer *t, uint64_t x) {
  uint64_t bits = 0;
  uint32_t part = t->parts == 2 && f2_bit(x, (int)t->access->map.vectors - 1);
  memcpy(&bits, t->place->fill.bytes + part * t->access->bytes, t->access->bytes);
  return bits;
}

// Element by element there is no chunk, and so no turning.
static bool by_elements(const c_place *place, const c_access *a) {
  return place->limit != UINT64_MAX && (a->chunk < a->home.lanes || a->home.lanes == 0);
}

// ---- what is alive ---------------------------------------------------------------------------
// ---- stores ----------------------------------------------------------------------------------

// The forms of which all must be 0 where something is loaded or stored.
typedef struct liveness {
  c_map map;
  const char *bits;  // the variable with what blocks and threads add, or NULL
  uint64_t dynamic;  // the rows in it
} liveness;

static liveness bind_live(c_writer *w, const c_place *place, const c_space *space) {
  liveness v = {.map = c_map_of_forms(place->live_count, place->live, space)};
  uint32_t rows[C_ROWS];
  for (uint32_t i = 0; i < place->live_count; i++)
    rows[i] = i;
  v.bits = c_bind_bits(w, &v.map, place->live_count, rows);
  v.dynamic = c_map_rows_of_blocks(&v.map) | c_map_rows_of_threads(&v.map);
  return v;
}

// "" always, NULL never, else a condition.
static const char *live_at(c_writer *w, const liveness *v, uint64_t x) {
  uint64_t bits = c_map_bits(&v->map, x);
  if (bits & ~v->dynamic)
    return NULL;
  if (v->dynamic == 0)
    return "";
  return bits ? c_format(w, "(((%s ^ %s) & %s) == 0)", v->bits, c_number(w, bits),
                         c_number(w, v->dynamic))
              : c_format(w, "((%s & %s) == 0)", v->bits, c_number(w, v->dynamic));
}

// The part of W that is not the part of a complex number: what forms are of.
static uint64_t index_of(const transfer *t, uint64_t x) {
  return x & f2_mask((int)(t->access->map.vectors - (t->parts - 1)));
}

static bool varies_in_lanes(const liveness *v, const c_access *a, uint32_t parts) {
  uint64_t which = 0, mask = f2_mask((int)(a->map.vectors - (parts - 1)));
  for (uint32_t i = 0; i < a->memory.lanes; i++)
    which |=
        c_map_bits(&v->map, a->memory.vector[a->memory.registers + i] & mask) ^ v->map.constant;
  return which != 0;
}

// ---- loads -----------------------------------------------------------------------------------

static const char *vector_of(const transfer *t, const char *list) {
  return t->lanes == 1 ? list : c_format(t->w, "(%s){%s}", t->vector, list);
}

static const char *element_at(const transfer *t, uint64_t x) {
  if (!t->w->warps)
    return c_format(t->w, "*(%s)", address_of(t, x));
  return c_format(t->w, "PERMC_%s(%s, %s)", t->place->scratch ? "GET" : "LOAD", t->vector,
                  address_of(t, x));
}

static const char *load_elements(const transfer *t, const liveness *v, uint64_t number) {
  const char *list = "";
  for (uint32_t j = 0; j < t->lanes; j++) {
    uint64_t x = c_layout_at(&t->access->memory, number, j);
    const char *element = element_at(t, x);
    const char *live = live_at(t->w, v, index_of(t, x));
    if (!live)
      element = "0";
    else if (*live)
      element = c_format(t->w, "(%s ? %s : 0)", live, element);
    if (t->limit != UINT64_MAX)
      element = c_format(t->w, "%s ? %s : (uint%u_t)%s", within(t, x), element,
                         t->access->bytes * 8, c_number(t->w, fill_bits(t, x)));
    list = c_format(t->w, "%s%s%s", list, j ? ", " : "", element);
  }
  return vector_of(t, list);
}

// By words of at most 8 bytes: wide loads of what was stored in small pieces would wait for them.
static const char *load_chunks(const transfer *t, uint64_t number) {
  c_writer *w = t->w;
  const c_access *a = t->access;
  uint32_t bytes = a->bytes << a->chunk, lanes;
  bytes = bytes < 8 ? bytes : 8;
  lanes = t->lanes * a->bytes / bytes;
  const char *word = c_word_in_memory(w, bytes, a->bytes), *list = "";
  for (uint32_t j = 0; j < lanes; j++) {
    uint64_t x = c_layout_at(&a->memory, number, j * (bytes / a->bytes));
    list = c_format(w, "%s%s*(const %s *)(%s)", list, j ? ", " : "", word, address_of(t, x));
  }
  return c_format(w, "(%s)(%s){%s}", t->vector, c_vector(w, bytes, lanes), list);
}

static const char *load_below(const transfer *t, uint64_t number) {
  c_writer *w = t->w;
  const char *name = c_format(w, "load_below_%s", t->vector), *list = "";
  const char *memory = c_vector_in_memory(w, t->access->bytes, t->lanes);
  if (c_define(w, name))
    text_printf(&w->definitions,
                "static inline %s %s(const u%ux1m *p, uint64_t at, uint64_t limit, %s fill) {\n"
                "  if (__builtin_expect(at < limit && limit - at >= %u, 1))\n"
                "    return *(const %s *)p;\n"
                "  for (int i = 0; i < %u; i++)\n"
                "    if (at + (uint64_t)i < limit)\n      fill[i] = p[i];\n"
                "  return fill;\n}\n",
                t->vector, name, t->access->bytes * 8, t->vector, t->lanes, memory, t->lanes);
  for (uint32_t j = 0; j < t->lanes; j++)
    list = c_format(w, "%s%s%s", list, j ? ", " : "",
                    c_number(w, fill_bits(t, c_layout_at(&t->access->memory, number, j))));
  uint64_t x = c_layout_at(&t->access->memory, number, 0);
  return c_format(w, "%s(%s, (uint64_t)(%s + %s), %s, (%s){%s})", name, address_of(t, x),
                  t->bound.sum, c_bound_rest(w, &t->bound, x), c_number(w, t->limit), t->vector,
                  list);
}

static const char *load_vector(const transfer *t, const liveness *v, uint64_t number) {
  const c_access *a = t->access;
  if (by_elements(t->place, a) || (a->chunk == 0 && a->home.lanes > 0) ||
      t->place->live_count > 0 || t->w->warps)
    return load_elements(t, v, number);
  if (a->chunk < a->home.lanes)
    return load_chunks(t, number);
  if (t->limit != UINT64_MAX)
    return load_below(t, number);
  return c_format(t->w, "*(const %s *)(%s)", c_vector_in_memory(t->w, a->bytes, t->lanes),
                  address_of(t, c_layout_at(&a->memory, number, 0)));
}

static bool is_dead(const c_place *p, const c_space *s, uint64_t number) {
  return p->dead && p->dead[number & f2_mask((int)s->r)];
}

// Only words stay together.
static uint32_t longest_chunk(const c_map *m) {
  return m->swizzle && !m->bytes && m->swizzle->word < C_CHUNK ? m->swizzle->word : C_CHUNK;
}

uint32_t c_access_widest(const c_writer *w, const c_place *place) {
  return w->warps && !place->scratch && place->limit == UINT64_MAX && place->live_count == 0
             ? C_CHUNK
             : 0;
}

static void load_wide(const transfer *t, uint64_t number, uint32_t *loaded) {
  c_writer *w = t->w;
  uint32_t count = 1U << t->access->wide, id = w->next++;
  c_line(w, "PERMC_LOAD_WIDE(%s, %u, w%u, %s)", t->vector, count, id,
         address_of(t, c_layout_at(&t->access->memory, number, 0)));
  if (t->turn)
    c_line(w, "PERMC_TURN(%s, %u, w%u, %s)", t->vector, count, id, t->turn);
  for (uint32_t i = 0; i < count; i++) {
    loaded[number + i] = w->next++;
    c_line(w, "const %s v%u = w%u[%u];", t->vector, loaded[number + i], id, i);
  }
}

void c_load(c_writer *w, const c_map *map, const c_space *space, uint32_t bytes, uint32_t parts,
            const c_place *from, uint32_t *registers) {
  c_access a = c_access_of(map, space, bytes, parts, longest_chunk(map), c_access_widest(w, from));
  liveness live = bind_live(w, from, space);
  if (by_elements(from, &a) || from->live_count > 0)
    a = c_access_of(map, space, bytes, parts, 0, 0);
  transfer t = begin(w, &a, from, parts, true);
  size_t count = (size_t)1 << a.home.registers;
  uint32_t *loaded = NEW_ARRAY(w->memory, uint32_t, count);
  for (uint64_t i = 0; i < count && a.wide > 0; i += UINT64_C(1) << a.wide)
    load_wide(&t, i, loaded);
  for (uint64_t i = 0; i < count && a.wide == 0; i++) {
    const char *vector = is_dead(from, space, i) ? "0" : load_vector(&t, &live, i);
    if (t.turn)
      vector = c_format(w, "%s(%s, %s)", c_turn(w, bytes, t.lanes), vector, t.turn);
    loaded[i] = w->next++;
    c_line(w, "const %s v%u = %s;", t.vector, loaded[i], vector);
  }
  c_relayout(w, bytes, &a.memory, &a.home, loaded, registers);
}

// ---- stores ----------------------------------------------------------------------------------

static void store_elements(const transfer *t, const liveness *v, uint64_t number, uint32_t id) {
  for (uint32_t j = 0; j < t->lanes; j++) {
    uint64_t x = c_layout_at(&t->access->memory, number, j);
    const char *live = live_at(t->w, v, index_of(t, x)), *condition = "";
    if (!live)
      continue;
    if (t->limit != UINT64_MAX)
      live = c_format(t->w, "%s%s%s", live, *live ? " && " : "", within(t, x));
    if (*live)
      condition = c_format(t->w, "if (%s) ", live);
    if (t->w->warps)
      c_line(t->w, "%sPERMC_%s(%s, %s, v%u);", condition, t->place->scratch ? "PUT" : "STORE",
             t->vector, address_of(t, x), id);
    else
      c_line(t->w, t->lanes == 1 ? "%s*(%s) = v%u;" : "%s*(%s) = v%u[%u];", condition,
             address_of(t, x), id, j);
  }
}

static void store_chunks(const transfer *t, const char *condition, uint64_t number, uint32_t id) {
  uint32_t size = 1U << t->access->chunk;
  for (uint32_t j = 0; j < t->lanes; j += size)
    c_line(t->w, "%s__builtin_memcpy(%s, (const uint%u_t *)&v%u + %u, %u);", condition,
           address_of(t, c_layout_at(&t->access->memory, number, j)), t->access->bytes * 8, id, j,
           size * t->access->bytes);
}

static const char *store_below(const transfer *t) {
  c_writer *w = t->w;
  const char *name = c_format(w, "store_below_%s", t->vector);
  const char *memory = c_vector_in_memory(w, t->access->bytes, t->lanes);
  if (c_define(w, name))
    text_printf(&w->definitions,
                "static inline void %s(u%ux1m *p, uint64_t at, uint64_t limit, %s v) {\n"
                "  if (__builtin_expect(at < limit && limit - at >= %u, 1)) {\n"
                "    *(%s *)p = v;\n    return;\n  }\n"
                "  for (int i = 0; i < %u; i++)\n"
                "    if (at + (uint64_t)i < limit)\n      p[i] = v[i];\n}\n",
                name, t->access->bytes * 8, t->vector, t->lanes, memory, t->lanes);
  return name;
}

static const char *store_stream(const transfer *t) {
  c_writer *w = t->w;
  uint32_t size = t->access->bytes * t->lanes;
  const char *name = c_format(w, "stream_%s", t->vector);
  const char *memory = c_vector_in_memory(w, t->access->bytes, t->lanes);
  const char *isa = size == 64 ? "__AVX512F__" : size == 32 ? "__AVX__" : "__SSE2__";
  const char *suffix = size == 64 ? "512" : size == 32 ? "256" : "";
  if (c_define(w, name))
    text_printf(
        &w->definitions,
        "static inline __attribute__((always_inline)) void %s(u%ux1m *p, %s v, bool stream) {\n"
        "#if defined(__clang__)\n"
        "  if (__builtin_expect(stream, 1)) {\n"
        "    __builtin_nontemporal_store(v, (%s *)p);\n    return;\n  }\n"
        "#elif defined(%s) && !defined(PERMC_PLAIN)\n"
        "  typedef long long words __attribute__((vector_size(%u)));\n"
        "  if (__builtin_expect(stream, 1)) {\n"
        "    __builtin_ia32_movntdq%s((words *)p, (words)v);\n    return;\n  }\n"
        "#endif\n"
        "  *(%s *)p = v;\n}\n",
        name, t->access->bytes * 8, t->vector, t->vector, isa, size, suffix, memory);
  return name;
}

static void store_vector(const transfer *t, const char *condition, uint64_t number, uint32_t id) {
  c_writer *w = t->w;
  uint64_t x = c_layout_at(&t->access->memory, number, 0);
  const char *address = address_of(t, x);
  if (t->limit != UINT64_MAX)
    c_line(w, "%s%s(%s, (uint64_t)(%s + %s), %s, v%u);", condition, store_below(t), address,
           t->bound.sum, c_bound_rest(w, &t->bound, x), c_number(w, t->limit), id);
  else if (t->place->stream && c_access_streams(t->access))
    c_line(w, "%s%s(%s, v%u, %s);", condition, store_stream(t), address, id, t->place->stream);
  else
    c_line(w, "%s*(%s *)(%s) = v%u;", condition, c_vector_in_memory(w, t->access->bytes, t->lanes),
           address, id);
}

static void store_wide(const transfer *t, uint64_t number, const uint32_t *stored) {
  c_writer *w = t->w;
  uint32_t count = 1U << t->access->wide;
  const char *list = "";
  for (uint32_t i = 0; i < count; i++)
    list = c_format(w, "%s%sv%u", list, i ? ", " : "", stored[number + i]);
  c_line(w, "PERMC_STORE_WIDE(%s, %u, %s, %s, %s)", t->vector, count,
         address_of(t, c_layout_at(&t->access->memory, number, 0)), t->turn ? t->turn : "0", list);
}

void c_store(c_writer *w, const c_map *map, const c_space *space, uint32_t bytes, uint32_t parts,
             const c_place *to, const uint32_t *registers) {
  c_access a = c_access_of(map, space, bytes, parts, longest_chunk(map), c_access_widest(w, to));
  liveness live = bind_live(w, to, space);
  bool elements = by_elements(to, &a) || varies_in_lanes(&live, &a, parts) || w->warps;
  if (elements)
    a = c_access_of(map, space, bytes, parts, 0, a.wide);
  elements = elements || (a.chunk == 0 && a.home.lanes > 0);
  transfer t = begin(w, &a, to, parts, false);
  size_t count = (size_t)1 << a.home.registers;
  uint32_t *stored = NEW_ARRAY(w->memory, uint32_t, count);
  c_relayout(w, bytes, &a.home, &a.memory, registers, stored);
  for (uint64_t i = 0; i < count && a.wide > 0; i += UINT64_C(1) << a.wide)
    store_wide(&t, i, stored);
  for (uint64_t i = 0; i < count && a.wide == 0; i++) {
    uint32_t id = stored[i];
    if (elements) {
      if (to->scratch || !is_dead(to, space, i))
        store_elements(&t, &live, i, id);
      continue;
    }
    const char *alive = live_at(w, &live, index_of(&t, c_layout_at(&a.memory, i, 0)));
    if (!alive)
      continue;
    if (t.turn) {
      c_line(w, "const %s v%u = %s(v%u, %s);", t.vector, w->next, c_turn(w, bytes, t.lanes), id,
             t.turn);
      id = w->next++;
    }
    const char *condition = *alive ? c_format(w, "if (%s) ", alive) : "";
    if (a.chunk < a.home.lanes)
      store_chunks(&t, condition, i, id);
    else
      store_vector(&t, condition, i, id);
  }
}
