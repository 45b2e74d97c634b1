#include "kernels/ops/exchange.h"
#include "core/hash.h"

// ---- which slots hold keys -------------------------------------------------------------------

// In the slow loop a pair is exchanged if the rank of element 0 is, to that of element 1: >, <=,
// >=, <.
typedef enum exchange_kind { EXCHANGE_GT, EXCHANGE_LE, EXCHANGE_GE, EXCHANGE_LT } exchange_kind;

// Whether the op is a comparator in the total order of floats.
static bool is_exchange(const net_stage *s, const net_op *op, exchange_kind *kind) {
  net_comparator c;
  if (!net_op_comparator(s, op, &c) || c.order != OP_TOTAL_LE ||
      scalar_types[s->values.items[c.value]].kind != KIND_FLOAT)
    return false;
  *kind = c.kind == NET_MIN ? (c.turned ? EXCHANGE_GE : EXCHANGE_GT)
                            : (c.turned ? EXCHANGE_LT : EXCHANGE_LE);
  return true;
}

// Whether the op's coordinate is decided by the register alone.
static bool coordinate_is_static(const net_op *op, const c_space *space) {
  xor_sum m = xor_sum_of_forms(op->k, op->coordinates, space);
  uint64_t lanes = f2_mask((int)space->l) << space->r;
  return (xor_sum_dynamic_rows(&m) | xor_sum_rows_of(&m, lanes)) == 0;
}

// Takes away the slots that an op touches, unless it exchanges one.
static void exclude_unkeyed_slots(const c_context *context, const plan_pass *p, const net_stage *s,
                                  const net_op *op, const c_space *space, bool *keyed) {
  exchange_kind kind;
  net_reads reads = net_op_reads(context->memory, s, op);
  uint32_t to = p->slot_of[op->outputs[0].value];
  if ((space->l > 0 || context->warps) && is_exchange(s, op, &kind) && to != NET_NONE &&
      p->slot_of[reads.values[0]] == to && coordinate_is_static(op, space))
    return;
  for (uint32_t i = 0; i < reads.count; i++)
    keyed[p->slot_of[reads.values[i]]] = false;
  for (uint32_t i = 0; i < op->output_count; i++)
    if (p->slot_of[op->outputs[i].value] != NET_NONE)
      keyed[p->slot_of[op->outputs[i].value]] = false;
}

uint64_t c_key_of(uint64_t bits, uint32_t bytes) {
  uint64_t sign = bits >> (8 * bytes - 1) & 1;
  return sign ? bits ^ f2_mask((int)(8 * bytes - 1)) : bits;
}

bool *c_keyed_slots(const c_pass *of) {
  const plan_pass *p = of->pass;
  const net_stage *s = of->stage;
  const c_schedule *c = &of->schedule;
  bool warps = of->context->warps;
  bool *keyed = NEW_ARRAY(of->context->memory, bool, p->slot_count);
  for (uint32_t i = 0; i < p->load_count; i++)
    keyed[p->loads[i].slot] =
        scalar_types[c_use_of(of, 0, p->loads[i].slot)->before.type].kind == KIND_FLOAT;
  for (uint32_t i = 0; i < c->phase_count; i++)
    for (uint32_t k = 0; k < c->phases[i].op_count; k++)
      exclude_unkeyed_slots(of->context, p, s, &s->ops.items[p->ops[c->phases[i].first_op + k]],
                            &c->spaces[i], keyed);
  for (uint32_t slot = 0; slot < p->slot_count; slot++) {
    bool made = false, known = true;  // a slot that is only carried has no use for keys
    for (uint32_t i = 0; i < c->phase_count; i++) {
      const c_use *use = c_use_of(of, i, slot);
      known &= c->spaces[i].l > 0 || warps;  // vectors, or threads
      known &= c->spaces[i].r <= 8;          // register numbers are bytes
      made |= use->made;
      known &= !use->made || use->before.type == use->after.type;
    }
    keyed[slot] = keyed[slot] && made && known;
  }
  return keyed;
}

// ---- keys ------------------------------------------------------------------------------------

typedef struct key_names {
  const char *type, *mask, *name;  // "u32x16", "mask_u32x16", "f32x16"
  scalar_type float_type, integer;
  uint32_t bytes, lanes;
} key_names;

