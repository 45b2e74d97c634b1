#include "kernels/ops/node.h"
#include "core/number.h"
#include "core/scalar/root_product.inc"
#include "kernels/ops/root.h"

// ---- values ----------------------------------------------------------------------------------

c_value c_known(scalar_type type, scalar_bits bits) {
  return (c_value){.level = C_KNOWN, .type = type, .known = bits};
}

static uint32_t declare(c_writer *w, uint32_t bytes, uint32_t lanes, const char *expression) {
  c_join(w, "const %s v%u = %s;", c_vector(w, bytes, lanes), w->next, expression);
  return w->next++;
}

static uint32_t declare_mask(c_writer *w, uint32_t bytes, uint32_t lanes, const char *expression) {
  c_join(w, "const %s v%u = %s;", c_mask_type(w, bytes, lanes), w->next, expression);
  return w->next++;
}

static uint64_t known_part(const c_value *v, uint32_t part) {
  uint32_t bytes = scalar_part_bytes(v->type);
  uint64_t bits = 0;
  memcpy(&bits, v->known.bytes + part * bytes, bytes);  // little-endian, as permc is
  return bits;
}

static const char *literal_of(c_writer *w, uint64_t bits, uint32_t bytes) {
  return c_format(w, "UINT%u_C(%s)", bytes * 8, c_number(w, bits));
}

// A variable of one lane.
static uint32_t as_scalar(c_writer *w, const c_value *v, uint32_t part) {
  uint32_t bytes = scalar_part_bytes(v->type);
  return v->level == C_UNIFORM ? v->id[part]
                               : declare(w, bytes, 1, literal_of(w, known_part(v, part), bytes));
}

uint32_t c_as_vector(c_writer *w, const c_value *v, uint32_t part, uint32_t lanes) {
  uint32_t bytes = scalar_part_bytes(v->type);
  if (v->level == C_VECTOR && v->mask)
    return declare(
        w, 1, lanes,
        c_format(w, "%s(v%u)", c_bits_function(w, "bools_of_mask", v->mask, lanes), v->id[0]));
  if (v->level == C_VECTOR || (v->level == C_UNIFORM && lanes == 1))
    return v->id[part];
  const char *scalar = v->level == C_UNIFORM ? c_format(w, "v%u", v->id[part])
                                             : literal_of(w, known_part(v, part), bytes);
  return declare(w, bytes, lanes, c_format(w, "%s(%s)", c_broadcast(w, bytes, lanes), scalar));
}

// The variable with a bool as a mask of `bytes` bytes.
static uint32_t as_mask(c_writer *w, const c_value *v, uint32_t bytes, uint32_t lanes) {
  if (v->level == C_VECTOR && v->mask == bytes)
    return v->id[0];
  if (v->level == C_VECTOR && v->mask)
    return declare_mask(w, bytes, lanes,
                        c_format(w, "%s(v%u)", c_mask_of_mask(w, v->mask, bytes, lanes), v->id[0]));
  uint32_t bools = c_as_vector(w, v, 0, lanes);
  return declare_mask(
      w, bytes, lanes,
      c_format(w, "%s(v%u)", c_bits_function(w, "mask_of_bools", bytes, lanes), bools));
}

// The variable of an operand at a level: a scalar, or a vector.
static uint32_t variable_at_level(c_writer *w, const c_value *v, uint32_t part, c_level level,
                                  uint32_t lanes) {
  return level == C_VECTOR ? c_as_vector(w, v, part, lanes) : as_scalar(w, v, part);
}

static c_level level_of(const c_value *operands, uint32_t count) {
  c_level level = C_KNOWN;
  for (uint32_t i = 0; i < count; i++)
    if (operands[i].level > level)
      level = operands[i].level;
  return level;
}

// ---- lane by lane ----------------------------------------------------------------------------

