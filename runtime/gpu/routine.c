#include "runtime/gpu/routine.h"
#include "core/number.h"
#include "kernels/routines/partition/count.h"
#include "kernels/routines/partition/partition.h"
#include "kernels/routines/sort/sort.h"
#include "kernels/routines/transpose/transpose.h"

// A routine while it is described.
typedef struct routine_making {
  arena *memory;
  const cuda_machine *machine;
  const plan *plan;
  const plan_pass *pass;
  const net_routine *routine;
  uint64_t rows;
  uint32_t shares;  // of its only row; 1: it has all of it
  routine_kernels *out;
  uint32_t array_count;
} routine_making;

// ---- arrays -------------------------------------------------------------------------------------

// As at first: 0, where there is none.
static void forget_arrays(const routine_making *w) {
  for (uint32_t i = 0; i < w->array_count; i++)
    w->out->arrays[i] = (permc_parameter){PERMC_IS_NUMBER, 0, NULL};
}

static void place_array(const routine_making *w, uint32_t number, net_id array) {
  if (array != NET_NONE)
    w->out->arrays[number] = (permc_parameter){PERMC_IS_ARRAY, array, NULL};
}

// One after the other; 0 bytes: there is none.
static void place_temporary(const routine_making *w, uint32_t number, uint64_t bytes) {
  if (!bytes)
    return;
  w->out->arrays[number] = (permc_parameter){PERMC_IS_TEMPORARY, w->out->bytes, NULL};
  w->out->bytes += divide_up(bytes, LAYOUT_ALIGNMENT) * LAYOUT_ALIGNMENT;
}

// Arrays of all shares.
static void place_shared(const routine_making *w, uint32_t first, uint32_t count,
                         const uint64_t *bytes) {
  for (uint32_t i = 0; i < count; i++) {
    w->out->shared[i] = bytes[i];
    if (bytes[i])
      w->out->arrays[first + i] = (permc_parameter){PERMC_IS_SHARED, i, NULL};
  }
}

// The temporary that is 0 before the first launch.
static void place_state(const routine_making *w, uint32_t number, uint64_t bytes) {
  w->out->clear_at = w->out->bytes;
  w->out->clear_bytes = bytes;
  place_temporary(w, number, bytes);
}

static uint32_t element_bytes(const routine_making *w, net_id array) {
  return (uint32_t)scalar_types[w->plan->arrays.items[array].type].size;
}

static routine_launch *make_launches(const routine_making *w, uint32_t count) {
  w->out->launch_count = count;
  return w->out->launches = NEW_ARRAY(w->memory, routine_launch, count);
}

// What goes with each key.
static sort_moved moved_of(const routine_making *w, net_routine_pair pair) {
  const net_routine *r = w->routine;
  uint64_t count = w->plan->arrays.items[pair.to].count / (r->rows * r->length);
  return (sort_moved){(uint32_t)count * element_bytes(w, pair.to), pair.from == NET_NONE};
}

// ---- sorts --------------------------------------------------------------------------------------

static void describe_sort(const routine_making *w) {
  const plan *p = w->plan;
  const net_routine *r = w->routine;
  sort_kernels k;
  bool sorts = r->kind == NET_SORT;
  sort_moved *payloads = NEW_ARRAY(w->memory, sort_moved, r->pair_count);
  if (!sorts && r->kind != NET_PLACES)
    return;
  for (uint32_t i = 1; i < r->pair_count; i++)
    payloads[i - 1] = moved_of(w, r->pairs[i]);
  sort_work work = {.type = p->arrays.items[r->pairs[0].from].type,
                    .descending = r->descending,
                    .bits = r->limit ? plan_routine_bits(p, r) : 0,
                    .rows = w->rows,
                    .length = r->length / w->shares,
                    .shares = w->shares,
                    .offsets = r->ragged ? p->arrays.items[r->offsets].count / r->rows : 0,
                    .multiprocessors = w->machine->multiprocessors,
                    .shared_bytes = w->machine->shared_per_block,
                    .wants_keys = sorts && r->pairs[0].to != NET_NONE,
                    .wants_places = !sorts,
                    .payload_count = r->pair_count - 1,
                    .payloads = payloads};
  if (sort_kernels_of(&work, &k))
    return;
  sort_kernels_write(&w->out->code, &k);
  sort_launches(&k, make_launches(w, sort_launch_count(&k)));
  for (uint32_t i = 0; i < SORT_STATE; i++)
    place_temporary(w, i, k.bytes[i]);
  place_state(w, SORT_STATE, k.bytes[SORT_STATE]);
  place_shared(w, SORT_RUNS, SORT_PAYLOADS - SORT_RUNS, k.bytes + SORT_RUNS);
  place_array(w, SORT_KEYS, r->pairs[0].from);
  place_array(w, sorts ? SORT_SORTED : SORT_PLACES, r->pairs[0].to);
  if (r->ragged)
    place_array(w, SORT_OFFSETS, r->offsets);
  for (uint32_t i = 1; i < r->pair_count; i++) {
    place_array(w, SORT_PAYLOADS + 2 * (i - 1), r->pairs[i].from);
    place_array(w, SORT_PAYLOADS + 2 * (i - 1) + 1, r->pairs[i].to);
  }
}

// ---- sorts by few keys --------------------------------------------------------------------------

static void add_input(const routine_making *w, partition_work *work, net_id array) {
  work->input_bytes[work->input_count] = element_bytes(w, array);
  work->input_is_truth[work->input_count] = net_array_has_bytes(&w->plan->arrays.items[array]);
  place_array(w, PARTITION_FIRST_INPUT + work->input_count++, array);
}

