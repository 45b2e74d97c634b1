#include "kernels/transfer/transfer.h"

// ---- what loads and stores share -------------------------------------------------------------

typedef struct transfer {
  c_writer *w;
  const c_access *access;
  const c_place *place;
  c_bound bound;
  const char *vector, *pointer;  // the vector's type; the address that is the same in all registers
  const char *flips;             // the variable d, or NULL
  uint32_t lanes, parts;
  uint64_t padding_start;  // in parts
  kernel_step step;        // for a record (step_of)
} transfer;

// What is alike in the accesses of all registers: words are those of coordinates 0.
static kernel_step step_of(const kernel_record *r, const c_access *a, const c_place *place,
                           uint64_t rows, bool loads) {
  const xor_sum *m = &a->map;
  xor_word *words = NEW_ARRAY(r->memory, xor_word, C_ROWS);
  int64_t *strides = m->loops ? NEW_ARRAY(r->memory, int64_t, r->stage->loop_count) : NULL;
  for (uint32_t i = 0; i < m->loops; i++)
    strides[i] = m->strides[i];
  return (kernel_step){.kind = place->scratch ? (loads ? STEP_GET : STEP_PUT)
                                              : (loads ? STEP_LOAD : STEP_STORE),
                       .bytes = a->bytes << a->wide,
                       .unit = m->bytes ? 1 : a->bytes,
                       .base = place->base,
                       .offset = m->offset,
                       .strides = strides,
                       .word_count = xor_sum_words(r->memory, m, rows, words),
                       .blocks = m->blocks,
                       .words = words,
                       .swizzle = m->swizzle};
}

static transfer begin_transfer(c_writer *w, const c_access *a, const c_place *place, uint32_t parts,
                               bool loads) {
  transfer t = {w, a, place, {0}, NULL, NULL, NULL, 1U << a->home.lanes, parts, UINT64_MAX, {0}};
  uint64_t chunk_rows = 0;
  for (uint32_t i = 0; i < a->chunk + a->wide; i++)
    chunk_rows |= f2_unit((int)a->chunk_row[i]);
  if (w->record)
    t.step = step_of(w->record, a, place, f2_mask((int)a->map.rows) & ~chunk_rows, loads);
  t.bound = c_bind(w, &a->map, chunk_rows);
  t.flips = a->xor_permuted ? c_bind_bits(w, &a->map, chunk_rows) : NULL;
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
  if (place->padding_start != UINT64_MAX)
    t.padding_start =
        (place->padding_start < UINT64_MAX / 8 ? place->padding_start : UINT64_MAX / 8) * parts;
  return t;
}

// The name of the function through which units of scratch go.
static const char *swizzle_function(c_writer *w, const c_swizzle *l) {
  const char *name =
      c_format(w, "place_%llu_%u", (unsigned long long)l->by->words, (unsigned)l->word);
  if (!c_define(w, name))
    return name;
  bank_layout_print_tables(&w->definitions, l->by, "static const", name);
  text_printf(&w->definitions,
              INLINE " uint32_t %s(uint32_t unit) {\n  const uint32_t a = unit >> %u;\n  return (",
              name, (unsigned)l->word);
  bank_layout_print_place(&w->definitions, l->by, name, "a");
  text_printf(&w->definitions, ") << %u | (unit & %lluU);\n}\n", (unsigned)l->word,
              (unsigned long long)f2_mask((int)l->word));
  return name;
}

static const char *swizzled_address(const transfer *t, const char *rest) {
  const char *element = c_vector_in_memory(t->w, t->access->bytes, 1);
  const char *at = c_format(t->w, "%s((uint32_t)(%s + %s))",
                            swizzle_function(t->w, t->access->map.swizzle), t->pointer, rest);
  return t->access->map.bytes ? c_format(t->w, "(%s *)(%s + %s)", element, t->place->array, at)
                              : c_format(t->w, "(%s *)%s + %s", element, t->place->array, at);
}

// "p3 + 16": the address of the element at coordinates x.
static const char *address_of(const transfer *t, uint64_t x) {
  const char *rest = c_bound_rest(t->w, &t->bound, x);
  if (t->access->map.swizzle)
    return swizzled_address(t, rest);
  if (t->access->map.bytes)
    return c_format(t->w, "(%s *)(%s + %s)", c_vector_in_memory(t->w, t->access->bytes, 1),
                    t->pointer, rest);
  return c_format(t->w, "%s + %s", t->pointer, rest);
}

