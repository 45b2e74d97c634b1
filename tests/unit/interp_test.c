// interp against a model that keeps every value and computes each element by the definition of its
// step, on random traces. (interp_run_test.c: memory, arguments, interruption.)
#include "tests/test.h"

#include "runtime/interp/interp.h"
#include "tests/unit/trace_builder.h"

// ---- the model ----------------------------------------------------------------------------------

typedef struct model_value {
  const trace_step *step;
  uint64_t count, size;  // elements per instance, bytes of one
  unsigned char *data;
} model_value;

static uint64_t product(const uint64_t *dims, uint32_t count) {
  uint64_t p = 1;
  for (uint32_t i = 0; i < count; i++)
    p *= dims[i];
  return p;
}

static unsigned parity(uint64_t x) {
  unsigned p = 0;
  for (int i = 0; i < 64; i++)
    p ^= (unsigned)(x >> i & 1);
  return p;
}

// Element x (of the outermost dimension, `rows` bytes) of instance i.
static unsigned char *at(const model_value *v, uint64_t i, uint64_t x, uint64_t row) {
  return v->data + i * v->count * v->size + x * row;
}

// The instance of operand k that instance i of the step reads.
static uint64_t seen(const model_value *out, const model_value *in, uint64_t i) {
  return i / (out->step->batch / in->step->batch);
}

static void model_root(const trace_step *s, const unsigned char *k, unsigned char *out) {
  int64_t power = 0;
  memcpy(&power, k, sizeof power);
  scalar_bits root = scalar_root(s->type, power, (int64_t)s->number);
  memcpy(out, &root, scalar_types[s->type].size);
}

static void model_scalar(model_value *out, const model_value *const *in) {
  const trace_step *s = out->step;
  for (uint64_t i = 0; i < s->batch; i++) {
    const unsigned char *x[3] = {0};
    for (uint32_t k = 0; k < s->operand_count; k++)
      x[k] = at(in[k], seen(out, in[k], i), 0, 0);
    unsigned char *to = at(out, i, 0, 0);
    if (s->op == TRACE_ROOT)
      model_root(s, x[0], to);
    else if (s->op == TRACE_SCALAR)
      scalar_apply(s->scalar, in[0]->step->type, 1, x[0], x[1], to);
    else if (s->op == TRACE_CONVERT)
      scalar_convert(in[0]->step->type, s->type, 1, x[0], to);
    else
      memcpy(to, *x[0] ? x[1] : x[2], out->size);
  }
}

// The elements of each half in increasing order of their index in the whole (`split`), or back.
static void model_halves(const model_value *whole, const model_value *part, bool split,
                         uint64_t row) {
  uint64_t mask = split ? part->step->number : whole->step->number;
  for (uint64_t i = 0; i < whole->step->batch; i++) {
    uint64_t next[2] = {0, 0};
    for (uint64_t x = 0; x < whole->step->dims[0]; x++) {
      unsigned half = parity(x & mask);
      unsigned char *a = at(whole, i, x, row), *b = at(part, 2 * i + half, next[half]++, row);
      memcpy(split ? b : a, split ? a : b, row);
    }
  }
}

// The pairs in increasing order of their first element's index, which has 0 at the mask's top bit.
static void model_pairs(const model_value *whole, const model_value *part, bool pair,
                        uint64_t row) {
  uint64_t mask = pair ? part->step->number : whole->step->number, top = 1, next = 0;
  while (mask / top > 1)
    top *= 2;
  for (uint64_t i = 0; i < whole->step->batch; i++)
    for (uint64_t x = 0; x < whole->step->dims[0]; x++) {
      if (x & top)
        continue;
      for (int side = 0; side < 2; side++) {
        unsigned char *a = at(whole, i, side ? x ^ mask : x, row),
                      *b = at(part, next, (uint64_t)side, row);
        memcpy(pair ? b : a, pair ? a : b, row);
      }
      next++;
    }
}

