// Plans from text: the form of plan/print.c. Nothing here checks more than that the text can be
// kept as a Plan (plan_verify does the rest).
#include "fusion/plan/padding.h"
#include "tests/readers/reader.h"
#include "tests/readers/readers.h"

#include <ctype.h>
#include <inttypes.h>

typedef struct plan_reader {
  reader in;
  plan *plan;
  size_t planned;          // stages whose strategy has been read
  const net_stage *stage;  // of the pass
  plan_pass *pass;         // being read; NULL before the first
  VEC(uint32_t) slots, ops;
  VEC(plan_move) loads, stores;
  VEC(plan_phase) phases;
  uint64_t *exchange;  // before the next phase
} plan_reader;

// ---- vectors ---------------------------------------------------------------------------------

typedef VEC(uint64_t) vectors;

static void read_vectors(plan_reader *r, vectors *into) {
  if (read_word(&r->in, "none"))
    return;
  for (read_skip(&r->in); isdigit((unsigned char)*r->in.at); read_skip(&r->in)) {
    uint64_t x = read_number(&r->in);
    if (x & ~f2_mask(r->stage->n))
      read_fail(&r->in, "the stage has no index 0x%" PRIx64, x);
    vec_push(r->in.memory, into, x);
  }
}

static vectors read_counted_vectors(plan_reader *r, size_t expected) {
  vectors v = {0};
  read_vectors(r, &v);
  if (v.count != expected)
    read_fail(&r->in, "expected %zu vectors, found %zu", expected, v.count);
  return v;
}

static void read_own_number(plan_reader *r, size_t expected) {
  if (read_number(&r->in) != expected)
    read_fail(&r->in, "expected number %zu", expected);
}

static size_t dimension(const plan_reader *r) { return (size_t)r->pass->tile.dimension; }

// ---- the lines of a pass ---------------------------------------------------------------------

// The value that a slot holds before the pass's ops, or after them.
// The value that a direct load's op reads in its slot, and nobody has made; the load's op is from
// here on one of the pass.
static void find_direct_value(plan_reader *r, plan_move *m) {
  uint32_t op = m->direct - 1;
  if (r->pass->op_count == 0 || op < r->pass->ops[0] || op - r->pass->ops[0] >= r->pass->op_count)
    read_fail(&r->in, "op %" PRIu32 " is none of the pass", op);
  net_reads reads = net_op_reads(r->in.memory, r->stage, &r->stage->ops.items[op]);
  net_uses uses = net_uses_of(r->in.memory, r->stage);
  m->direct = op - r->pass->ops[0] + 1;
  m->value = NET_NONE;
  for (uint32_t i = 0; i < reads.count; i++)
    if (r->pass->slot_of[reads.values[i]] == m->slot &&
        uses.values[reads.values[i]].maker == NET_NONE)
      m->value = reads.values[i];
  if (m->value == NET_NONE)
    read_fail(&r->in, "op %" PRIu32 " loads nothing in slot %" PRIu32, op, m->slot);
}

static net_id value_in_slot(const plan_reader *r, uint32_t slot, bool after) {
  net_id found = NET_NONE;
  bool *made = NEW_ARRAY(r->in.memory, bool, r->stage->values.count + 1);
  for (uint32_t i = 0; i < r->pass->op_count; i++) {
    const net_op *op = &r->stage->ops.items[r->pass->ops[i]];
    for (uint32_t o = 0; o < op->output_count; o++) {
      net_id v = op->outputs[o].value;
      made[v] = true;
      found = after && r->pass->slot_of[v] == slot ? v : found;
    }
  }
  for (uint32_t i = 0; i < r->pass->load_count; i++)
    if (r->pass->loads[i].direct && r->pass->loads[i].value != NET_NONE)
      made[r->pass->loads[i].value] = true;
  for (net_id v = 0; found == NET_NONE && v < r->stage->values.count; v++)
    found = !made[v] && r->pass->slot_of[v] == slot ? v : NET_NONE;
  return found;
}