// Whether it is no padding: a condition.
static const char *below_padding(const transfer *t, uint64_t x) {
  return c_format(t->w, "(uint64_t)(%s + %s) < %s", t->bound.sum, c_bound_rest(t->w, &t->bound, x),
                  c_number(t->w, t->padding_start));
}

static uint64_t padding_bits(const transfer *t, uint64_t x) {
  uint64_t bits = 0;
  uint32_t part = t->parts == 2 && f2_bit(x, (int)t->access->map.vectors - 1);
  memcpy(&bits, t->place->padding_value.bytes + part * t->access->bytes, t->access->bytes);
  return bits;
}

// Element by element there is no chunk, and so no turning.
static bool is_by_elements(const c_place *place, const c_access *a) {
  return place->padding_start != UINT64_MAX && (a->chunk < a->home.lanes || a->home.lanes == 0);
}

// ---- what is alive ---------------------------------------------------------------------------

// The forms of which all must be 0 where something is loaded or stored.
typedef struct liveness {
  xor_sum map;
  const char *bits;  // the variable with what blocks and threads add, or NULL
  uint64_t dynamic;  // the rows in it
} liveness;

static liveness bind_live(c_writer *w, const c_place *place, const c_space *space) {
  liveness v = {.map = xor_sum_of_forms(place->live_count, place->live, space)};
  v.bits = c_bind_bits(w, &v.map, f2_mask((int)v.map.rows));
  v.dynamic = xor_sum_dynamic_rows(&v.map);
  return v;
}

// "" always, NULL never, else a condition.
static const char *live_at(c_writer *w, const liveness *v, uint64_t x) {
  uint64_t bits = xor_sum_rows_at(&v->map, x);
  if (bits & ~v->dynamic)
    return NULL;
  if (v->dynamic == 0)
    return "";
  return bits ? c_format(w, "(((%s ^ %s) & %s) == 0)", v->bits, c_number(w, bits),
                         c_number(w, v->dynamic))
              : c_format(w, "((%s & %s) == 0)", v->bits, c_number(w, v->dynamic));
}

static thread_guard guard_of(const kernel_record *r, const liveness *v, uint64_t x) {
  xor_word word[C_ROWS];  // one
  xor_sum_words(r->memory, &v->map, f2_mask((int)v->map.rows), word);
  return (thread_guard){{1, xor_word_at(&v->map, word, x), word->column}, 0, 1, NULL};
}

void c_begin_live(c_writer *w, uint32_t count, const net_form *live, const c_space *space) {
  c_place place = {.live_count = count, .live = live};
  liveness v = bind_live(w, &place, space);
  c_line(w, "if (%s) {", live_at(w, &v, 0));
  if (w->record)
    kernel_record_begin(w->record, 1, (thread_guard[]){guard_of(w->record, &v, 0)});
}

// The part of W that is not the part of a complex number: what forms are of.
static uint64_t index_coordinates(const transfer *t, uint64_t x) {
  return x & f2_mask((int)(t->access->map.vectors - (t->parts - 1)));
}

// Notes the access of the element at x, where it is alive, or (v NULL) the wide one from there on.
static void record_access(const transfer *t, const liveness *v, uint64_t x) {
  kernel_record *r = t->w->record;
  if (!r)
    return;
  kernel_step s = t->step;
  xor_word *words = NEW_ARRAY(r->memory, xor_word, s.word_count);
  for (uint32_t g = 0; g < s.word_count; g++) {
    words[g] = s.words[g];
    words[g].constant = xor_word_at(&t->access->map, &s.words[g], x);
  }
  s.words = words;
  s.limit = t->padding_start;
  if (v && v->dynamic)
    s.guard[s.guard_count++] = guard_of(r, v, index_coordinates(t, x));
  kernel_record_add(r, s);
}