static uint64_t model_bmmc(const trace_step *s, uint64_t x) {
  uint64_t y = s->number;
  for (int i = 0; s->dims[0] >> (i + 1) != 0; i++)
    y ^= (uint64_t)parity(s->rows[i] & x) << i;
  return y;
}

// Place x of instance i of the list, if it is one of `length`; else -1.
static int64_t model_place(const model_value *list, uint64_t i, uint64_t x, uint64_t length) {
  int64_t place;
  scalar_convert(list->step->type, SCALAR_I64, 1, at(list, i, x, list->size), &place);
  return place >= 0 && (uint64_t)place < length ? place : -1;
}

static void model_placed(model_value *out, const model_value *const *in, uint64_t i, uint64_t row) {
  const trace_step *s = out->step, *moved = in[1]->step;
  uint64_t list = seen(out, in[0], i), from = seen(out, in[1], i);
  bool gathers = s->op == TRACE_GATHER;
  if (!gathers)
    memcpy(at(out, i, 0, row), at(in[2], seen(out, in[2], i), 0, row), s->dims[0] * row);
  for (uint64_t x = 0; x < (gathers ? s : moved)->dims[0]; x++) {
    int64_t place = model_place(in[0], list, x, (gathers ? moved : s)->dims[0]);
    if (place >= 0)
      memcpy(at(out, i, gathers ? x : (uint64_t)place, row),
             at(in[1], from, gathers ? (uint64_t)place : x, row), row);
    else if (gathers)
      memset(at(out, i, x, row), 0, row);
  }
}

// Steps that keep the number of instances, or repeat them.
static void model_move(model_value *out, const model_value *const *in, uint64_t i, uint64_t row) {
  const trace_step *s = out->step;
  const trace_step *o = in[0]->step;
  uint64_t j = seen(out, in[0], i);
  switch (s->op) {
  case TRACE_BROADCAST:
    memcpy(at(out, i, 0, 0), at(in[0], j, 0, 0), out->count * out->size);
    break;
  case TRACE_ELEMENT:
    row = out->count * out->size;
    memcpy(at(out, i, 0, 0), at(in[0], j, s->number, row), row);
    break;
  case TRACE_BMMC:
    for (uint64_t x = 0; x < s->dims[0]; x++)
      memcpy(at(out, i, model_bmmc(s, x), row), at(in[0], j, x, row), row);
    break;
  case TRACE_PACK:
    for (uint32_t k = 0; k < s->operand_count; k++)
      memcpy(at(out, i, k, row), at(in[k], seen(out, in[k], i), 0, 0), row);
    break;
  case TRACE_TRANSPOSE:
    row /= s->dims[1];
    for (uint64_t x = 0; x < o->dims[0]; x++)
      for (uint64_t y = 0; y < o->dims[1]; y++)
        memcpy(at(out, i, y * o->dims[0] + x, row), at(in[0], j, x * o->dims[1] + y, row), row);
    break;
  case TRACE_SLICE:
    for (uint64_t x = 0; x < s->dims[0]; x++)
      memcpy(at(out, i, x, row), at(in[0], j, s->number + x, row), row);
    break;
  case TRACE_CONCAT:
    for (uint64_t x = 0; x < s->dims[0]; x++)
      memcpy(at(out, i, x, row),
             x < o->dims[0] ? at(in[0], j, x, row)
                            : at(in[1], seen(out, in[1], i), x - o->dims[0], row),
             row);
    break;
  case TRACE_GATHER:
  case TRACE_SCATTER:
    model_placed(out, in, i, row);
    break;
  case TRACE_REPLICATE:
    for (uint64_t x = 0; x < s->dims[0]; x++)
      memcpy(at(out, i, x, row), at(in[0], j, 0, 0), row);
    break;
  default:
    break;
  }
}

