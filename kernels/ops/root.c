#include "kernels/ops/root.h"

// ---- tables ----------------------------------------------------------------------------------

// Rows that a bit of an entry's number, or the constant, has: as many weights are read.
static uint64_t count_rows(const permc_root_table *t) {
  uint64_t rows = t->constant;
  for (uint64_t i = 0; i < t->bits; i++)
    rows |= t->vectors[i];
  return rows ? 64 - (uint64_t)__builtin_clzll(rows) : 0;
}

static bool same_words(uint64_t count, const uint64_t *a, const uint64_t *b) {
  return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

static bool same_table(const permc_root_table *a, const permc_root_table *b) {
  return a->m == b->m && a->part_bytes == b->part_bytes && !a->vectors == !b->vectors &&
         a->bits == b->bits && a->offset == b->offset && a->constant == b->constant &&
         same_words(a->bits, a->vectors, b->vectors) &&
         same_words(count_rows(a), a->weights, b->weights);
}

static uint32_t table_number(c_writer *w, const permc_root_table *table) {
  for (size_t i = 0; i < w->roots.count; i++)
    if (same_table(&w->roots.items[i], table))
      return (uint32_t)i;
  vec_push(w->memory, &w->roots, *table);
  return (uint32_t)(w->roots.count - 1);
}

// The address of a table. A GPU has it at the end of so many bytes before the imports: no list is
// read for it.
const char *c_root_table_address(c_writer *w, const char *element, uint32_t number) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i <= number; i++)
    bytes += permc_root_room(&w->roots.items[i]);
  return w->warps ? c_format(w, "(const %s *)PERMC_ROOTS(%u, %llu)", element, number,
                             (unsigned long long)bytes)
                  : c_format(w, "(const %s *)imports->roots[%u]", element, number);
}

uint32_t c_root_table(c_writer *w, scalar_type type, uint64_t m) {
  return table_number(w, &(permc_root_table){.m = m, .part_bytes = scalar_part_bytes(type)});
}

uint32_t c_low_root_table(c_writer *w, uint64_t m, uint32_t bits) {
  uint64_t *units = NEW_ARRAY(w->memory, uint64_t, bits + 1);
  for (uint32_t i = 0; i < bits; i++)
    units[i] = f2_unit((int)i);
  return table_number(
      w, &(permc_root_table){m, scalar_part_bytes(SCALAR_C128), bits, 0, 0, units, units});
}

static void add_words(text *out, uint64_t count, const uint64_t *words) {
  text_string(out, words ? ",\n    (const uint64_t[]){" : ", 0");
  for (uint64_t i = 0; i < count; i++)
    text_printf(out, "%s0x%llx", i ? ", " : "", (unsigned long long)words[i]);
  text_string(out, !words ? "" : count ? "}" : "0}");
}

void c_root_tables_write(text *out, const char *declaration, const permc_root_table *tables) {
  size_t count = 0;
  while (tables[count].m)
    count++;
  text_printf(out, "\n%s[%zu] = {\n", declaration, count + 1);
  for (const permc_root_table *t = tables; t->m; t++) {
    text_printf(out, "  {%llu, %u, %u, 0x%llx, 0x%llx", (unsigned long long)t->m,
                (unsigned)t->part_bytes, (unsigned)t->bits, (unsigned long long)t->offset,
                (unsigned long long)t->constant);
    add_words(out, t->bits, t->vectors);
    add_words(out, count_rows(t), t->weights);
    text_string(out, "},\n");
  }
  text_string(out, "  {0}\n};\n");
}

permc_root_table *c_root_tables_copy(const c_writer *w) {
  size_t count = w->roots.count, words = 0;
  for (size_t i = 0; i < count; i++)
    words += w->roots.items[i].bits + count_rows(&w->roots.items[i]);
  permc_root_table *tables = calloc(1, (count + 1) * sizeof *tables + words * sizeof(uint64_t));
  uint64_t *room = tables ? (uint64_t *)(tables + count + 1) : NULL;
  for (size_t i = 0; i < count && tables; i++) {
    const permc_root_table *r = &w->roots.items[i];
    uint64_t rows = count_rows(r);
    tables[i] = *r;
    if (!r->vectors)
      continue;
    tables[i].vectors = memcpy(room, r->vectors, r->bits * sizeof *room);
    tables[i].weights = memcpy(room + r->bits, r->weights, rows * sizeof *room);
    room += r->bits + rows;
  }
  return tables;
}

// ---- the table's own index -------------------------------------------------------------------

struct c_root_access {
  bool possible;
  uint32_t lane_bits;  // of the table's index: what lanes change
  xor_sum map;         // its index
  c_bound bound;
  const char *pointer;
  uint32_t bits;
};

// The vectors of `count` that are independent of those before: `most` at most, or one more, which
// is too many.
static void add_basis(f2_space *all, uint32_t most, uint32_t *bits, uint64_t *basis, uint32_t count,
                      const uint64_t *vectors) {
  for (uint32_t i = 0; i < count; i++)
    if (*bits < most + 1 && f2_space_insert(all, vectors[i]))
      basis[(*bits)++] = vectors[i];
}

// The map to the table's index: row i is bit i.
static void map_to_table(const xor_sum *k, const uint64_t *basis, uint32_t bits, xor_sum *out) {
  *out = (xor_sum){.rows = bits, .blocks = k->blocks, .threads = k->threads, .vectors = k->vectors};
  for (uint32_t i = 0; i < bits; i++)
    out->weight[i] = f2_unit((int)i);
  for (uint32_t i = 0; i < k->blocks; i++)
    out->block[i] = c_coordinates(bits, basis, k->block[i]);
  for (uint32_t i = 0; i < k->threads; i++)
    out->thread[i] = c_coordinates(bits, basis, k->thread[i]);
  for (uint32_t i = 0; i < k->vectors; i++)
    out->vector[i] = c_coordinates(bits, basis, k->vector[i]);
}