// Calls a function of c_lane_*; `first` is a first argument more, or "".
static c_value call_lanes(c_writer *w, const char *function, const char *first, uint32_t count,
                          const c_value *operands, scalar_type result, c_level level,
                          uint32_t lanes) {
  c_value out = {.level = level, .type = result};
  const char *arguments = first, *comma = *first ? ", " : "";
  uint32_t bytes = scalar_part_bytes(result), width = level == C_VECTOR ? lanes : 1;
  w->lanes_alone += width > 1 ? width : 0;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t part = 0; part < scalar_parts(operands[i].type); part++, comma = ", ")
      arguments = c_format(w, "%s%sv%u", arguments, comma,
                           variable_at_level(w, &operands[i], part, level, lanes));
  if (scalar_parts(result) == 1) {
    out.id[0] = declare(w, bytes, width, c_format(w, "%s(%s)", function, arguments));
    return out;
  }
  out.id[0] = w->next++;
  out.id[1] = w->next++;
  c_line(w, "%s v%u; %s v%u;", c_vector(w, bytes, width), out.id[0], c_vector(w, bytes, width),
         out.id[1]);
  c_line(w, "%s(%s%s&v%u, &v%u);", function, arguments, comma, out.id[0], out.id[1]);
  return out;
}

// ---- complex numbers -------------------------------------------------------------------------

static c_value part_of(const c_value *v, uint32_t part) {
  c_value out = {.level = v->level, .type = scalar_real_of(v->type), .id = {v->id[part]}};
  uint64_t bits = v->level == C_KNOWN ? known_part(v, part) : 0;
  memcpy(&out.known, &bits, sizeof bits);
  return out;
}

// Divisions by a known number above 0 are products.
static bool divide_scalar(c_writer *w, scalar_op op, const c_value *o, uint32_t lanes,
                          c_value *out) {
  if ((op != OP_DIV && op != OP_MOD) || o[1].level != C_KNOWN ||
      !(CLASS_OF(o[0].type) & CLASS_INTEGER))
    return false;
  uint32_t bytes = scalar_part_bytes(o[0].type);
  uint64_t by = known_part(&o[1], 0);
  if (!by || (c_is_signed(o[0].type) && by >> (8 * bytes - 1)))
    return false;
  *out = (c_value){.level = C_VECTOR, .type = o[0].type};
  uint32_t a = c_as_vector(w, &o[0], 0, lanes);
  out->id[0] =
      declare(w, bytes, lanes, c_format(w, "%s(v%u)", c_division(w, op, o[0].type, lanes, by), a));
  return true;
}

static c_value real_scalar(c_writer *w, scalar_op op, const c_value *operands, uint32_t lanes);

static c_value real_scalar_of_two(c_writer *w, scalar_op op, c_value a, c_value b, uint32_t lanes) {
  return real_scalar(w, op, (c_value[]){a, b}, lanes);
}

// Two parts of one level.
static c_value complex_of_parts(c_writer *w, c_value re, c_value im, uint32_t lanes) {
  c_value parts[2] = {re, im};
  c_level level = level_of(parts, 2);
  c_value out = {.level = level, .type = scalar_complex_of(re.type)};
  if (level == C_KNOWN) {
    uint32_t bytes = scalar_part_bytes(out.type);
    memcpy(out.known.bytes, re.known.bytes, bytes);
    memcpy(out.known.bytes + bytes, im.known.bytes, bytes);
    return out;
  }
  for (uint32_t i = 0; i < 2; i++)
    out.id[i] = variable_at_level(w, &parts[i], 0, level, lanes);
  return out;
}

