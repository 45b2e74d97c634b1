// Random stages, routines and Nets.
#include "tests/nets/make.h"

// ---- stages ----------------------------------------------------------------------------------

// All elements of an array of 2^n x loops elements, each once.
net_map random_address(arena *a, random_state *r, const net_stage *s) {
  f2_matrix m = random_chance(r, 2) ? random_matrix(r, s->n) : f2_identity(s->n);
  net_map map = {.loop_count = s->loop_count, .row_count = (uint32_t)s->n};
  map.strides = NEW_ARRAY(a, int64_t, map.loop_count);
  map.rows = NEW_ARRAY(a, net_row, map.row_count);
  for (uint32_t i = 0; i < map.row_count; i++)
    map.rows[i] = (net_row){{m.row[i], random_chance(r, 3)}, INT64_C(1) << i};
  int64_t stride = INT64_C(1) << s->n;
  for (uint32_t l = map.loop_count; l-- > 0; stride *= (int64_t)s->extents[l])
    map.strides[l] = stride;
  return map;
}

uint64_t stage_points(const net_stage *s) {
  uint64_t points = UINT64_C(1) << s->n;
  for (uint32_t l = 0; l < s->loop_count; l++)
    points *= s->extents[l];
  return points;
}

static void random_load(arena *a, random_state *r, net *t, net_stage *s, net_id from) {
  net_load load = {.array = from, .padding_start = UINT64_MAX, .map = random_address(a, r, s)};
  scalar_type type = t->arrays.items[from].type;
  load.value = net_value_add(a, s, type);
  if (random_chance(r, 4)) {
    load.padding_start = random_below(r, (uint32_t)t->arrays.items[from].count + 1);
    load.padding_value = random_element(r, type);
    if (random_chance(r, 2))  // as a window, that begins before the array or ends behind it
      load.map.offset = (int64_t)random_below(r, 7) - 3;
  }
  net_row fixed = {{0}, 0};  // a bit of the address that is not of the index
  if (s->n > 0 && random_chance(r, 3))
    fixed = load.map.rows[--load.map.row_count];
  vec_push(a, &s->loads, load);
  for (uint32_t copies = random_below(r, 3); copies > 0; copies--) {
    load.value = net_value_add(a, s, type);
    if (fixed.weight && random_chance(r, 2))
      load.map.offset ^= fixed.weight;
    else if (load.map.row_count > 0 && random_chance(r, 2)) {  // the same where a form is 0
      load.map = net_map_copy(a, &load.map);
      load.map.rows[random_below(r, load.map.row_count)].form.mask ^=
          random_chance(r, 2) ? f2_unit((int)random_below(r, (uint32_t)s->n))
                              : random_word(r) & f2_mask(s->n);
      net_map_normalise(&load.map);
    }
    vec_push(a, &s->loads, load);
  }
}

// A form that is 0 where the op that makes the value is alive; false if it is everywhere.
static bool form_of(const net_stage *s, net_id value, net_form *form) {
  for (size_t i = 0; i < s->ops.count; i++)
    for (uint32_t k = 0; k < s->ops.items[i].output_count; k++)
      if (s->ops.items[i].outputs[k].value == value) {
        if (s->ops.items[i].live_count > 0)
          *form = *s->ops.items[i].live;
        for (uint64_t j = 0; j < UINT64_C(1) << s->ops.items[i].k; j++)
          if (s->ops.items[i].outputs[k].elements[j] == NET_NONE) {
            *form = s->ops.items[i].coordinates[0];
            form->constant ^= !(j & 1);
          }
        return form->mask != 0;
      }
  return false;
}

static void random_store(arena *a, random_state *r, net *t, net_stage *s, net_role role,
                         uint32_t number) {
  net_id value = (net_id)s->values.count - 1 - random_below(r, (uint32_t)s->values.count) / 2;
  net_store store = {.value = value, .padding_start = UINT64_MAX, .map = random_address(a, r, s)};
  store.array = net_array_add(a, t, s->values.items[value], stage_points(s), role, number);
  if (random_chance(r, 20) && role == NET_TEMPORARY)
    store.padding_start = random_below(r, (uint32_t)stage_points(s));
  net_form half = {0, false};
  bool partly = form_of(s, value, &half);
  if (s->n > 0 && (partly || random_chance(r, 3))) {  // two halves, of two values
    if (!partly)
      half = (net_form){1 + random_word(r) % f2_mask(s->n), random_chance(r, 2)};
    store.live = NEW_ARRAY(a, net_form, 2);
    store.live_count = 1;
    store.live[0] = half;
    vec_push(a, &s->stores, store);
    store.live++;
    store.live[0] = (net_form){half.mask, !half.constant};
    for (net_id v = 0; v < s->values.count; v++)
      if (s->values.items[v] == s->values.items[value] && v != value && random_chance(r, 2))
        store.value = v;
  }
  vec_push(a, &s->stores, store);
}