// What lanes change must be apart from what registers, threads and blocks change. A thread of a
// processor reads on from register to register; the threads of a warp read neighbours at once.
static bool choose_basis(const xor_sum *k, const c_space *s, bool warps, uint32_t most,
                         uint64_t *basis, uint32_t *lane_bits, uint32_t *bits) {
  f2_space lanes = f2_span((int)k->rows, (int)s->l, k->vector + s->r), all = lanes, others;
  *bits = *lane_bits = 0;
  f2_space of_lanes = f2_space_zero((int)k->rows);
  add_basis(&of_lanes, most, lane_bits, basis, s->l, k->vector + s->r);
  *bits = *lane_bits;
  if (warps)
    add_basis(&all, most, bits, basis, s->threads, k->thread);
  add_basis(&all, most, bits, basis, s->r, k->vector);
  if (!warps)
    add_basis(&all, most, bits, basis, s->threads, k->thread);
  add_basis(&all, most, bits, basis, s->blocks, k->block);
  others = f2_span((int)k->rows, (int)(*bits - *lane_bits), basis + *lane_bits);
  for (uint32_t i = 0; i < s->r + s->threads + s->blocks; i++) {
    uint64_t x = i < s->r                ? k->vector[i]
                 : i < s->r + s->threads ? k->thread[i - s->r]
                                         : k->block[i - s->r - s->threads];
    if (*bits <= most && !f2_space_has(others, x))
      return false;
  }
  return *bits <= most;
}

// Whether lanes, threads and blocks have the same root: each register's is known.
static bool registers_choose(const xor_sum *k, const c_space *s) {
  uint64_t others = 0;
  for (uint32_t i = 0; i < s->l; i++)
    others |= k->vector[s->r + i];
  for (uint32_t i = 0; i < s->threads; i++)
    others |= k->thread[i];
  for (uint32_t i = 0; i < s->blocks; i++)
    others |= k->block[i];
  return others == 0;
}

static const struct c_root_access *bind_table(c_phase *f, const net_node *root, net_id index) {
  c_writer *w = f->w;
  struct c_root_access *a = NEW(w->memory, struct c_root_access);
  xor_sum k = xor_sum_of(w->memory, &f->stage->nodes.items[index].map, f->space, 1);
  uint64_t *basis = NEW_ARRAY(w->memory, uint64_t, F2_MAX), *weights;
  for (uint32_t i = 0; i < k.loops; i++)
    if (k.strides[i] != 0)
      return a;
  if (k.rows > F2_MAX || registers_choose(&k, f->space) ||
      !choose_basis(&k, f->space, w->warps, w->root_bits, basis, &a->lane_bits, &a->bits))
    return a;
  weights = NEW_ARRAY(w->memory, uint64_t, k.rows);
  memcpy(weights, k.weight, k.rows * sizeof *weights);
  permc_root_table table = {
      root->number, scalar_part_bytes(root->type), a->bits, k.offset, k.constant, basis, weights};
  map_to_table(&k, basis, a->bits, &a->map);
  a->bound = c_bind(w, &a->map, 0);
  const char *element = c_vector_in_memory(w, scalar_part_bytes(root->type), 1);
  a->pointer = c_format(w, "p%u", w->next++);
  c_line(w, "const %s *const %s = %s + %s;", element, a->pointer,
         c_root_table_address(w, element, table_number(w, &table)), a->bound.sum);
  a->possible = true;
  return a;
}

// ---- values ----------------------------------------------------------------------------------

// Where only some of the lanes' vectors change the root, or two change it alike.
static const char *lane_pattern(c_phase *f, const struct c_root_access *a, uint32_t lanes) {
  const char *list = "";
  bool plain = true;
  for (uint32_t j = 0; j < lanes; j++) {
    uint64_t from = 0;
    for (uint32_t i = 0; i < f->space->l; i++)
      from ^= j >> i & 1 ? a->map.vector[f->space->r + i] : 0;
    plain = plain && from == j;
    list = c_format(f->w, "%s%s%u", list, j ? ", " : "", (unsigned)from);
  }
  return plain ? NULL : list;
}

bool c_root_of_index(c_phase *f, const net_node *root, net_id index, uint64_t x, c_value *out) {
  c_writer *w = f->w;
  size_t id = (size_t)(root - f->stage->nodes.items);
  if (!f->roots[id])
    f->roots[id] = bind_table(f, root, index);
  const struct c_root_access *a = f->roots[id];
  uint32_t bytes = scalar_part_bytes(root->type), lanes = a->lane_bits ? 1U << f->space->l : 1;
  if (!a->possible || a->bits == 0)
    return false;  // all one root: it is known
  *out = (c_value){.level = lanes > 1 ? C_VECTOR : C_UNIFORM, .type = root->type};
  const char *type = c_vector(w, bytes, lanes),
             *pattern = lanes > 1 ? lane_pattern(f, a, lanes) : NULL;
  for (uint32_t part = 0; part < 2; part++) {
    out->id[part] = c_let(
        w, type, w->warps ? "PERMC_ROOT(%s, %s + %s + %llu)" : "*(const %s *)(%s + %s + %llu)",
        c_vector_in_memory(w, bytes, lanes), a->pointer, c_bound_rest(w, &a->bound, x),
        (unsigned long long)part << a->bits);
    if (pattern)
      out->id[part] =
          c_let(w, type, "%s(v%u, v%u, %s)", c_bits_function(w, "shuffle", bytes, lanes),
                out->id[part], out->id[part], pattern);
  }
  return true;
}