static bool varies_in_lanes(const liveness *v, const c_access *a, uint32_t parts) {
  uint64_t which = 0, mask = f2_mask((int)(a->map.vectors - (parts - 1)));
  for (uint32_t i = 0; i < a->memory.lanes; i++)
    which |= xor_sum_rows_at(&v->map, a->memory.vector[a->memory.registers + i] & mask) ^
             v->map.constant;
  return which != 0;
}

// ---- loads -----------------------------------------------------------------------------------

static const char *element_at(const transfer *t, uint64_t x) {
  if (!t->w->warps)
    return c_format(t->w, "*(%s)", address_of(t, x));
  const char *how = t->place->scratch ? "GET" : t->place->near ? "LOAD_NEAR" : "LOAD";
  return c_format(t->w, "PERMC_%s(%s, %s)", how, t->vector, address_of(t, x));
}

static const char *load_elements(const transfer *t, const liveness *v, uint64_t number) {
  const char *list = "";
  for (uint32_t j = 0; j < t->lanes; j++) {
    uint64_t x = register_layout_at(&t->access->memory, number, j);
    const char *element = element_at(t, x);
    const char *live = live_at(t->w, v, index_coordinates(t, x));
    if (live)
      record_access(t, v, x);
    if (!live)
      element = "0";
    else if (*live)
      element = c_format(t->w, "(%s ? %s : 0)", live, element);
    if (t->padding_start != UINT64_MAX)
      element = c_format(t->w, "%s ? %s : (uint%u_t)%s", below_padding(t, x), element,
                         t->access->bytes * 8, c_number(t->w, padding_bits(t, x)));
    list = c_format(t->w, "%s%s%s", list, j ? ", " : "", element);
  }
  return t->lanes == 1 ? list : c_format(t->w, "(%s){%s}", t->vector, list);
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
    uint64_t x = register_layout_at(&a->memory, number, j * (bytes / a->bytes));
    list = c_format(w, "%s%s*(const %s *)(%s)", list, j ? ", " : "", word, address_of(t, x));
  }
  return c_format(w, "(%s)(%s){%s}", t->vector, c_vector(w, bytes, lanes), list);
}

static const char *load_below(const transfer *t, uint64_t number) {
  c_writer *w = t->w;
  const char *list = "";
  for (uint32_t j = 0; j < t->lanes; j++)
    list =
        c_format(w, "%s%s%s", list, j ? ", " : "",
                 c_number(w, padding_bits(t, register_layout_at(&t->access->memory, number, j))));
  uint64_t x = register_layout_at(&t->access->memory, number, 0);
  c_vector_in_memory(w, t->access->bytes, t->lanes);
  return c_format(w, "%s(%s, (uint64_t)(%s + %s), %s, (%s){%s})",
                  c_bits_function(w, "load_below", t->access->bytes, t->lanes), address_of(t, x),
                  t->bound.sum, c_bound_rest(w, &t->bound, x), c_number(w, t->padding_start),
                  t->vector, list);
}

// Once for each line.
static void load_ahead(const transfer *t, uint64_t number) {
  const c_access *a = t->access;
  uint64_t x = register_layout_at(&a->memory, number, 0);
  if (xor_sum_weight(&a->map, xor_sum_rows_at(&a->map, x)) * a->bytes % 64 == 0)
    c_line(t->w, "PERMC_AHEAD(%s);", address_of(t, x));
}

static const char *load_vector(const transfer *t, const liveness *v, uint64_t number) {
  const c_access *a = t->access;
  if (is_by_elements(t->place, a) || (a->chunk == 0 && a->home.lanes > 0) ||
      t->place->live_count > 0 || t->w->warps)
    return load_elements(t, v, number);
  if (a->chunk < a->home.lanes)
    return load_chunks(t, number);
  if (t->padding_start != UINT64_MAX)
    return load_below(t, number);
  if (t->place->ahead)
    load_ahead(t, number);
  return c_format(t->w, "*(const %s *)(%s)", c_vector_in_memory(t->w, a->bytes, t->lanes),
                  address_of(t, register_layout_at(&a->memory, number, 0)));
}

static bool is_padding(const transfer *t, const c_space *s, uint64_t number) {
  uint64_t x = register_layout_at(&t->access->memory, number, 0);
  return t->place->padding && t->place->padding[x & f2_mask((int)s->r)];
}