// The operations that are a few of the parts', in the order of scalar/complex.inc. False: not one.
static bool complex_scalar(c_writer *w, scalar_op op, const c_value *o, uint32_t lanes,
                           c_value *out) {
  c_value a[2] = {part_of(&o[0], 0), part_of(&o[0], 1)}, b[2] = {{0}};
  if (scalar_ops[op].arity == 2 && op != OP_POWI)
    b[0] = part_of(&o[1], 0), b[1] = part_of(&o[1], 1);
  switch (op) {
  case OP_ADD:
  case OP_SUB:
    *out = complex_of_parts(w, real_scalar_of_two(w, op, a[0], b[0], lanes),
                            real_scalar_of_two(w, op, a[1], b[1], lanes), lanes);
    return true;
  case OP_MUL: {
    c_value rr = real_scalar_of_two(w, OP_MUL, a[0], b[0], lanes),
            ii = real_scalar_of_two(w, OP_MUL, a[1], b[1], lanes),
            ri = real_scalar_of_two(w, OP_MUL, a[0], b[1], lanes),
            ir = real_scalar_of_two(w, OP_MUL, a[1], b[0], lanes);
    *out = complex_of_parts(w, real_scalar_of_two(w, OP_SUB, rr, ii, lanes),
                            real_scalar_of_two(w, OP_ADD, ri, ir, lanes), lanes);
    return true;
  }
  case OP_NEG:
    a[0] = real_scalar(w, OP_NEG, &a[0], lanes);
    a[1] = real_scalar(w, OP_NEG, &a[1], lanes);
    *out = complex_of_parts(w, a[0], a[1], lanes);
    return true;
  case OP_CONJ:
    *out = complex_of_parts(w, a[0], real_scalar(w, OP_NEG, &a[1], lanes), lanes);
    return true;
  case OP_RE:
  case OP_IM:
    *out = a[op == OP_IM];
    return true;
  default:
    return false;
  }
}

// ---- operations ------------------------------------------------------------------------------

static c_value fold_constants(scalar_op op, const c_value *o) {
  c_value out = c_known(scalar_result_of(op, o[0].type), (scalar_bits){{0}});
  scalar_apply(op, o[0].type, 1, &o[0].known, &o[1].known, &out.known);
  return out;
}

// Of bools that are bytes or masks of one width, bit by bit.
static bool bool_scalar(c_writer *w, scalar_op op, const c_value *o, uint32_t lanes, c_value *out) {
  static const char *const words[SCALAR_OP_COUNT] = {[OP_AND] = "&", [OP_OR] = "|", [OP_XOR] = "^"};
  if (op != OP_COMPLEMENT && !words[op])
    return false;
  const c_value *b = op == OP_COMPLEMENT ? &o[0] : &o[1];
  uint32_t mask = o[0].level == C_VECTOR ? o[0].mask : b->mask;
  *out = (c_value){.level = C_VECTOR, .type = SCALAR_BOOL, .mask = mask};
  uint32_t x = mask ? as_mask(w, &o[0], mask, lanes) : c_as_vector(w, &o[0], 0, lanes);
  uint32_t y = mask ? as_mask(w, b, mask, lanes) : c_as_vector(w, b, 0, lanes);
  if (mask) {
    const char *function = c_mask_function(w, op, mask, lanes);
    out->id[0] = declare_mask(w, mask, lanes,
                              op == OP_COMPLEMENT ? c_format(w, "%s(v%u)", function, x)
                                                  : c_format(w, "%s(v%u, v%u)", function, x, y));
  } else {
    out->id[0] = declare(w, 1, lanes,
                         op == OP_COMPLEMENT ? c_format(w, "v%u ^ 1", x)
                                             : c_format(w, "v%u %s v%u", x, words[op], y));
  }
  return true;
}

// Shifts by a known count are operators.
static bool shift_scalar(c_writer *w, scalar_op op, const c_value *o, uint32_t lanes,
                         c_value *out) {
  if ((op != OP_SHL && op != OP_SHR) || o[1].level != C_KNOWN)
    return false;
  uint32_t bytes = scalar_part_bytes(o[0].type);
  uint64_t count = known_part(&o[1], 0);
  bool is_signed = scalar_types[o[0].type].kind == KIND_SIGNED && op == OP_SHR;
  *out = (c_value){.level = C_VECTOR, .type = o[0].type};
  if (count >= bytes * 8 && is_signed)
    count = bytes * 8 - 1;
  uint32_t a = c_as_vector(w, &o[0], 0, lanes);
  out->id[0] = count >= bytes * 8
                   ? declare(w, bytes, lanes, c_format(w, "v%u & 0", a))
                   : declare(w, bytes, lanes,
                             c_format(w, "%s(v%u, %llu)", c_shift(w, op, o[0].type, lanes), a,
                                      (unsigned long long)count));
  return true;
}