static void model_step(model_value *out, const model_value *const *in, const array *arguments) {
  const trace_step *s = out->step;
  uint64_t row = s->rank > 0 && s->dims[0] > 0 ? out->count / s->dims[0] * out->size : 0;
  switch (s->op) {
  case TRACE_ARGUMENT:
    memcpy(out->data, arguments[s->number].data, out->count * out->size);
    break;
  case TRACE_CONSTANT:
    memcpy(out->data, &s->constant, out->size);
    break;
  case TRACE_TABLE:
    memcpy(out->data, s->table, out->count * out->size);
    break;
  case TRACE_SCALAR:
  case TRACE_SELECT:
  case TRACE_CONVERT:
  case TRACE_ROOT:
    model_scalar(out, in);
    break;
  case TRACE_INSTANCE:
    for (uint64_t i = 0; i < s->batch; i++)
      ((int64_t *)(void *)out->data)[i] = (int64_t)(i % s->number);
    break;
  case TRACE_IOTA:
    for (uint64_t i = 0; i < s->dims[0]; i++)
      ((int64_t *)(void *)out->data)[i] = (int64_t)i;
    break;
  case TRACE_RESHAPE:
    memcpy(out->data, in[0]->data, s->batch * out->count * out->size);
    break;
  case TRACE_SPLIT:
    model_halves(in[0], out, true, row);
    break;
  case TRACE_STITCH:
    model_halves(out, in[0], false, row);
    break;
  case TRACE_PAIR:
    model_pairs(in[0], out, true, row);
    break;
  case TRACE_UNPAIR:
    model_pairs(out, in[0], false, row);
    break;
  default:
    for (uint64_t i = 0; i < s->batch; i++)
      model_move(out, in, i, row);
    break;
  }
}

// All values, in the builder's memory.
static model_value *model_run(builder *b, const array *arguments) {
  size_t count = b->trace.steps.count;
  model_value *values = NEW_ARRAY(&b->memory, model_value, count + 1);
  for (size_t i = 0; i < count; i++) {
    const trace_step *s = &b->trace.steps.items[i];
    values[i] = (model_value){s, product(s->dims, s->rank), scalar_types[s->type].size, NULL};
    values[i].data = arena_alloc(&b->memory, s->batch * values[i].count * values[i].size + 1);
    const model_value **in = NEW_ARRAY(&b->memory, const model_value *, s->operand_count + 1);
    for (uint32_t k = 0; k < s->operand_count; k++)
      in[k] = &values[s->operands[k]];
    if (s->batch * values[i].count > 0)
      model_step(&values[i], in, arguments);
  }
  return values;
}

// ---- running and comparing ----------------------------------------------------------------------

enum { MAX_RESULTS = 16 };

static void fill(array *a, uint64_t *state) {
  uint64_t count = product(a->dims, a->rank) * scalar_types[a->type].size;
  scalar_kind kind = scalar_types[a->type].kind;
  bool single = a->type == SCALAR_F32 || a->type == SCALAR_C64;
  for (uint64_t i = 0; i < count; i++) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t random = *state >> 40;
    if (kind == KIND_BOOL)
      ((bool *)a->data)[i] = random & 1;
    else if (kind != KIND_FLOAT && kind != KIND_COMPLEX)
      ((unsigned char *)a->data)[i] = (unsigned char)random;
    else if (single && i % sizeof(float) == 0)  // small numbers: no sum of them is a NaN
      ((float *)a->data)[i / sizeof(float)] = (float)(random % 1000);
    else if (!single && i % sizeof(double) == 0)
      ((double *)a->data)[i / sizeof(double)] = (double)(random % 1000);
  }
}