// Only words stay together.
static uint32_t longest_chunk(const xor_sum *m) {
  return m->swizzle && !m->bytes && m->swizzle->word < C_CHUNK ? m->swizzle->word : C_CHUNK;
}

static void load_wide(const transfer *t, uint64_t number, uint32_t *loaded) {
  c_writer *w = t->w;
  uint64_t x = register_layout_at(&t->access->memory, number, 0);
  uint32_t count = 1U << t->access->wide, id = w->next++;
  record_access(t, NULL, x);
  c_line(w, "PERMC_LOAD_WIDE%s(%s, %u, w%u, %s)", t->place->near ? "_NEAR" : "", t->vector, count,
         id, address_of(t, x));
  if (t->flips)
    c_line(w, "PERMC_XOR_PERMUTE(%s, %u, w%u, %s)", t->vector, count, id, t->flips);
  for (uint32_t i = 0; i < count; i++)
    loaded[number + i] = c_let(w, t->vector, "w%u[%u]", id, i);
}

// The first register that has the same elements: the number without the bits that change no
// address.
static uint64_t first_alike(const transfer *t, uint64_t number) {
  const register_layout *y = &t->access->memory;
  for (uint32_t i = 0; i < y->registers && !t->place->live_count && !t->place->padding; i++)
    if (xor_sum_rows_at(&t->access->map, y->vector[i]) == t->access->map.constant)
      number &= ~f2_unit((int)i);
  return number;
}

void c_load(c_writer *w, const xor_sum *map, const c_space *space, scalar_type type,
            const c_place *from, uint32_t *registers) {
  uint32_t bytes = scalar_part_bytes(type), parts = scalar_parts(type);
  c_access a = c_access_of(map, space, type, longest_chunk(map), c_access_widest(w->warps, from));
  liveness live = bind_live(w, from, space);
  if (is_by_elements(from, &a) || from->live_count > 0)
    a = c_access_of(map, space, type, 0, 0);
  transfer t = begin_transfer(w, &a, from, parts, true);
  size_t count = (size_t)1 << a.home.registers;
  uint32_t *loaded = NEW_ARRAY(w->memory, uint32_t, count);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t first = first_alike(&t, i);
    if (first < i) {
      loaded[i] = loaded[first];
      continue;
    }
    if (a.wide > 0) {
      if (i % (UINT64_C(1) << a.wide) == 0)
        load_wide(&t, i, loaded);
      continue;
    }
    const char *vector = is_padding(&t, space, i) ? "0" : load_vector(&t, &live, i);
    if (t.flips)
      vector = c_format(w, "%s(%s, %s)", c_xor_permute(w, bytes, t.lanes), vector, t.flips);
    loaded[i] = c_let(w, t.vector, "%s", vector);
  }
  for (uint64_t i = 0; i < count && from->bytes; i++)
    loaded[i] = c_let(w, t.vector, "(%s)(v%u != 0) & 1", t.vector, loaded[i]);
  c_relayout(w, bytes, &a.memory, &a.home, loaded, registers);
}

// ---- stores ----------------------------------------------------------------------------------

static void store_elements(const transfer *t, const liveness *v, uint64_t number, uint32_t id) {
  for (uint32_t j = 0; j < t->lanes; j++) {
    uint64_t x = register_layout_at(&t->access->memory, number, j);
    const char *live = live_at(t->w, v, index_coordinates(t, x)), *condition = "";
    if (!live)
      continue;
    record_access(t, v, x);
    if (t->padding_start != UINT64_MAX)
      live = c_format(t->w, "%s%s%s", live, *live ? " && " : "", below_padding(t, x));
    if (*live)
      condition = c_format(t->w, "if (%s) ", live);
    if (t->w->warps)
      (*condition ? c_line : c_join)(t->w, "%sPERMC_%s(%s, %s, v%u);", condition,
                                     t->place->scratch ? "PUT" : "STORE", t->vector,
                                     address_of(t, x), id);
    else
      (*condition ? c_line : c_join)(t->w, t->lanes == 1 ? "%s*(%s) = v%u;" : "%s*(%s) = v%u[%u];",
                                     condition, address_of(t, x), id, j);
  }
}