static void end_pass(plan_reader *r) {
  if (!r->pass)
    return;
  if (!r->pass->blocks && r->stage->n > r->pass->tile.dimension)
    read_fail(&r->in, "before this line, a pass has no blocks");
  r->pass->slot_bytes = r->slots.items;
  r->pass->slot_count = (uint32_t)r->slots.count;
  r->pass->loads = r->loads.items;
  r->pass->load_count = (uint32_t)r->loads.count;
  r->pass->stores = r->stores.items;
  r->pass->store_count = (uint32_t)r->stores.count;
  r->pass->ops = r->ops.items;
  r->pass->op_count = (uint32_t)r->ops.count;
  r->pass->phases = r->phases.items;
  r->pass->phase_count = (uint32_t)r->phases.count;
  for (uint32_t i = 0; i < r->pass->load_count; i++)
    if (r->pass->loads[i].direct)
      find_direct_value(r, &r->pass->loads[i]);
  for (uint32_t i = 0; i < r->pass->load_count; i++)
    if (!r->pass->loads[i].direct)
      r->pass->loads[i].value = value_in_slot(r, r->pass->loads[i].slot, false);
  for (uint32_t i = 0; i < r->pass->store_count; i++)
    r->pass->stores[i].value = value_in_slot(r, r->pass->stores[i].slot, true);
  plan_find_accesses(r->in.memory, r->stage, r->pass);
  vec_push(r->in.memory, &r->plan->passes, *r->pass);
}

#define FORGET(v) ((v).items = NULL, (v).count = (v).capacity = 0)

static void read_pass(plan_reader *r) {
  end_pass(r);
  r->pass = NEW(r->in.memory, plan_pass);
  r->pass->padding_start = UINT64_MAX;
  read_own_number(r, r->plan->passes.count);
  read_expect(&r->in, "of stage");
  r->pass->stage = read_small_number(&r->in);
  if (r->pass->stage >= r->plan->net->stages.count)
    read_fail(&r->in, "there is no stage %" PRIu32, r->pass->stage);
  if (read_literal(&r->in, "as pass"))
    r->pass->repeats = read_small_number(&r->in) + 1;
  read_expect(&r->in, "seconds");
  r->pass->seconds = read_real(&r->in);
  r->stage = &r->plan->net->stages.items[r->pass->stage];
  r->in.loop_count = r->stage->loop_count;
  r->pass->slot_of = NEW_ARRAY(r->in.memory, uint32_t, r->stage->values.count + 1);
  for (size_t v = 0; v < r->stage->values.count; v++)
    r->pass->slot_of[v] = NET_NONE;
  r->pass->tile = f2_space_zero(r->stage->n);
  FORGET(r->slots);
  FORGET(r->ops);
  FORGET(r->loads);
  FORGET(r->stores);
  FORGET(r->phases);
  r->exchange = NULL;
}

static void read_tile(plan_reader *r) {
  vectors v = {0};
  if (r->pass->blocks || r->phases.count || r->exchange)
    read_fail(&r->in, "a tile stands before what refers to it");
  read_vectors(r, &v);
  r->pass->tile = f2_span(r->stage->n, (int)v.count, v.items);
  if ((size_t)r->pass->tile.dimension != v.count)
    read_fail(&r->in, "the tile's vectors are dependent");
}

static void read_blocks(plan_reader *r) {
  r->pass->blocks = read_counted_vectors(r, (size_t)r->stage->n - dimension(r)).items;
}

// A number, or two with a dash between them.
static uint32_t read_range(plan_reader *r, const char *letter, size_t count, uint32_t *first) {
  read_expect(&r->in, letter);
  *first = read_small_number(&r->in);
  uint32_t last = *first;
  if (read_literal(&r->in, "-")) {
    read_expect(&r->in, letter);
    last = read_small_number(&r->in);
  }
  if (last < *first || last >= count)
    read_fail(&r->in, "the stage has no %s%" PRIu32 "-%s%" PRIu32, letter, *first, letter, last);
  return last;
}

static void read_slot(plan_reader *r) {
  uint32_t bytes, first;
  read_own_number(r, r->slots.count);
  read_expect(&r->in, "bytes");
  bytes = read_small_number(&r->in);
  read_expect(&r->in, "values");
  while (!read_at_end(&r->in)) {
    uint32_t last = read_range(r, "v", r->stage->values.count, &first);
    for (uint32_t v = first; v <= last; v++)
      r->pass->slot_of[v] = (uint32_t)r->slots.count;
  }
  vec_push(r->in.memory, &r->slots, bytes);
}

static void check_bits(plan_reader *r, uint64_t mask) {
  if (mask & ~f2_mask(r->stage->n))
    read_fail(&r->in, "the stage has no index bit x%d", f2_msb(mask));
}