// Takes new arguments for the trace, runs both, compares the results.
static bool agree(builder *b, uint64_t *state) {
  array arguments[8] = {0}, kept[8] = {0}, results[MAX_RESULTS];
  size_t count = 0;
  for (size_t i = 0; i < b->trace.steps.count; i++) {
    const trace_step *s = &b->trace.steps.items[i];
    if (s->op != TRACE_ARGUMENT || arguments[s->number].data)
      continue;
    array_create(&arguments[s->number], s->type, s->rank, s->dims);
    array_create(&kept[s->number], s->type, s->rank, s->dims);
    fill(&arguments[s->number], state);
    memcpy(kept[s->number].data, arguments[s->number].data,
           product(s->dims, s->rank) * scalar_types[s->type].size);
    count = count > s->number ? count : s->number + 1;
  }
  bool good = test_check_string(trace_verify(&b->memory, &b->trace), NULL, __FILE__, __LINE__,
                                "trace_verify");
  error failure;
  good = good && CHECK(interp_run(&b->trace, arguments, count, results, false, NULL, &failure));
  const model_value *values = good ? model_run(b, kept) : NULL;
  for (size_t i = 0; good && i < b->trace.results.count; i++) {
    const model_value *v = &values[b->trace.results.items[i]];
    good = CHECK_EQ_U64(results[i].type, v->step->type) &&
           CHECK_EQ_U64(results[i].rank, v->step->rank) &&
           CHECK(v->step->rank == 0 ||
                 memcmp(results[i].dims, v->step->dims, v->step->rank * sizeof(uint64_t)) == 0) &&
           CHECK(memcmp(results[i].data, v->data, v->count * v->size) == 0);
    array_destroy(&results[i]);
  }
  for (size_t i = 0; i < count; i++) {
    array_destroy(&arguments[i]);
    array_destroy(&kept[i]);
  }
  if (!good) {
    text printed = {0};
    trace_print(&printed, &b->trace);
    printf("%s", printed.data);
    text_free(&printed);
  }
  return good;
}

// ---- random traces ------------------------------------------------------------------------------

typedef struct generator {
  builder b;
  uint64_t state;
} generator;

static uint64_t pick(generator *g, uint64_t below) {
  g->state = g->state * 6364136223846793005u + 1442695040888963407u;
  return (g->state >> 33) % below;
}

enum { MOST_ELEMENTS = 6000 };

static uint64_t elements(const trace_step *s) { return s->batch * product(s->dims, s->rank); }

static value_id any_value(generator *g) { return (value_id)pick(g, g->b.trace.steps.count); }

// A random divisor.
static uint64_t divisor(generator *g, uint64_t n) {
  uint64_t d = 1 + pick(g, n < 64 ? n : 64);
  if (pick(g, 2))
    d = (uint64_t)1 << pick(g, 10);
  while (n % d != 0)
    d--;
  return d;
}

static value_id random_reshape(generator *g, value_id x, bool one_batch) {
  uint64_t count = elements(step_of(&g->b, x)), dims[3] = {0}, batch = 1;
  uint32_t rank = (uint32_t)pick(g, 4);
  if (count == 0) {
    batch = one_batch ? 1 : pick(g, 2) * 4;
    rank += rank == 0 && batch != 0;
    for (uint32_t i = 0; i < rank; i++)
      dims[i] = (uint64_t)1 << pick(g, 3);
    if (batch != 0)
      dims[pick(g, rank)] = 0;
    return add_reshape(&g->b, x, batch, rank, dims);
  }
  if (!one_batch)
    count /= batch = divisor(g, count);
  for (uint32_t i = 0; i + 1 < rank; i++)
    count /= dims[i] = divisor(g, count);
  if (rank > 0)
    dims[rank - 1] = count;
  else if (one_batch)
    return add_reshape(&g->b, x, 1, 1, &count);
  else
    batch *= count;
  return add_reshape(&g->b, x, batch, rank, dims);
}

static value_id flat(generator *g, value_id x) {
  const trace_step *s = step_of(&g->b, x);
  return s->rank == 0 ? x : add_reshape(&g->b, x, elements(s), 0, NULL);
}