static key_names key_names_of(const c_phase *f, uint32_t slot) {
  scalar_type type = f->slots[slot].type;
  key_names n = {.float_type = type, .bytes = scalar_part_bytes(type), .lanes = 1U << f->space->l};
  n.type = c_vector(f->w, n.bytes, n.lanes);
  n.mask = c_mask_type(f->w, n.bytes, n.lanes);
  n.name = c_format(f->w, "%sx%u", scalar_types[type].name, n.lanes);
  n.integer = c_signed_of(n.bytes);
  return n;
}

// Each thread's own elements. Those of 4 bytes are looked at closely if any of them is not finite.
static void find_odd_nan_of_thread(c_phase *f, const key_names *n, const c_registers *s) {
  c_writer *w = f->w;
  uint64_t registers = UINT64_C(1) << f->space->r;
  uint32_t special = w->next++;
  if (n->bytes == 4) {
    c_line(w, "float v%u = 0;", special);
    for (uint64_t i = 0; i < registers; i++)
      c_join(w, "v%u = PERMC_NOT_FINITE(v%u, v%u);", special, special, s->id[i]);
    c_line(w, "if (__builtin_expect(v%u != 0, 0)) {", special);
  }
  for (uint64_t i = 0; i < registers; i++)
    (i ? c_join : c_line)(w, "odd_nan |= odd_nan_%s(v%u);", n->name, s->id[i]);
  if (n->bytes == 4)
    c_line(w, "}");
}

static void find_odd_nan_of_lanes(c_phase *f, const key_names *n, const c_registers *s) {
  c_writer *w = f->w;
  c_function_by(w, "any", "any", n->float_type, n->lanes,
                (const char *[]){c_format(w, "%u", (n->bytes * n->lanes + 7) / 8)});
  uint32_t odd_nan = w->next++;
  c_line(w, "%s v%u = odd_nan_%s(v%u);", n->mask, odd_nan, n->name, s->id[0]);
  for (uint64_t i = 1; i < UINT64_C(1) << f->space->r; i++)
    c_line(w, "v%u = %s(v%u, odd_nan_%s(v%u));", odd_nan,
           c_mask_function(w, OP_OR, n->bytes, n->lanes), odd_nan, n->name, s->id[i]);
  c_line(w, "odd_nan |= any_%s(v%u);", n->name, odd_nan);
}

void c_to_keys(c_phase *f, uint32_t slot) {
  c_writer *w = f->w;
  key_names n = key_names_of(f, slot);
  c_registers *s = &f->slots[slot];
  c_function_of(w, "key", n.float_type, n.lanes);
  c_mask_function(w, OP_AND, n.bytes, n.lanes);
  c_function_of(w, "odd_nan", n.float_type, n.lanes);
  (n.lanes == 1 ? find_odd_nan_of_thread : find_odd_nan_of_lanes)(f, &n, s);
  for (uint64_t i = 0; i < UINT64_C(1) << f->space->r; i++) {
    s->id[i] = c_let(w, n.type, "key_%s(v%u)", n.name, s->id[i]);
  }
}

c_registers c_from_keys(c_phase *f, uint32_t slot) {
  c_writer *w = f->w;
  key_names n = key_names_of(f, slot);
  c_registers s = c_registers_of(w, f->space, f->slots[slot].type);
  c_function_of(w, "key", n.float_type, n.lanes);
  for (uint64_t i = 0; i < UINT64_C(1) << f->space->r; i++) {
    s.id[i] = c_let(w, n.type, "key_%s(v%u)", n.name, f->slots[slot].id[i]);
  }
  return s;
}

// ---- a phase's ops ---------------------------------------------------------------------------

typedef struct pair {
  uint64_t zero, one;  // registers of the elements
  exchange_kind kind;
} pair;

// The pairs of an op: 2^(r-1) of them.
static void list_pairs(const c_phase *f, const net_op *op, pair *out) {
  xor_sum m = xor_sum_of_forms(op->k, op->coordinates, f->space);
  uint64_t direction = 0;
  exchange_kind kind = EXCHANGE_GT;
  bool found = f2_coordinates((int)(f->space->r + f->space->l + f->space->threads), f->space->basis,
                              op->directions[0], &direction) &&
               is_exchange(f->stage, op, &kind);
  assert(found);
  (void)found;
  for (uint64_t i = 0; i < UINT64_C(1) << f->space->r; i++)
    if (xor_sum_rows_at(&m, i) == 0)
      *out++ = (pair){i, i ^ direction, kind};
}