static c_value real_scalar(c_writer *w, scalar_op op, const c_value *o, uint32_t lanes) {
  uint32_t arity = (uint32_t)scalar_ops[op].arity;
  c_level level = level_of(o, arity);
  c_value out;
  if (level == C_KNOWN)
    return fold_constants(op, o);
  if (level == C_VECTOR && lanes > 1) {
    if (o[0].type == SCALAR_BOOL && bool_scalar(w, op, o, lanes, &out))
      return out;
    if (shift_scalar(w, op, o, lanes, &out) || divide_scalar(w, op, o, lanes, &out))
      return out;
    const char *function = c_vector_function(w, op, o[0].type, lanes);
    if (function) {
      uint32_t bytes = scalar_part_bytes(o[0].type), a = c_as_vector(w, &o[0], 0, lanes);
      out = (c_value){.level = C_VECTOR, .type = scalar_result_of(op, o[0].type)};
      const char *call =
          arity == 1 ? c_format(w, "%s(v%u)", function, a)
                     : c_format(w, "%s(v%u, v%u)", function, a, c_as_vector(w, &o[1], 0, lanes));
      out.mask = c_gives_mask(op) ? bytes : 0;
      out.id[0] = (out.mask ? declare_mask : declare)(w, bytes, lanes, call);
      return out;
    }
  }
  return call_lanes(w, c_lane_function(w, op, o[0].type, level == C_VECTOR ? lanes : 1), "", arity,
                    o, scalar_result_of(op, o[0].type), level, lanes);
}

static c_value scalar_value(c_writer *w, scalar_op op, const c_value *o, uint32_t lanes) {
  c_value out;
  if (op == OP_COMPLEX)
    return complex_of_parts(w, o[0], o[1], lanes);
  if (level_of(o, (uint32_t)scalar_ops[op].arity) == C_KNOWN)
    return fold_constants(op, o);
  if (scalar_parts(o[0].type) == 2 && complex_scalar(w, op, o, lanes, &out))
    return out;
  return real_scalar(w, op, o, lanes);
}

// ---- choosing --------------------------------------------------------------------------------

// A GPU computes minima and selects with one pipe and products with another, which has nothing to
// do in a sorter: two others of three by a - one + b as two products are as much work for both
// (2^24 keys: 4 % faster). As the text gets longer, only where all blocks of a kernel together
// outweigh what it takes to fetch it.
bool c_by_sum(c_writer *w, scalar_type type, uint32_t lanes) {
  return w->sums && lanes == 1 && scalar_part_bytes(type) == 4 && w->others++ % 3 != 0;
}

c_value c_other(c_writer *w, const c_value *a, const c_value *b, const c_value *one,
                uint32_t lanes) {
  c_value out = {.level = C_VECTOR, .type = a->type};
  for (uint32_t part = 0; part < scalar_parts(a->type); part++)
    out.id[part] = declare(w, 4, lanes,
                           c_format(w, "PERMC_OTHER(v%u, v%u, v%u)",
                                    variable_at_level(w, a, part, C_VECTOR, lanes),
                                    variable_at_level(w, b, part, C_VECTOR, lanes), one->id[part]));
  return out;
}

static c_value minimum_value(c_writer *w, bool larger, const c_value *o, uint32_t lanes) {
  c_level level = level_of(o, 2);
  scalar_type type = o[0].type;
  if (level == C_KNOWN) {
    bool le = fold_constants(OP_LE, o).known.b;
    return o[le != larger ? 0 : 1];
  }
  uint32_t bytes = scalar_part_bytes(type), width = level == C_VECTOR ? lanes : 1;
  c_value out = {.level = level, .type = type};
  uint32_t a = variable_at_level(w, &o[0], 0, level, lanes),
           b = variable_at_level(w, &o[1], 0, level, lanes);
  out.id[0] = declare(w, bytes, width,
                      c_format(w, "%s(v%u, v%u)", c_minimum(w, larger, type, width), a, b));
  return out;
}

void c_set_mask_width(c_writer *w, c_value *v, uint32_t bytes, uint32_t lanes) {
  if (v->level != C_VECTOR || !v->mask || lanes == 1)
    return;
  v->id[0] = as_mask(w, v, bytes, lanes);
  v->mask = bytes;
}