void random_stage(arena *a, random_state *r, net *t, net_stage *s, bool last) {
  random_op o = {.memory = a, .random = r, .net = t, .stage = s};
  size_t arrays = t->arrays.count;
  for (uint32_t i = 0; i < 1 + random_below(r, 3); i++)
    random_load(a, r, t, s, random_below(r, (uint32_t)arrays));
  random_frame frame = random_directions(r, s->n);
  // Of their own: the other ops of a seed do not change.
  random_state halves = {~r->seed}, turned = {~r->seed << 1};
  for (uint32_t i = random_below(r, 7); i > 0; i--) {
    uint32_t most = s->n < 2 ? (uint32_t)s->n : 2;
    o.k = random_below(r, most + 1);
    if (random_chance(r, 3))
      frame = random_directions(r, s->n);
    if (s->n >= 2 && random_chance(r, 4))
      random_basis(r, &frame);
    if (o.k < (uint32_t)s->n && random_chance(r, 4))
      random_part(&o, &frame);
    else if (o.k > 0 && random_chance(r, 5))
      random_sides(&o, &frame);
    else
      random_op_add(&o, &frame);
    if (o.k < (uint32_t)s->n && random_chance(&halves, 6)) {
      o.random = &halves;
      random_halves(&o, &frame);
      o.random = r;
    }
    if (o.k > 0 && o.k < (uint32_t)s->n && random_chance(&turned, 12)) {
      o.random = &turned;
      random_turned(&o, &frame);
      o.random = r;
    }
  }
  for (uint32_t i = 0; i < (last ? 2U : 1U); i++)
    random_store(a, r, t, s, last ? NET_RESULT : NET_TEMPORARY, i);
}

// ---- routines --------------------------------------------------------------------------------

static uint64_t random_divisor(random_state *r, uint64_t n) {
  uint64_t d = 1 + random_below(r, (uint32_t)n);
  while (n % d)
    d--;
  return d;
}

// [p][q] to [q][p], if the array has such lengths.
static bool random_transpose(arena *a, random_state *r, net_routine *o) {
  uint64_t p = random_divisor(r, o->length), q = o->length / p;
  *o = (net_routine){.kind = NET_TRANSPOSE, .rows = 1, .length = o->length, .dimension_count = 2};
  o->dimensions = NEW_ARRAY(a, net_dimension, 2);
  o->dimensions[0] = (net_dimension){q, 1, p};
  o->dimensions[1] = (net_dimension){p, q, 1};
  return p > 1 && q > 1;
}

// In order, with rows of none; a table.
static net_id random_offsets(arena *a, random_state *r, net *t, const net_routine *o) {
  uint32_t each = 1 + random_below(r, 5);
  int64_t *table = NEW_ARRAY(a, int64_t, o->rows * each);
  for (uint64_t i = 0; i < o->rows * each; i++) {
    int64_t least = i % each ? table[i - 1] : 0;
    table[i] = least + (int64_t)random_below(r, (uint32_t)(o->length - (uint64_t)least) + 1);
  }
  net_id offsets = net_array_add(a, t, SCALAR_I64, o->rows * each, NET_TABLE, 0);
  t->arrays.items[offsets].table = table;
  return offsets;
}

// A stage that sorts an array, with a payload or their index, says where its elements go, or
// transposes it.
static void random_routine(arena *a, random_state *r, net *t, uint64_t points) {
  net_id keys = random_below(r, (uint32_t)t->arrays.count);
  scalar_type type = t->arrays.items[keys].type, index = SCALAR_I64;
  net_routine *o = NEW(a, net_routine);
  if (t->arrays.items[keys].count != points)
    return;
  *o = (net_routine){.kind = random_chance(r, 3) ? NET_PLACES : NET_SORT,
                     .rows = random_divisor(r, points),
                     .descending = random_chance(r, 2)};
  o->length = points / o->rows;
  if (!(CLASS_ORD & CLASS_OF(type)) || random_chance(r, 3)) {
    o->length = points;
    if (!random_transpose(a, r, o))
      return;
  } else if (random_chance(r, 2)) {
    o->ragged = true;
    o->offsets = random_offsets(a, r, t, o);
  }
  bool payload = o->kind == NET_SORT && random_chance(r, 2);
  o->pair_count = 1 + payload;
  o->pairs = NEW_ARRAY(a, net_routine_pair, o->pair_count);
  o->pairs[0].from = keys;
  o->pairs[0].to =
      net_array_add(a, t, o->kind == NET_PLACES ? index : type, points, NET_TEMPORARY, 0);
  if (payload)
    o->pairs[1] = (net_routine_pair){random_chance(r, 2) ? keys : NET_NONE, 0};
  if (payload)
    o->pairs[1].to =
        net_array_add(a, t, o->pairs[1].from == keys ? type : index, points, NET_TEMPORARY, 0);
  vec_push(a, &t->stages, ((net_stage){.routine = o}));
}

// ---- nets that store nothing undefined -------------------------------------------------------

net *random_attempt_within(arena *a, random_state *r, uint32_t bits, bool routines) {
  static scalar_type parameters[2] = {SCALAR_F32, SCALAR_I32};
  net *t = NEW(a, net);
  vec_push(a, &t->externs, ((c_function){"m\\\"", "foreign", 2, parameters, SCALAR_F32, NULL}));
  uint32_t stages = 1 + random_below(r, 2), loops = random_below(r, 3);
  net_stage shape = {.n = (int)random_below(r, bits), .loop_count = loops};
  shape.extents = NEW_ARRAY(a, uint64_t, loops);
  for (uint32_t l = 0; l < loops; l++)
    shape.extents[l] = 1 + random_below(r, 3);
  for (uint32_t i = 0; i < 1 + random_below(r, 3); i++)
    net_array_add(a, t, random_type(r), stage_points(&shape), NET_ARGUMENT, i);
  for (uint32_t i = 0; i < stages; i++) {
    net_stage s = shape;
    if (routines)
      random_routine(a, r, t, stage_points(&s));
    random_stage(a, r, t, &s, i + 1 == stages);
    vec_push(a, &t->stages, s);
  }
  return t;
}

net *random_net_within(arena *a, random_state *r, uint32_t bits, bool routines) {
  for (;;) {
    net *t = random_attempt_within(a, r, bits, routines);
    if (!net_verify(a, t) && !net_evaluate(a, t, 0)->garbage)
      return t;
  }
}