// Another rank-0 value of type `type` that can stand beside x, or x.
static value_id partner(generator *g, value_id x) {
  const trace_step *s = step_of(&g->b, x);
  for (int tries = 0; tries < 8; tries++) {
    value_id y = any_value(g);
    const trace_step *o = step_of(&g->b, y);
    uint64_t big = larger(s->batch, o->batch), small = s->batch + o->batch - big;
    if (o->rank == 0 && o->type == s->type && small != 0 && big % small == 0)
      return y;
  }
  return x;
}

static void random_scalar(generator *g) {
  builder *b = &g->b;
  value_id x = flat(g, any_value(g)), y = partner(g, x);
  scalar_type type = step_of(b, x)->type;
  bool complex = scalar_types[type].kind == KIND_COMPLEX;
  switch (pick(g, type == SCALAR_I64 ? 5 : 4)) {
  case 4:
    add_root(b, x, pick(g, 2) ? SCALAR_C64 : SCALAR_C128, 1 + pick(g, 100));
    break;
  case 0:
    if (CLASS_NUM & CLASS_OF(type))
      add_binary(b, OP_ADD, x, y);
    break;
  case 1:
    add_binary(b, OP_EQ, x, y);
    break;
  case 2:
    for (value_id c = 0; c < b->trace.steps.count; c++) {
      const trace_step *s = step_of(b, c);
      uint64_t batch = larger(step_of(b, x)->batch, step_of(b, y)->batch);
      if (s->type == SCALAR_BOOL && s->rank == 0 && s->batch != 0 && batch % s->batch == 0) {
        add_select(b, c, x, y);
        break;
      }
    }
    break;
  default:
    add_convert(b, x, complex ? SCALAR_C128 : pick(g, 2) ? type : SCALAR_F64);
    break;
  }
}

static void random_matrix(generator *g, uint64_t *rows, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    rows[i] = (uint64_t)1 << i;
  for (uint32_t k = 0; n > 1 && k < 4 * n; k++) {
    uint32_t i = (uint32_t)pick(g, n), j = (uint32_t)pick(g, n);
    if (i != j)
      rows[i] ^= rows[j];
  }
}

static void random_bits_move(generator *g, value_id x) {
  builder *b = &g->b;
  uint64_t length = step_of(b, x)->dims[0], rows[64], batch = step_of(b, x)->batch;
  uint32_t n = 0;
  while (length >> (n + 1) != 0)
    n++;
  switch (pick(g, 5)) {
  case 0:
    if (length > 1)
      add_move(b, TRACE_SPLIT, x, 1 + pick(g, length - 1));
    break;
  case 1:
    if (batch % 2 == 0)
      add_move(b, TRACE_STITCH, x, 1 + pick(g, 2 * length - 1));
    break;
  case 2:
    if (length > 1)
      add_move(b, TRACE_PAIR, x, 1 + pick(g, length - 1));
    break;
  case 3:
    if (length == 2) {
      uint64_t whole = 2;
      while (batch % whole == 0 && whole < 256 && pick(g, 4))
        whole *= 2;
      add_unpair(b, x, whole, 1 + pick(g, whole - 1));
    }
    break;
  default:
    random_matrix(g, rows, n);
    add_bmmc(b, x, rows, pick(g, length));
    break;
  }
}

// With places of any number that the trace has.
static void random_placed(generator *g, value_id x) {
  builder *b = &g->b;
  const trace_step s = *step_of(b, x);
  value_id places = any_value(g), y = any_value(g);
  const trace_step *p = step_of(b, places), *o = step_of(b, y);
  bool divide =
      p->batch != 0 && s.batch != 0 && (s.batch % p->batch == 0 || p->batch % s.batch == 0);
  if (!(CLASS_OF(p->type) & CLASS_INTEGER) || p->rank != 1 || !divide)
    return;
  bool fits =
      o->type == s.type && o->rank == s.rank && o->dims[0] == p->dims[0] && o->batch == s.batch;
  for (uint32_t i = 1; fits && i < s.rank; i++)
    fits = o->dims[i] == s.dims[i];
  if (fits && pick(g, 2))
    add_scatter(b, places, y, x);
  else
    add_gather(b, places, x);
}