static bool is_byte_vector(const c_value *v) { return v->level == C_VECTOR && !v->mask; }

// Of bools of which some are masks, and the others the same for all lanes: bit by bit, as && and ||
// are.
static bool select_bools(c_writer *w, const c_value *c, const c_value *a, const c_value *b,
                         uint32_t lanes, c_value *out) {
  c_value negation, chosen[2];
  if (a->type != SCALAR_BOOL || lanes == 1 || !(c->mask || a->mask || b->mask) ||
      is_byte_vector(c) || is_byte_vector(a) || is_byte_vector(b))
    return false;
  if (a->level == C_KNOWN && a->known.b)
    return bool_scalar(w, OP_OR, (c_value[]){*c, *b}, lanes, out);
  if (b->level == C_KNOWN && !b->known.b)
    return bool_scalar(w, OP_AND, (c_value[]){*c, *a}, lanes, out);
  bool_scalar(w, OP_COMPLEMENT, c, lanes, &negation);
  if (a->level == C_KNOWN)
    return bool_scalar(w, OP_AND, (c_value[]){negation, *b}, lanes, out);
  if (b->level == C_KNOWN)
    return bool_scalar(w, OP_OR, (c_value[]){negation, *a}, lanes, out);
  bool_scalar(w, OP_AND, (c_value[]){*c, *a}, lanes, &chosen[0]);
  bool_scalar(w, OP_AND, (c_value[]){negation, *b}, lanes, &chosen[1]);
  return bool_scalar(w, OP_OR, chosen, lanes, out);
}

c_value c_select(c_writer *w, const c_value *condition, const c_value *a, const c_value *b,
                 uint32_t lanes) {
  if (condition->level == C_KNOWN)
    return condition->known.b ? *a : *b;
  c_level level = level_of((c_value[]){*condition, *a, *b}, 3);
  uint32_t bytes = scalar_part_bytes(a->type), width = level == C_VECTOR ? lanes : 1;
  c_value out = {.level = level, .type = a->type};
  if (select_bools(w, condition, a, b, lanes, &out))
    return out;
  bool varies = condition->level == C_VECTOR && lanes > 1;
  const char *function = c_bits_function(w, varies ? "blend" : "choose", bytes, width);
  uint32_t first = varies ? as_mask(w, condition, bytes, lanes) : condition->id[0];
  for (uint32_t part = 0; part < scalar_parts(a->type); part++)
    out.id[part] = declare(w, bytes, width,
                           c_format(w, "%s(v%u, v%u, v%u)", function, first,
                                    variable_at_level(w, a, part, level, lanes),
                                    variable_at_level(w, b, part, level, lanes)));
  return out;
}

// ---- conversions -----------------------------------------------------------------------------

static c_value convert_value(c_writer *w, scalar_type to, const c_value *v, uint32_t lanes) {
  if (v->type == to)
    return *v;
  if (v->level == C_KNOWN) {
    c_value out = c_known(to, (scalar_bits){{0}});
    scalar_convert(v->type, to, 1, &v->known, &out.known);
    return out;
  }
  if (scalar_parts(to) == 2) {
    c_value zero = c_known(scalar_real_of(to), (scalar_bits){{0}}), re = part_of(v, 0), im = zero;
    if (scalar_parts(v->type) == 2)
      im = part_of(v, 1);
    else
      re = *v;
    re = convert_value(w, scalar_real_of(to), &re, lanes);
    im = convert_value(w, scalar_real_of(to), &im, lanes);
    return complex_of_parts(w, re, im, lanes);
  }
  const char *function = v->level == C_VECTOR ? c_vector_conversion(w, v->type, to, lanes) : NULL;
  if (!function)
    return call_lanes(w, c_lane_conversion(w, v->type, to, v->level == C_VECTOR ? lanes : 1), "", 1,
                      v, to, v->level, lanes);
  c_value out = {.level = C_VECTOR, .type = to};
  out.mask = to == SCALAR_BOOL ? scalar_part_bytes(v->type) : 0;
  const char *call = c_format(w, "%s(v%u)", function, c_as_vector(w, v, 0, lanes));
  out.id[0] = out.mask ? declare_mask(w, out.mask, lanes, call)
                       : declare(w, scalar_part_bytes(to), lanes, call);
  return out;
}