static uint32_t read_live(plan_reader *r, net_form **live) {
  uint32_t count = read_forms(&r->in, live);
  for (uint32_t i = 0; i < count; i++)
    check_bits(r, (*live)[i].mask);
  return count;
}

static plan_move read_move(plan_reader *r, bool load) {
  plan_move m = {.padding_start = UINT64_MAX};
  read_expect(&r->in, "slot");
  m.slot = read_small_number(&r->in);
  read_expect(&r->in, load ? "from" : "in");
  read_expect(&r->in, "a");
  m.array = read_small_number(&r->in);
  if (m.array >= r->plan->arrays.count)
    read_fail(&r->in, "there is no array a%" PRIu32, m.array);
  read_expect(&r->in, "at");
  m.map = read_map(&r->in);
  for (uint32_t i = 0; i < m.map.row_count; i++)
    check_bits(r, m.map.rows[i].form.mask);
  if (read_literal(&r->in, "padded from")) {
    m.padding_start = read_number(&r->in);
    if (load) {
      read_expect(&r->in, "with");
      m.padding_value = read_constant(&r->in, read_type(&r->in));
    }
  }
  if (read_literal(&r->in, "live"))
    m.live_count = read_live(r, &m.live);
  if (load && read_literal(&r->in, "direct op")) {
    m.direct = read_small_number(&r->in) + 1;
    return m;
  }
  m.coalesced = read_literal(&r->in, "coalesced");
  if (!m.coalesced)
    read_expect(&r->in, "scattered");
  return m;
}

static void read_load(plan_reader *r) { vec_push(r->in.memory, &r->loads, read_move(r, true)); }
static void read_store(plan_reader *r) { vec_push(r->in.memory, &r->stores, read_move(r, false)); }

static void read_exchange(plan_reader *r) {
  read_expect(&r->in, "address bits");
  r->exchange = read_counted_vectors(r, dimension(r)).items;
}

static void read_phase(plan_reader *r) {
  plan_phase f = {.first_op = (uint32_t)r->ops.count, .exchange = r->exchange};
  vectors basis = {0};
  uint32_t first;
  read_own_number(r, r->phases.count);
  read_expect(&r->in, "ops");
  read_word(&r->in, "none");
  for (read_skip(&r->in); isdigit((unsigned char)*r->in.at); read_skip(&r->in)) {
    uint32_t last = read_range(r, "", r->stage->ops.count, &first);
    for (uint32_t i = first; i <= last; i++)
      vec_push(r->in.memory, &r->ops, i);
  }
  f.op_count = (uint32_t)r->ops.count - f.first_op;
  read_expect(&r->in, "registers");
  read_vectors(r, &basis);
  f.r = (uint32_t)basis.count;
  read_expect(&r->in, "lanes");
  read_vectors(r, &basis);
  f.l = (uint32_t)basis.count - f.r;
  read_expect(&r->in, "threads");
  read_vectors(r, &basis);
  if (basis.count != dimension(r))
    read_fail(&r->in, "the tile has %zu dimensions, not %zu", dimension(r), basis.count);
  f.basis = basis.items;
  r->exchange = NULL;
  vec_push(r->in.memory, &r->phases, f);
}

static void read_pass_live(plan_reader *r) { r->pass->live_count = read_live(r, &r->pass->live); }
static void read_pass_padding(plan_reader *r) {
  read_expect(&r->in, "from");
  r->pass->padding_start = read_number(&r->in);
}

// ---- the lines before the passes -------------------------------------------------------------

static const char *read_name(plan_reader *r) {
  read_skip(&r->in);
  size_t length = read_word_length(r->in.at);
  const char *name = arena_copy(r->in.memory, r->in.at, length);
  r->in.at += length;
  return name;
}

static void read_target(plan_reader *r) {
  target *t = NEW(r->in.memory, target);
  t->name = read_name(r);
  while (!read_at_end(&r->in)) {
    const char *field = read_name(r), *value = read_name(r), *wrong = NULL;
    if (!target_set_field(t, field, value, &wrong))
      read_fail(&r->in, "a target has no field '%s'", field);
    if (wrong)
      read_fail(&r->in, "%s is %s, not '%s'", field, wrong, value);
  }
  r->plan->target = t;
}

static void set_free_padding(plan_reader *r, size_t stage) {
  padding found = padding_find(r->in.memory, r->plan->net, &r->plan->net->stages.items[stage]);
  if (found.start == UINT64_MAX || found.first_op != NET_NONE)
    read_fail(&r->in, "the padding of stage %zu is not free", stage);
  r->plan->padding_values[stage] = found.values;
}