static void random_array_move(generator *g, value_id x) {
  builder *b = &g->b;
  const trace_step s = *step_of(b, x);
  uint64_t copies = 1 + pick(g, 5), start = pick(g, s.dims[0] + 1);
  value_id y = any_value(g);
  const trace_step *o = step_of(b, y);
  bool beside = o->type == s.type && o->rank == s.rank && s.batch != 0 && o->batch != 0 &&
                (s.batch % o->batch == 0 || o->batch % s.batch == 0);
  for (uint32_t i = 0; beside && i < s.rank; i++)
    beside = i == 0 || o->dims[i] == s.dims[i];
  switch (pick(g, 8)) {
  case 0:
    add_slice(b, x, start, pick(g, s.dims[0] - start + 1));
    break;
  case 1:
    add_replicate(b, x, pick(g, 8) ? copies : 0);
    break;
  case 2:
    add_broadcast(b, x, s.batch * copies);
    break;
  case 3:
    if (s.rank > 1)
      add_move(b, TRACE_TRANSPOSE, x, 0);
    break;
  case 4:
    if (s.dims[0] > 0)
      add_move(b, TRACE_ELEMENT, x, pick(g, s.dims[0]));
    break;
  case 5:
    add_pack(b, (value_id[]){x, beside && o->dims[0] == s.dims[0] ? y : x, x},
             1 + (uint32_t)pick(g, 3));
    break;
  case 6:
    random_placed(g, x);
    break;
  default:
    add_concat(b, x, beside ? y : x);
    break;
  }
}

// A move may read an operand of a smaller batch than its own.
static void widen_last(generator *g) {
  trace_step *s = &g->b.trace.steps.items[g->b.trace.steps.count - 1];
  bool may = s->op == TRACE_BMMC || s->op == TRACE_ELEMENT || s->op == TRACE_PACK ||
             s->op == TRACE_TRANSPOSE || s->op == TRACE_SLICE || s->op == TRACE_CONCAT ||
             s->op == TRACE_REPLICATE || s->op == TRACE_SCALAR;
  if (may && pick(g, 4) == 0)
    s->batch *= 1 + pick(g, 4);
}

static void random_step(generator *g) {
  builder *b = &g->b;
  value_id x = any_value(g);
  uint64_t kind = pick(g, 10);
  size_t before = b->trace.steps.count;
  if (kind < 3) {
    random_scalar(g);
  } else if (kind < 4) {
    random_reshape(g, x, false);
  } else if (step_of(b, x)->rank == 0) {
    return;
  } else if (kind < 7 && (step_of(b, x)->dims[0] & (step_of(b, x)->dims[0] - 1)) == 0 &&
             step_of(b, x)->dims[0] > 0) {
    random_bits_move(g, x);
  } else {
    random_array_move(g, x);
  }
  if (b->trace.steps.count == before)
    return;
  widen_last(g);
  if (elements(&b->trace.steps.items[b->trace.steps.count - 1]) > MOST_ELEMENTS)
    b->trace.steps.count = before;
}