// ---- roots and foreign functions -------------------------------------------------------------

// What computes a root of order m where there is no table of them all; NULL: there is to be one.
static const char *large_root(c_writer *w, scalar_type type, uint64_t m, uint32_t width) {
  enum { MOST_LOW_BITS = 22 };  // of the second table, 64 MiB
  uint32_t bits = (uint32_t)f2_msb(m), low = bits - ROOT_HIGH_BITS;
  if (m >> w->root_bits <= 1 || m >> ROOT_HIGH_BITS <= 1)
    return NULL;
  if (type != SCALAR_C64 || m != f2_unit((int)bits) || low > MOST_LOW_BITS)
    return w->warps ? NULL : c_lane_large_root(w, type, m, 0, 0, 0, width);
  uint32_t high_table = c_root_table(w, SCALAR_C128, f2_unit(ROOT_HIGH_BITS));
  return c_lane_large_root(w, type, m, low, high_table, c_low_root_table(w, m, low), width);
}

static c_value root_value(c_writer *w, const net_node *node, const c_value *k, uint32_t lanes) {
  if (k->level == C_KNOWN)
    return c_known(node->type, scalar_root(node->type, k->known.i64, (int64_t)node->number));
  uint32_t width = k->level == C_VECTOR ? lanes : 1;
  const char *large = large_root(w, node->type, node->number, width);
  if (large)
    return call_lanes(w, large, "imports->roots", 1, k, node->type, k->level, lanes);
  const char *table =
      c_root_table_address(w, node->type == SCALAR_C64 ? "complex_f32" : "complex_f64",
                           c_root_table(w, node->type, node->number));
  return call_lanes(w, c_lane_root(w, node->type, node->number, width), table, 1, k, node->type,
                    k->level, lanes);
}

// 0 - 0 is 0, as roots have it.
static c_value negative(c_writer *w, c_value part, uint32_t lanes) {
  return real_scalar_of_two(w, OP_SUB, c_known(part.type, (scalar_bits){{0}}), part, lanes);
}

c_value c_turned_root(c_writer *w, const c_value *root, unsigned quarters, uint32_t lanes) {
  c_value re = part_of(root, quarters & 1), im = part_of(root, ~quarters & 1);
  if ((quarters + 1) & 2)
    re = negative(w, re, lanes);
  if (quarters & 2)
    im = negative(w, im, lanes);
  return complex_of_parts(w, re, im, lanes);
}

static c_value extern_value(c_writer *w, const net_node *node, const c_value *o, uint32_t lanes) {
  c_level level = level_of(o, node->operand_count);
  level = level == C_KNOWN ? C_UNIFORM : level;
  const char *function = c_lane_extern(w, node->number, level == C_VECTOR ? lanes : 1);
  const char *first = c_format(w, "imports->foreign + %llu", (unsigned long long)node->number);
  return call_lanes(w, function, first, node->operand_count, o, node->type, level, lanes);
}

// Of an array in memory, lane by lane; inside: each place is one of the array's.
static c_value placed_value(c_writer *w, const net_node *node, const c_value *o, bool inside,
                            uint32_t lanes) {
  const net_array *of = &w->net->arrays.items[node->number];
  bool gathers = node->kind == NET_GATHER;
  c_level level = level_of(o, node->operand_count);
  level = level == C_KNOWN ? C_UNIFORM : level;
  uint32_t width = level == C_VECTOR ? lanes : 1;
  const char *function =
      gathers                   ? c_lane_gather(w, of->type, inside ? UINT64_MAX : of->count, width)
      : node->kind == NET_GROUP ? c_lane_group(w, node->scalar, of->type, of->count, width)
                                : c_lane_scatter(w, of->type, of->count, width);
  kernel_record_add(w->record, (kernel_step){.kind = gathers ? STEP_LOAD : STEP_STORE,
                                             .bytes = (uint32_t)scalar_types[of->type].size,
                                             .unit = (uint32_t)scalar_types[of->type].size});
  const char *first = c_format(w, "(%s%s *)%s", gathers ? "const " : "", c_element_type(of->type),
                               c_array_name(w, (net_id)node->number));
  c_value out = call_lanes(w, function, first, node->operand_count, o, node->type, level, lanes);
  if (!gathers || !net_array_has_bytes(of))
    return out;
  out.type = SCALAR_U8;
  return convert_value(w, SCALAR_BOOL, &out, lanes);
}

