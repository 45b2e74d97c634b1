// Steps on files (fusion/external/external.h): those of a random Net compute what the Net does, in
// any memory, and each share keeps to its own.
#define RANDOM_NET_BITS 9
#include "tests/unit/memory.h"
#include "tests/unit/net_random.h"

#include "fusion/external/external.h"
#include "fusion/target/target.h"

static size_t steps, by_bits, boxes, partial, several, refused, by_rows, by_loops;

static void show(const net *t, const external *e) {
  text out = {0};
  net_print(&out, t);
  external_print(&out, e);
  printf("%s\n", out.data);
  text_free(&out);
}

// ---- files as arrays in memory --------------------------------------------------------------------

typedef struct simulation {
  const external *e;
  element **files;   // by array of the files
  evaluation inner;  // by array of the net: as the memory of all shares
} simulation;

static element *memory_at(simulation *s, const external_move *m, uint64_t share, uint64_t place) {
  int64_t at = external_origin(m, share) + (int64_t)place;
  bool inside = at >= 0 && (uint64_t)at < s->e->net->arrays.items[m->memory].count;
  return inside ? &s->inner.arrays[m->memory][at] : NULL;
}

static void read_share(simulation *s, const external_move *m, uint64_t share) {
  share_block b;
  for (uint64_t p = 0; p < m->elements; p++)
    if (memory_at(s, m, share, p))
      *memory_at(s, m, share, p) = (element){m->padding, true};
  for (uint64_t i = 0; i < external_block_count(m); i++)
    for (uint64_t k = 0; external_block_at(m, share, i, &b) && k < b.count; k++)
      *memory_at(s, m, share, b.place + k) = s->files[m->file][b.first + k];
}

// What is written of a result, and was not read before, is all stored.
static bool write_share(simulation *s, const external_move *m, uint64_t share) {
  share_block b;
  bool good = true, any = s->inner.garbage || m->partial;
  any = any || s->e->arrays.items[m->file].role != NET_RESULT;
  for (uint64_t i = 0; i < external_block_count(m); i++)
    for (uint64_t k = 0; external_block_at(m, share, i, &b) && k < b.count; k++) {
      element *x = memory_at(s, m, share, b.place + k);
      good = good && b.place + k < m->elements && (any || x->defined);
      s->files[m->file][b.first + k] = *x;
    }
  return good;
}

// ---- what shares touch --------------------------------------------------------------------------

static uint64_t share_of(const net_stage *s, uint64_t loops, uint64_t x) {
  uint64_t inner = 1, turn;
  for (uint32_t l = s->share_outer + 1; l < s->loop_count; l++)
    inner *= s->extents[l];
  if (!s->share_turns)
    return x >> net_share_bits(s);
  turn = loops / inner;
  return turn / s->extents[s->share_outer] * net_shares_of_loop(s) +
         turn % s->extents[s->share_outer] / s->share_turns;
}

// Whether the address is in the memory of the share.
static bool is_in_share(const external_moves *moves, net_id array, uint64_t share, int64_t at) {
  for (size_t i = 0; i < moves->count; i++)
    if (moves->items[i].memory == array) {
      int64_t place = at - external_origin(&moves->items[i], share);
      return place >= 0 && (uint64_t)place < moves->items[i].elements;
    }
  return false;
}

static bool shares_keep_apart(const external *e, const external_step *step) {
  const net_stage *s = &e->net->stages.items[step->stage];
  uint64_t loops = stage_points(s) >> s->n, *o = NEW_ARRAY(&memory, uint64_t, s->loop_count + 1);
  bool good = true;
  for (uint64_t k = 0; k < loops && good; k++)
    for (uint64_t x = 0; x < f2_unit(s->n) && good; x++) {
      net_loop_indices(s, k, o);
      uint64_t share = share_of(s, k, x);
      if (!external_share_acts(step, share))
        continue;
      for (size_t i = 0; i < s->loads.count; i++) {
        const net_load *l = &s->loads.items[i];
        int64_t at = net_map_at(&l->map, o, x);
        bool there = (uint64_t)at < l->padding_start;
        good = good && (!there || e->net->arrays.items[l->array].role == NET_TABLE ||
                        is_in_share(&step->moves, l->array, share, at));
      }
      for (size_t i = 0; i < s->stores.count; i++) {
        const net_store *w = &s->stores.items[i];
        int64_t at = net_map_at(&w->map, o, x);
        bool there = (uint64_t)at < w->padding_start && all_zero(w->live_count, w->live, x);
        good = good && (!there || is_in_share(&step->moves, w->array, share, at));
      }
    }
  return good;
}