static void write_minima_and_maxima(c_phase *f, const key_names *n, const pair *pairs, size_t count,
                                    const uint32_t *in, const uint32_t *out) {
  c_writer *w = f->w;
  size_t registers = (size_t)1 << f->space->r;
  uint32_t *now = NEW_ARRAY(w->memory, uint32_t, registers);
  memcpy(now, in, registers * sizeof *now);
  for (size_t i = 0; i < count; i++) {
    const pair *p = &pairs[i];
    bool descending = p->kind == EXCHANGE_LE || p->kind == EXCHANGE_LT;
    uint32_t a = now[p->zero], b = now[p->one], first;
    c_end_line(w);
    now[p->zero] = first =
        c_let(w, n->type, "%s(v%u, v%u)", c_minimum(w, descending, n->integer, n->lanes), a, b);
    if (c_by_sum(w, n->integer, n->lanes))
      now[p->one] = c_let(w, n->type, "PERMC_OTHER(v%u, v%u, v%u)", a, b, first);
    else
      now[p->one] =
          c_let(w, n->type, "%s(v%u, v%u)", c_minimum(w, !descending, n->integer, n->lanes), a, b);
  }
  for (size_t i = 0; i < registers; i++)
    c_line(w, "  v%u = v%u;", out[i], now[i]);
}

// The name of the table; equal ones are written once.
static const char *pair_table(c_writer *w, const pair *pairs, size_t count) {
  uint32_t *all = NEW_ARRAY(w->memory, uint32_t, 3 * count);
  for (size_t i = 0; i < count; i++) {
    all[3 * i] = (uint32_t)pairs[i].zero;
    all[3 * i + 1] = (uint32_t)pairs[i].one;
    all[3 * i + 2] = (uint32_t)pairs[i].kind;
  }
  uint64_t hash = hash_bytes(all, 3 * count * sizeof *all);
  const char *name = c_format(w, "pairs_%zu_%016llx", count, (unsigned long long)hash);
  if (!c_define(w, name))
    return name;
  text_printf(&w->definitions, "static const uint8_t %s[%zu][3] = {", name, count);
  for (size_t i = 0; i < count; i++)
    text_printf(&w->definitions, "%s{%u, %u, %u}",
                i == 0  ? ""
                : i % 8 ? ", "
                        : ",\n  ",
                (unsigned)pairs[i].zero, (unsigned)pairs[i].one, (unsigned)pairs[i].kind);
  text_string(&w->definitions, "};\n");
  return name;
}

static void write_slow_loop(c_phase *f, const key_names *n, const pair *pairs, size_t count,
                            const uint32_t *in, const uint32_t *out) {
  c_writer *w = f->w;
  size_t registers = (size_t)1 << f->space->r;
  const char *list = "", *table = pair_table(w, pairs, count);
  c_function_by(w, "exchange", "exchange", n->float_type, n->lanes,
                n->lanes == 1 ? (const char *[]){"noinline", "choose"}
                              : (const char *[]){"noinline, cold", "blend"});
  for (size_t i = 0; i < registers; i++)
    list = c_format(w, "%s%sv%u", list, i ? ", " : "", in[i]);
  c_line(w, "  %s r[%zu] = {%s};", n->type, registers, list);
  c_line(w, "  exchange_%s(r, %s, %zu);", n->name, table, count);
  for (size_t i = 0; i < registers; i++)
    c_line(w, "  v%u = r[%zu];", out[i], i);
}

void c_exchange(c_phase *f, uint32_t slot, uint32_t op_count, const net_op *const *ops) {
  c_writer *w = f->w;
  c_registers *s = &f->slots[slot];
  size_t registers = (size_t)1 << f->space->r, half = registers / 2;
  key_names n = key_names_of(f, slot);
  pair *pairs = NEW_ARRAY(w->memory, pair, half * op_count);
  uint32_t *out = NEW_ARRAY(w->memory, uint32_t, registers);
  assert(f->space->r <= 8);
  for (uint32_t i = 0; i < op_count; i++)
    list_pairs(f, ops[i], pairs + i * half);
  for (size_t i = 0; i < registers; i++) {
    out[i] = w->next++;
    c_line(w, "%s v%u;", n.type, out[i]);
  }
  c_line(w, "if (__builtin_expect(!odd_nan, 1)) {");
  write_minima_and_maxima(f, &n, pairs, half * op_count, s->id, out);
  c_line(w, "} else {");
  write_slow_loop(f, &n, pairs, half * op_count, s->id, out);
  c_line(w, "}");
  s->id = out;
}