// Of what keys are made: elements of the arrays that the pass before it would read, or keys.
static bool add_inputs(const routine_making *w, partition_work *work) {
  text key = {0};
  bool good = true;
  if (!w->pass->keys_from) {
    add_input(w, work, w->routine->pairs[0].from);
    partition_keys_write(&key, work->input_bytes[0], work->bits);
  } else {
    uint32_t maker = w->pass->keys_from - 1;
    const net_stage *s = &w->plan->net->stages.items[w->plan->passes.items[maker].stage];
    for (size_t i = 0; i < s->loads.count; i++)
      add_input(w, work, s->loads.items[i].array);
    good = c_emit_keys(&key, w->plan, maker);
  }
  work->key_text = arena_text(w->memory, &key);
  return good;
}

static void add_moved(const routine_making *w, partition_work *work, partition_moved *moved,
                      partition_moved m, net_routine_pair pair) {
  uint32_t number = PARTITION_FIRST_PAYLOAD + 2 * work->payload_count;
  m.input = PARTITION_NO_INPUT;
  for (uint32_t i = 0; i < work->input_count && !m.numbers; i++)
    if (w->out->arrays[PARTITION_FIRST_INPUT + i].value == pair.from &&
        work->input_bytes[i] == m.bytes)
      m.input = i;
  moved[work->payload_count++] = m;
  if (!m.numbers)
    place_array(w, number, pair.from);
  place_array(w, number + 1, pair.to);
}

// False: it is none.
static bool describe_partition(const routine_making *w) {
  const net_routine *r = w->routine;
  partition_moved moved[PARTITION_MOST_PAYLOADS];
  partition_kernels k;
  partition_work work = {.bits = plan_routine_bits(w->plan, r),
                         .rows = w->rows,
                         .length = r->length,
                         .multiprocessors = w->machine->multiprocessors,
                         .wants_places = r->kind == NET_PLACES,
                         .payloads = moved};
  if (!plan_routine_is_partition(r) || !add_inputs(w, &work))
    return false;
  if (r->kind == NET_SORT && r->pairs[0].to != NET_NONE)
    add_moved(w, &work, moved, (partition_moved){.bytes = work.input_bytes[0]}, r->pairs[0]);
  for (uint32_t i = 1; i < r->pair_count - r->counts; i++) {
    sort_moved m = moved_of(w, r->pairs[i]);
    add_moved(w, &work, moved, (partition_moved){m.bytes, m.numbers, 0}, r->pairs[i]);
  }
  if (!partition_kernels_of(&work, &k))
    return false;
  partition_kernels_write(&w->out->code, &k);
  partition_launches(&k, make_launches(w, PARTITION_LAUNCHES));
  place_state(w, PARTITION_STATE, k.state_bytes);
  if (r->counts)
    place_array(w, PARTITION_TOTALS, r->pairs[r->pair_count - 1].to);
  if (work.wants_places)
    place_array(w, PARTITION_PLACED, r->pairs[0].to);
  return w->out->makes_keys = true;
}

// ---- counts, transposes -------------------------------------------------------------------------

static void describe_count(const routine_making *w) {
  const net_routine *r = w->routine;
  count_kernels k = {w->plan->arrays.items[r->pairs[0].from].type, w->rows, r->length, r->limit,
                     w->machine->multiprocessors};
  count_kernels_write(&w->out->code, &k);
  count_launches(&k, make_launches(w, COUNT_LAUNCHES));
  place_array(w, COUNT_KEYS, r->pairs[0].from);
  place_array(w, COUNT_COUNTS, r->pairs[0].to);
}

static void describe_transpose(const routine_making *w) {
  const net_routine *r = w->routine;
  transpose_kernel k;
  transpose_kernel_of(element_bytes(w, r->pairs[0].from), r->dimension_count, r->dimensions, &k);
  transpose_kernel_write(&w->out->code, &k);
  *make_launches(w, 1) = transpose_launch(&k);
  place_array(w, TRANSPOSE_FROM, r->pairs[0].from);
  place_array(w, TRANSPOSE_TO, r->pairs[0].to);
}

// ---- the whole ----------------------------------------------------------------------------------

static void describe(routine_making *w) {
  const net_routine *r = w->routine;
  uint32_t arrays = SORT_PAYLOADS + 2 * r->pair_count;
  net_routine rest, count;
  w->array_count = arrays > PARTITION_ARRAYS ? arrays : PARTITION_ARRAYS;
  *w->out = (routine_kernels){.code.memory = w->memory};
  w->out->arrays = NEW_ARRAY(w->memory, permc_parameter, w->array_count);
  forget_arrays(w);
  if (r->kind == NET_COUNT)
    describe_count(w);
  else if (r->kind == NET_TRANSPOSE)
    describe_transpose(w);
  else if ((w->shares > 1 || !describe_partition(w)) && r->counts) {
    net_routine_split(r, &rest, &count);
    w->routine = &rest;
    describe(w);
    w->routine = &count;
    w->out = w->out->next = NEW(w->memory, routine_kernels);
    describe(w);
  } else if (!w->out->makes_keys)
    forget_arrays(w), describe_sort(w);
}

void routine_describe(routine_kernels *out, arena *memory, const cuda_machine *m, const plan *p,
                      const plan_pass *pass, uint32_t parts) {
  const net_routine *r = plan_routine_of(p, pass);
  bool by_rows = r->rows % parts == 0;
  uint64_t rows = by_rows ? r->rows / parts : 1;
  routine_making w = {memory, m, p, pass, r, rows, by_rows ? 1 : parts, out, 0};
  describe(&w);
}