// ---- steps --------------------------------------------------------------------------------------

// Shares first, ..., end - 1, all at a time.
static bool simulate_shares(simulation *s, const external_step *step, uint64_t first,
                            uint64_t end) {
  const external *e = s->e;
  bool good = true;
  for (uint64_t share = first; share < end; share++) {
    for (size_t i = 0; i < step->moves.count; i++)
      if (external_move_reads(&step->moves.items[i]))
        read_share(s, &step->moves.items[i], share);
  }
  evaluate_stage(&memory, e->net, &e->net->stages.items[step->stage], &s->inner);
  for (uint64_t share = first; share < end; share++)
    for (size_t i = 0; i < step->moves.count && external_share_acts(step, share); i++)
      if (step->moves.items[i].writes)
        good = CHECK(write_share(s, &step->moves.items[i], share)) && good;
  return good;
}

static bool simulate_stage(simulation *s, const external_step *step) {
  bool good = CHECK(shares_keep_apart(s->e, step));
  uint64_t each = step->shares;
  for (size_t i = 0; i < step->moves.count; i++)
    each = step->moves.items[i].partial ? 1 : each;
  for (uint64_t share = 0; share < step->shares && good; share += each)
    good = simulate_shares(s, step, share, share + each);
  for (size_t i = 0; i < step->moves.count; i++) {
    const external_move *m = &step->moves.items[i];
    *(m->by_bits ? &by_bits : &boxes) += !m->writes;
    partial += m->partial;
  }
  several += step->shares > 1;
  steps++;
  return good;
}

static element **new_arrays(size_t count, const net_array *arrays) {
  element **of = NEW_ARRAY(&memory, element *, count + 1);
  for (size_t i = 0; i < count; i++)
    of[i] = NEW_ARRAY(&memory, element, arrays[i].count);
  return of;
}

static void fill_tables(element **of, size_t count, const net_array *arrays) {
  for (size_t i = 0; i < count; i++)
    for (uint64_t x = 0; arrays[i].role == NET_TABLE && x < arrays[i].count; x++) {
      size_t size = scalar_types[arrays[i].type].size;
      of[i][x].defined = true;
      memcpy(&of[i][x].bits, (const char *)arrays[i].table + x * size, size);
    }
}

static bool simulate(const external *e, const evaluation *arguments, evaluation *out) {
  simulation s = {e,
                  new_arrays(e->arrays.count, e->arrays.items),
                  {new_arrays(e->net->arrays.count, e->net->arrays.items), arguments->garbage}};
  net files = {0};
  files.arrays.items = e->arrays.items;
  files.arrays.count = e->arrays.count;
  evaluation of = {s.files, false};
  bool good = true;
  fill_tables(s.files, e->arrays.count, e->arrays.items);
  fill_tables(s.inner.arrays, e->net->arrays.count, e->net->arrays.items);
  for (size_t i = 0; i < e->arrays.count; i++)
    if (e->arrays.items[i].role == NET_ARGUMENT)
      memcpy(s.files[i], arguments->arrays[i], e->arrays.items[i].count * sizeof(element));
  for (size_t i = 0; i < e->steps.count && good; i++) {
    const net_routine *r = e->steps.items[i].routine;
    if (r && r->kind == NET_TRANSPOSE)
      evaluate_transpose(r, &of);
    else if (r && r->kind == NET_WRONG)
      evaluate_wrong(&files, r, &of);
    else if (r)
      evaluate_routine(&files, r, &of);
    else
      good = simulate_stage(&s, &e->steps.items[i]);
  }
  out->arrays = s.files;
  return good;
}

// ---- the law --------------------------------------------------------------------------------------

static bool check_memory(const net *t, uint64_t bytes, uint64_t seed, bool *made) {
  target disk = *target_named("avx512");
  const char *wrong = "";
  disk.disk_block = 16;
  const external *e = external_make(&memory, t, NULL, &disk, bytes, &wrong);
  *made = e;
  if (!e)
    return CHECK(*wrong);
  const char *problem = external_verify(&memory, e);
  evaluation got;
  evaluation *expected = net_evaluate(&memory, t, seed);
  bool good = CHECK_STR(problem ? problem : "", "") && simulate(e, expected, &got);
  good = good && CHECK(same_results(t, expected, t, &got));
  if (!good) {
    show(t, e);
    printf("%" PRIu64 " bytes\n", bytes);
  }
  return good;
}