c_value c_gather_inside(c_writer *w, const net_node *node, const c_value *place, uint32_t lanes) {
  return placed_value(w, node, place, true, lanes);
}

c_value c_node_value(c_writer *w, const net_node *node, const c_value *operands, uint32_t lanes) {
  switch (node->kind) {
  case NET_CONSTANT:
    return c_known(node->type, node->constant);
  case NET_SCALAR:
    return scalar_value(w, node->scalar, operands, lanes);
  case NET_MIN:
  case NET_MAX:
    return minimum_value(w, node->kind == NET_MAX, operands, lanes);
  case NET_SELECT:
    return c_select(w, &operands[0], &operands[1], &operands[2], lanes);
  case NET_CONVERT:
    return convert_value(w, node->type, &operands[0], lanes);
  case NET_ROOT:
    return root_value(w, node, &operands[0], lanes);
  case NET_EXTERN:
    return extern_value(w, node, operands, lanes);
  case NET_GATHER:
  case NET_SCATTER:
  case NET_GROUP:
    return placed_value(w, node, operands, false, lanes);
  case NET_ELEMENT:
  case NET_INDEX:
  case NET_TURN:
  case NET_FOLD:
    break;
  }
  assert(false);
  return (c_value){0};
}

// ---- what depends on the index ---------------------------------------------------------------

static uint64_t coordinates_of_lane(uint64_t x, uint32_t lane_bits, const uint64_t *lane,
                                    uint32_t j) {
  for (uint32_t i = 0; i < lane_bits; i++)
    x ^= j >> i & 1 ? lane[i] : 0;
  return x;
}

static uint32_t index_vector(c_writer *w, const c_bound *b, uint64_t x, uint32_t lane_bits,
                             const uint64_t *lane, uint32_t bytes) {
  uint32_t lanes = 1U << lane_bits;
  const char *type = c_vector(w, bytes, lanes), *list = "";
  for (uint32_t j = 0; j < lanes; j++)
    list = c_format(w, "%s%s(uint%u_t)%s", list, j ? ", " : "", 8 * bytes,
                    c_bound_rest(w, b, coordinates_of_lane(x, lane_bits, lane, j)));
  if (strcmp(b->sum, "0") == 0)
    return declare(w, bytes, lanes, c_format(w, "(%s){%s}", type, list));
  return declare(w, bytes, lanes,
                 c_format(w, "(%s){%s} + %s((uint%u_t)%s)", type, list,
                          c_broadcast(w, bytes, lanes), 8 * bytes, b->sum));
}

c_value c_index_value(c_writer *w, const c_bound *b, uint64_t x, uint32_t lane_bits,
                      const uint64_t *lane, scalar_type type) {
  c_value out = {.level = C_VECTOR, .type = SCALAR_I64};
  uint64_t flipped = 0;
  for (uint32_t i = 0; i < lane_bits; i++)
    flipped |= xor_sum_rows_at(b->map, x) ^ xor_sum_rows_at(b->map, x ^ lane[i]);
  bool constant = c_bound_constant(b, x, &out.known.i64) && strcmp(b->sum, "0") == 0;
  if (flipped != 0) {
    out.type = type;
    out.id[0] = index_vector(w, b, x, lane_bits, lane, scalar_part_bytes(type));
    out.known = (scalar_bits){{0}};
  } else if (constant) {
    out.level = C_KNOWN;
  } else {
    out.level = C_UNIFORM;
    out.id[0] = declare(w, 8, 1, c_format(w, "(uint64_t)(%s + %s)", b->sum, c_bound_rest(w, b, x)));
  }
  return convert_value(w, type, &out, 1U << lane_bits);
}