static bool random_trace(uint64_t seed) {
  generator g = {.state = seed * 0x9e3779b97f4a7c15u};
  builder *b = &g.b;
  builder_start(b);
  for (uint64_t i = 0; i < 1 + pick(&g, 3); i++) {
    uint64_t dims[3] = {(uint64_t)1 << pick(&g, 9), 1 + pick(&g, 4),
                        pick(&g, 8) ? 1 + pick(&g, 4) : 0};
    add_argument(b, i, (scalar_type)pick(&g, SCALAR_COUNT), (uint32_t)pick(&g, 4), dims);
  }
  if (pick(&g, 2))
    add_iota(b, pick(&g, 300));
  if (pick(&g, 2))
    add_instance(b, 1 + pick(&g, 5000), 1 + pick(&g, 100));
  add_constant(b, SCALAR_I64, (scalar_bits){.i64 = 7});
  for (uint64_t i = pick(&g, 40); i > 0; i--)
    random_step(&g);
  for (uint64_t i = pick(&g, 4); i > 0; i--)
    add_result(b, random_reshape(&g, any_value(&g), true));
  for (value_id i = 0; i < b->trace.steps.count; i++)
    if (step_of(b, i)->batch == 1 && pick(&g, 12) == 0 &&
        b->trace.results.count < MAX_RESULTS - 1) {
      add_result(b, i);
      if (pick(&g, 3) == 0)
        add_result(b, i);
    }
  bool good = agree(b, &g.state);
  if (!good)
    printf("seed %" PRIu64 "\n", seed);
  builder_free(b);
  return good;
}

TEST(random_traces) {
  for (uint64_t seed = 1; seed <= 3000; seed++)
    if (!random_trace(seed))
      break;
}

// ---- long and wide moves: past every block size -------------------------------------------------

TEST(long_moves) {
  static const scalar_type types[] = {SCALAR_U8, SCALAR_I16, SCALAR_F32, SCALAR_C64, SCALAR_C128};
  for (uint64_t i = 0; i < 25; i++) {
    generator g = {.state = i};
    builder_start(&g.b);
    uint64_t length = (uint64_t)1 << 16, rows[16], mask = 1 + pick(&g, length - 1);
    value_id xs = add_argument(&g.b, 0, types[i % 5], 1, &length);
    random_matrix(&g, rows, 16);
    value_id halves = add_move(&g.b, TRACE_SPLIT, xs, mask);
    value_id pairs = add_move(&g.b, TRACE_PAIR, xs, mask);
    add_result(&g.b, add_reshape(&g.b, halves, 1, 1, &length));
    add_result(&g.b, add_reshape(&g.b, pairs, 1, 1, &length));
    add_result(&g.b, add_move(&g.b, TRACE_STITCH, halves, mask));
    add_result(&g.b, add_unpair(&g.b, pairs, length, mask));
    add_result(&g.b, add_bmmc(&g.b, xs, rows, mask));
    add_result(&g.b, xs);
    bool good = agree(&g.b, &g.state);
    builder_free(&g.b);
    if (!good)
      break;
  }
}

// Rows of 300,000 bytes.
TEST(wide_moves) {
  generator g = {.state = 1};
  builder *b = &g.b;
  builder_start(b);
  uint64_t dims[2] = {4, 300000}, batch = 2, rows[2] = {3, 2};
  value_id xs = add_argument(b, 0, SCALAR_U8, 2, dims);
  value_id split = add_move(b, TRACE_SPLIT, xs, 3), pair = add_move(b, TRACE_PAIR, xs, 3);
  value_id once[2] = {add_move(b, TRACE_ELEMENT, xs, 2), add_move(b, TRACE_ELEMENT, xs, 1)};
  add_result(b, add_move(b, TRACE_STITCH, split, 3));
  add_result(b, add_unpair(b, pair, 4, 3));
  add_result(b, add_bmmc(b, xs, rows, 1));
  add_result(b, add_move(b, TRACE_TRANSPOSE, xs, 0));
  add_result(b, add_pack(b, once, 2));
  add_result(b, add_replicate(b, once[0], 3));
  add_result(b, add_slice(b, xs, 1, 2));
  add_result(b, add_concat(b, xs, xs));
  dims[0] = 8;
  add_result(b, add_reshape(b, add_broadcast(b, xs, batch), 1, 2, dims));
  agree(b, &g.state);
  builder_free(b);
}

TEST_MAIN()