static bool check_seed(uint64_t seed) {
  START();
  random_state r = {seed};
  const net *t = random_net_of(&memory, &r, seed % 4 == 0);
  bool made = true, good = true;
  for (uint64_t bytes = 1 << 16; bytes >= 512 && made && good; bytes /= 2)
    good = check_memory(t, bytes, seed, &made);
  if (!good)
    printf("seed %" PRIu64 "\n", seed);
  return good;
}

// ---- loops ----------------------------------------------------------------------------------------

enum { MOST_LOOPS = 4, MOST_DIMENSIONS = MOST_LOOPS + 2 };  // with index bits

// A map that numbers the elements of all loops and bits, some of them backwards; the dimensions are
// in any order, and `apart` leaves something between those of one. *count: above all addresses.
static net_map map_of_loops(random_state *r, const net_stage *s, bool apart, uint64_t *count) {
  uint32_t dimensions = s->loop_count + (uint32_t)s->n, order[MOST_DIMENSIONS] = {0};
  net_map m = {.loop_count = s->loop_count, .row_count = (uint32_t)s->n};
  m.strides = NEW_ARRAY(&memory, int64_t, s->loop_count + 1);
  m.rows = NEW_ARRAY(&memory, net_row, (size_t)s->n + 1);
  *count = 1;
  for (uint32_t i = 0; i < dimensions; i++) {
    uint32_t k = random_below(r, i + 1);
    order[i] = order[k];
    order[k] = i;
  }
  for (uint32_t i = 0; i < dimensions; i++) {
    uint32_t d = order[i];
    uint64_t extent = d < s->loop_count ? s->extents[d] : 2;
    int64_t weight = (int64_t)*count;
    if (apart && random_chance(r, 4)) {
      weight = 0;
      extent = 1;
    } else if (random_chance(r, 3)) {
      m.offset += weight * (int64_t)(extent - 1);
      weight = -weight;
    }
    if (d < s->loop_count)
      m.strides[d] = weight;
    else
      m.rows[d - s->loop_count] =
          (net_row){{f2_unit((int)(d - s->loop_count)), random_chance(r, 4)}, weight};
    *count = *count * extent + (apart ? random_below(r, 3) : 0);
  }
  net_map_normalise(&m);
  return m;
}

static net_id index_node(random_state *r, net_stage *s) {
  uint64_t count;
  net_node node = {.kind = NET_INDEX, .type = SCALAR_I64};
  node.map = map_of_loops(r, s, true, &count);
  return net_node_add(&memory, s, &node);
}

static net_id sum_node(net_stage *s, net_id a, net_id b) {
  net_id operands[2] = {a, b};
  net_node node = {.kind = NET_SCALAR,
                   .type = SCALAR_I64,
                   .scalar = OP_ADD,
                   .operand_count = 2,
                   .operands = operands};
  return net_node_add(&memory, s, &node);
}

// An argument, or a table, some of whose last elements may be padding.
static net_id random_load(random_state *r, net *t, net_stage *s) {
  uint64_t count;
  net_load load = {net_value_add(&memory, s, SCALAR_I64),
                   0,
                   map_of_loops(r, s, true, &count),
                   UINT64_MAX,
                   {{0}}};
  if (random_chance(r, 3)) {
    load.padding_start = 1 + random_below(r, (uint32_t)count);
    count = load.padding_start;
  }
  bool table = random_chance(r, 4);
  uint32_t number = 0;
  for (size_t i = 0; i < t->arrays.count; i++)
    number += (t->arrays.items[i].role == NET_TABLE) == table;
  load.array =
      net_array_add(&memory, t, SCALAR_I64, count, table ? NET_TABLE : NET_ARGUMENT, number);
  if (table) {
    int64_t *elements = NEW_ARRAY(&memory, int64_t, count);
    for (uint64_t i = 0; i < count; i++)
      elements[i] = random_below(r, 100);
    t->arrays.items[load.array].table = (const char *)elements;
  }
  vec_push(&memory, &s->loads, load);
  net_node node = {.kind = NET_ELEMENT, .type = SCALAR_I64, .value = load.value};
  return net_node_add(&memory, s, &node);
}