// Lanes of the index differ by few bits. The rest goes to the other side of the comparison, where a
// number far outside of the lanes' range is as good as the next one outside; or, of some bits of
// the index, counts modulo the power of two above them. So narrow elements do:
//
//   b->sum + {32, 33, ... 47} < 511      {0, 1, ... 15} < 511 - b->sum - 32, but at most 16
//   b->sum + {32, 33, ... 47} & 8 == 0   ({0, 1, ... 15} + (uint8_t)b->sum & 8) == 0
bool c_compare_index(c_writer *w, scalar_op op, const c_bound *b, uint64_t x,
                     const net_index_test *test, uint32_t lane_bits, const uint64_t *lane,
                     uint32_t width, c_value *out) {
  enum { MOST = 1 << 30 };
  int64_t least = INT64_MAX, most = INT64_MIN, part;
  uint32_t lanes = 1U << lane_bits, limit = w->next;
  const char *list = "";
  bool bits = test->mask >= 0;
  for (uint32_t j = 0; j < lanes; j++) {
    if (!c_bound_constant(b, coordinates_of_lane(x, lane_bits, lane, j), &part))
      return false;
    least = part < least ? part : least;
    most = part > most ? part : most;
  }
  if (!bits && (b->map->wraps || magnitude_of(test->with) > UINT64_C(1) << 62 || most == least ||
                (uint64_t)most - (uint64_t)least >= MOST))
    return false;
  int64_t end = bits ? test->mask : most - least + 1;
  uint64_t below = bits ? f2_mask(f2_msb((uint64_t)end | 1) + 1) : UINT64_MAX;
  while (width < 4 && end >> (8 * width - 1))
    width *= 2;
  for (uint32_t j = 0; j < lanes; j++) {
    c_bound_constant(b, coordinates_of_lane(x, lane_bits, lane, j), &part);
    uint64_t own = (uint64_t)part - (bits ? 0 : (uint64_t)least);
    list = c_format(w, "%s%s%llu", list, j ? ", " : "", (unsigned long long)(own & below));
  }
  const char *fill = c_broadcast(w, width, lanes), *left, *right;
  left = c_format(w, "(%s){%s}", c_vector(w, width, lanes), list);
  if (bits) {
    left = c_format(w, "(%s + %s((uint%u_t)%s)) & %s(%lld)", left, fill, 8 * width, b->sum, fill,
                    (long long)end);
    right = c_format(w, "%lld", (long long)test->with);
  } else {
    w->next++;
    c_line(w, "const int64_t v%u = %lld - %s;", limit, (long long)(test->with - least), b->sum);
    right = c_format(w, "(uint%u_t)(v%u < -1 ? -1 : v%u > %lld ? %lld : v%u)", 8 * width, limit,
                     limit, (long long)end, (long long)end, limit);
  }
  *out = (c_value){.level = C_VECTOR, .type = SCALAR_BOOL, .mask = width};
  out->id[0] =
      declare_mask(w, width, lanes,
                   c_format(w, "%s(%s, %s(%s))", c_comparison(w, op, c_signed_of(width), lanes),
                            left, fill, right));
  return true;
}

c_value c_form_value(c_writer *w, const char *bits, uint32_t place, bool constant, uint64_t flipped,
                     uint32_t lane_bits) {
  c_value out = {.level = C_KNOWN, .type = SCALAR_BOOL, .known = {.b = constant}};
  uint32_t lanes = 1U << lane_bits;
  if (flipped == 0 && !bits)
    return out;
  if (flipped == 0) {
    out.level = C_UNIFORM;
    out.id[0] = declare(w, 1, 1, c_format(w, "(%s >> %u & 1) ^ %d", bits, place, constant));
    return out;
  }
  const char *type = c_vector(w, 1, lanes), *list = "";
  for (uint32_t j = 0; j < lanes; j++)
    list = c_format(w, "%s%s%d", list, j ? ", " : "", constant ^ f2_parity(flipped & j));
  list = c_format(w, "(%s){%s}", type, list);
  if (bits)
    list = c_format(w, "%s ^ (uint8_t)(%s >> %u & 1)", list, bits, place);
  out.level = C_VECTOR;
  out.id[0] = declare(w, 1, lanes, list);
  return out;
}