// Of the next stage.
static void read_strategy(plan_reader *r) {
  size_t stage = r->planned++;
  read_own_number(r, stage);
  read_expect(&r->in, "strategy");
  if (stage >= r->plan->net->stages.count)
    read_fail(&r->in, "there are %zu stages", r->plan->net->stages.count);
  r->plan->strategy[stage] = read_name(r);
  read_expect(&r->in, "padding");
  plan_padding p = PADDING_NONE;
  while (p <= PADDING_STORED && !read_word(&r->in, plan_padding_names[p]))
    p++;
  if (p > PADDING_STORED)
    read_fail(&r->in, "expected what padding costs stage %zu: none, free or stored", stage);
  r->plan->padding[stage] = p;
  if (p == PADDING_FREE)
    set_free_padding(r, stage);
}

static void read_array_line(plan_reader *r) {
  net_array a = read_array(&r->in, r->plan->arrays.count);
  vec_push(r->in.memory, &r->plan->arrays, a);
}

// ---- the whole -------------------------------------------------------------------------------

static const struct {
  const char *word;
  bool in_pass;
  void (*read)(plan_reader *r);
} lines[] = {
    {"target", false, read_target},      {"stage", false, read_strategy},
    {"array", false, read_array_line},   {"pass", false, read_pass},
    {"tile", true, read_tile},           {"blocks", true, read_blocks},
    {"slot", true, read_slot},           {"load", true, read_load},
    {"exchange", true, read_exchange},   {"phase", true, read_phase},
    {"store", true, read_store},         {"live", true, read_pass_live},
    {"padded", true, read_pass_padding},
};
enum { LINES = sizeof lines / sizeof *lines };

static void read_line(plan_reader *r) {
  size_t i = 0;
  if (read_at_end(&r->in))
    return;
  while (i < LINES && !read_word(&r->in, lines[i].word))
    i++;
  if (i == LINES)
    read_fail(&r->in, "there is no line `%.*s`", (int)read_word_length(r->in.at), r->in.at);
  if (lines[i].in_pass && !r->pass)
    read_fail(&r->in, "expected `pass` before this");
  lines[i].read(r);
  if (!read_at_end(&r->in))
    read_fail(&r->in, "expected the end of the line, found `%.*s`", (int)strcspn(r->in.at, "\n"),
              r->in.at);
}

// Where the line that begins with `target` is: the net is what stands before it.
static const char *find_net_end(const char *string) {
  static const char first[] = "target ";
  const char *at = string;
  while (at && strncmp(at, first, sizeof first - 1) != 0) {
    at = strchr(at, '\n');
    at += at != NULL;
  }
  return at ? at : string + strlen(string);
}

static void read_net(plan_reader *r, const char *string) {
  const char *end = find_net_end(string);
  r->plan->net = net_read(r->in.memory, arena_copy(r->in.memory, string, (size_t)(end - string)),
                          &r->in.wrong);
  if (!r->plan->net)
    longjmp(r->in.stop, 1);
  for (; r->in.at < end; r->in.at++)
    r->in.line += *r->in.at == '\n';
  for (size_t i = 0; i < r->plan->net->arrays.count; i++)
    vec_push(r->in.memory, &r->plan->arrays, r->plan->net->arrays.items[i]);
  r->plan->strategy = NEW_ARRAY(r->in.memory, const char *, r->plan->net->stages.count + 1);
  for (size_t i = 0; i < r->plan->net->stages.count; i++)
    r->plan->strategy[i] = "";
  r->plan->padding = NEW_ARRAY(r->in.memory, plan_padding, r->plan->net->stages.count + 1);
  r->plan->padding_values = NEW_ARRAY(r->in.memory, scalar_bits *, r->plan->net->stages.count + 1);
  if (!*r->in.at)
    read_fail(&r->in, "expected a target after the net");
}

plan *plan_read(arena *a, const char *string, const char **wrong) {
  plan_reader *r = NEW(a, plan_reader);
  r->in = (reader){.memory = a, .at = string, .line = 1};
  r->plan = NEW(a, plan);
  if (setjmp(r->in.stop) == 0) {
    read_net(r, string);
    for (;; r->in.at++, r->in.line++) {
      read_line(r);
      if (*r->in.at == 0)
        break;
    }
    end_pass(r);
  }
  *wrong = r->in.wrong;
  return r->in.wrong ? NULL : r->plan;
}