// A stage that computes one element for each turn of its loops.
static net *random_loops(random_state *r) {
  net *t = NEW(&memory, net);
  net_stage s = {.n = (int)random_below(r, 3), .loop_count = 1 + random_below(r, MOST_LOOPS)};
  uint64_t count;
  s.extents = NEW_ARRAY(&memory, uint64_t, s.loop_count);
  for (uint32_t l = 0; l < s.loop_count; l++)
    s.extents[l] = 1 + random_below(r, 9);
  net_id sum = index_node(r, &s);
  for (uint32_t i = 0; i < 2; i++)
    sum = sum_node(&s, sum, random_load(r, t, &s));
  net_op op = {.output_count = 1, .origin = 0};
  op.outputs = NEW(&memory, net_output);
  op.outputs[0].value = net_value_add(&memory, &s, SCALAR_I64);
  op.outputs[0].elements = NEW(&memory, net_id);
  op.outputs[0].elements[0] = sum;
  vec_push(&memory, &s.ops, op);
  net_store store = {.value = op.outputs[0].value, .padding_start = UINT64_MAX};
  store.map = map_of_loops(r, &s, false, &count);
  store.array = net_array_add(&memory, t, SCALAR_I64, count, NET_RESULT, 0);
  vec_push(&memory, &s.stores, store);
  vec_push(&memory, &t->stages, s);
  return t;
}

static bool check_loops(uint64_t seed) {
  START();
  random_state r = {seed};
  const net *t = random_loops(&r);
  const char *problem = net_verify(&memory, t);
  bool made = true, good = CHECK_STR(problem ? problem : "", "");
  for (uint64_t bytes = 1 << 15; bytes >= 512 && made && good; bytes /= 2) {
    good = check_memory(t, bytes, seed, &made);
    by_loops += made;
  }
  if (!good)
    printf("seed %" PRIu64 "\n", seed);
  return good;
}

// By the least memory, but for tables, that there is.
TEST(loops) {
  uint64_t programs = test_amount(250, 50000), seed = 0;
  while (seed < programs && check_loops(seed))
    seed++;
  CHECK_EQ_U64(by_loops, 7 * programs);
}

// ---- the least memory -----------------------------------------------------------------------------

// The memory that the smallest share of a step has, of steps with several.
static uint64_t least_share(const external *e) {
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < e->steps.count; i++) {
    uint64_t bytes = external_step_memory(e, &e->steps.items[i]);
    if (!e->steps.items[i].routine && e->steps.items[i].shares > 1 && bytes < least)
      least = bytes;
  }
  return least;
}

// Of "...; 4 KiB would do".
static uint64_t least_named(const char *wrong) {
  const char *at = strrchr(wrong, ';'), *units[] = {"bytes", "KiB", "MiB", "GiB"};
  char *unit;
  uint64_t bytes = at ? strtoull(at + 1, &unit, 10) : 0;
  for (int i = 0; bytes && i < 4; i++)
    if (strncmp(unit + 1, units[i], strlen(units[i])) == 0)
      return bytes << 10 * i;
  return 0;
}

// What is named when there is too little memory does; and no share has a small part of it only, so
// that a step has not many more shares than it must: the least tile is 1/128 of the memory, and the
// largest number of elements that is a power of two may be half of one.
static bool check_least(uint64_t seed) {
  enum { LITTLE = 512, PART = 256 };
  START();
  random_state r = {seed};
  const net *t = random_net_of(&memory, &r, seed % 4 == 0);
  target disk = *target_named("avx512");
  const char *wrong = "";
  disk.disk_block = 16;
  if (external_make(&memory, t, NULL, &disk, LITTLE, &wrong))
    return true;
  uint64_t least = least_named(wrong);
  if (!CHECK(least)) {
    printf("seed %" PRIu64 ": %s\n", seed, wrong);
    return false;
  }
  by_rows += strstr(wrong, "by rows") != NULL;
  const external *e = external_make(&memory, t, NULL, &disk, least, &wrong);
  bool good = CHECK(e) && CHECK(least_share(e) >= least / PART);
  if (!good)
    printf("seed %" PRIu64 ": %" PRIu64 " bytes, a share %" PRIu64 "\n", seed, least,
           e ? least_share(e) : 0);
  refused++;
  return good;
}

TEST(least_memory) {
  uint64_t programs = test_amount(500, 20000), seed = 0;
  while (seed < programs && check_least(seed))
    seed++;
  CHECK(refused > programs / 100);
  CHECK(by_rows > 0);
}

TEST(random_nets) {
  uint64_t programs = test_amount(150, 20000), seed = 0;
  while (seed < programs && check_seed(seed))
    seed++;
  CHECK(several > programs);
  CHECK(by_bits > programs);
  CHECK(boxes > programs / 4);
  CHECK(partial > programs / 100);
}

TEST_MAIN()