static void store_chunks(const transfer *t, const char *condition, uint64_t number, uint32_t id) {
  uint32_t size = 1U << t->access->chunk;
  for (uint32_t j = 0; j < t->lanes; j += size)
    c_line(t->w, "%s__builtin_memcpy(%s, (const uint%u_t *)&v%u + %u, %u);", condition,
           address_of(t, register_layout_at(&t->access->memory, number, j)), t->access->bytes * 8,
           id, j, size * t->access->bytes);
}

static void store_vector(const transfer *t, const char *condition, uint64_t number, uint32_t id) {
  c_writer *w = t->w;
  uint64_t x = register_layout_at(&t->access->memory, number, 0);
  uint32_t bytes = t->access->bytes, size = bytes * t->lanes;
  const char *address = address_of(t, x), *memory = c_vector_in_memory(w, bytes, t->lanes);
  const char *const stream[2] = {size == 64   ? "__AVX512F__"
                                 : size == 32 ? "__AVX__"
                                              : "__SSE2__",
                                 size == 64   ? "512"
                                 : size == 32 ? "256"
                                              : ""};
  if (t->padding_start != UINT64_MAX)
    c_line(w, "%s%s(%s, (uint64_t)(%s + %s), %s, v%u);", condition,
           c_bits_function(w, "store_below", bytes, t->lanes), address, t->bound.sum,
           c_bound_rest(w, &t->bound, x), c_number(w, t->padding_start), id);
  else if (t->place->stream && c_access_streams(t->access))
    c_line(w, "%s%s(%s, v%u, %s);", condition,
           c_function_by(w, "stream", "stream", c_unsigned_of(bytes), t->lanes, stream), address,
           id, t->place->stream);
  else
    (*condition ? c_line : c_join)(w, "%s*(%s *)(%s) = v%u;", condition, memory, address, id);
}

static void store_wide(const transfer *t, uint64_t number, const uint32_t *stored) {
  c_writer *w = t->w;
  uint64_t x = register_layout_at(&t->access->memory, number, 0);
  uint32_t count = 1U << t->access->wide;
  const char *list = "";
  for (uint32_t i = 0; i < count; i++)
    list = c_format(w, "%s%sv%u", list, i ? ", " : "", stored[number + i]);
  record_access(t, NULL, x);
  c_line(w, "PERMC_STORE_WIDE(%s, %u, %s, %s, %s)", t->vector, count, address_of(t, x),
         t->flips ? t->flips : "0", list);
}

void c_store(c_writer *w, const xor_sum *map, const c_space *space, scalar_type type,
             const c_place *to, const uint32_t *registers) {
  uint32_t bytes = scalar_part_bytes(type), parts = scalar_parts(type);
  c_access a = c_access_of(map, space, type, longest_chunk(map), c_access_widest(w->warps, to));
  liveness live = bind_live(w, to, space);
  bool elements = is_by_elements(to, &a) || varies_in_lanes(&live, &a, parts) || w->warps;
  if (elements)
    a = c_access_of(map, space, type, 0, a.wide);
  elements = elements || (a.chunk == 0 && a.home.lanes > 0);
  transfer t = begin_transfer(w, &a, to, parts, false);
  size_t count = (size_t)1 << a.home.registers;
  uint32_t *stored = NEW_ARRAY(w->memory, uint32_t, count);
  c_relayout(w, bytes, &a.home, &a.memory, registers, stored);
  c_end_line(w);
  for (uint64_t i = 0; i < count && a.wide > 0; i += UINT64_C(1) << a.wide)
    store_wide(&t, i, stored);
  for (uint64_t i = 0; i < count && a.wide == 0; i++) {
    uint32_t id = stored[i];
    if (elements) {
      if (to->scratch || !is_padding(&t, space, i))
        store_elements(&t, &live, i, id);
      continue;
    }
    const char *alive =
        live_at(w, &live, index_coordinates(&t, register_layout_at(&a.memory, i, 0)));
    if (!alive)
      continue;
    if (t.flips)
      id = c_let(w, t.vector, "%s(v%u, %s)", c_xor_permute(w, bytes, t.lanes), id, t.flips);
    const char *condition = *alive ? c_format(w, "if (%s) ", alive) : "";
    if (a.chunk < a.home.lanes)
      store_chunks(&t, condition, i, id);
    else
      store_vector(&t, condition, i, id);
  }
}
