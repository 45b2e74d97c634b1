// Plans as text. The form, which tests/readers/plan_read.c reads back:
//
//   array a0 i32 16777216 argument 0      the net, as net/print.c writes it
//   ...
//   target avx512 line_bytes 128 ...      the fields that plans depend on (target.h)
//   stage 0 strategy free padding none    a line of each stage
//   array a2 i32 16777216 temporary       arrays that only passes know
//   pass 0 of stage 0 seconds 0.0012      predicted
//     tile 0x1 0x2 0x4 0x8                a basis of V
//     blocks 0x10 0x20                    one of its complement; none: there is one block
//     slot 0 bytes 4 values v0 v2-v9      bytes of an element, and the values that it holds in turn
//     load slot 0 from a0 at x0 + 2*x1 padded from 3 with i32:0 live x1 coalesced
//     phase 0 ops 0-3 registers 0x1 0x2 lanes 0x4 threads 0x8
//     exchange address bits 0x4 0x1 0x2 0x8
//     phase 1 ops none registers 0x4 0x8 lanes 0x1 threads 0x2
//     store slot 0 in a1 at x0 + 2*x1 scattered
//     live x3^1
//     padded from 12000000                indices of the pass from here on are padding
//
// Ops and values are those of the stage, vectors those of its index space.
#include "fusion/plan/plan.h"

#include <inttypes.h>

const char *const plan_padding_names[] = {"none", "free", "stored"};

typedef struct plan_printer {
  text *out;
  const plan *plan;
  const plan_pass *pass;
  const net_stage *stage;
} plan_printer;

static void print_vectors(const plan_printer *p, const char *title, uint32_t count,
                          const uint64_t *vectors) {
  text_string(p->out, title);
  if (count == 0)
    text_string(p->out, " none");
  for (uint32_t i = 0; i < count; i++)
    net_write_mask(p->out, vectors[i], p->stage->n);
}

// "letter"first or "letter"first-"letter"last.
static void print_range(text *out, const char *letter, uint32_t first, uint32_t last) {
  text_printf(out, " %s%" PRIu32, letter, first);
  if (last > first)
    text_printf(out, "-%s%" PRIu32, letter, last);
}

static void print_slot(const plan_printer *p, uint32_t slot) {
  const uint32_t *slot_of = p->pass->slot_of;
  uint32_t values = (uint32_t)p->stage->values.count;
  text_printf(p->out, "  slot %" PRIu32 " bytes %" PRIu32 " values", slot,
              p->pass->slot_bytes[slot]);
  for (uint32_t first = 0, last; first < values; first = last + 1) {
    for (last = first; last + 1 < values && slot_of[last + 1] == slot_of[first]; last++)
      ;
    if (slot_of[first] == slot)
      print_range(p->out, "v", first, last);
  }
  text_string(p->out, "\n");
}

static void print_move(const plan_printer *p, const plan_move *m, bool load) {
  text_printf(p->out, "  %s slot %" PRIu32 " %s a%" PRIu32, load ? "load" : "store", m->slot,
              load ? "from" : "in", m->array);
  net_write_place(p->out, &m->map, m->padding_start, p->plan->arrays.items[m->array].type,
                  load ? &m->padding_value : NULL);
  net_write_forms(p->out, " live ", m->live_count, m->live);
  if (m->direct)
    text_printf(p->out, " direct op %" PRIu32 "\n", p->pass->ops[m->direct - 1]);
  else
    text_string(p->out, m->coalesced ? " coalesced\n" : " scattered\n");
}

static void print_phase(const plan_printer *p, uint32_t number) {
  const plan_phase *f = &p->pass->phases[number];
  uint32_t d = (uint32_t)p->pass->tile.dimension, end = f->first_op + f->op_count;
  if (f->exchange)
    print_vectors(p, "  exchange address bits", d, f->exchange);
  text_printf(p->out, "%s  phase %" PRIu32 " ops%s", f->exchange ? "\n" : "", number,
              f->op_count ? "" : " none");
  for (uint32_t first = f->first_op, last; first < end; first = last + 1) {
    for (last = first; last + 1 < end && p->pass->ops[last + 1] == p->pass->ops[last] + 1; last++)
      ;
    print_range(p->out, "", p->pass->ops[first], p->pass->ops[last]);
  }
  print_vectors(p, " registers", f->r, f->basis);
  print_vectors(p, " lanes", f->l, f->basis + f->r);
  print_vectors(p, " threads", d - f->r - f->l, f->basis + f->r + f->l);
  text_string(p->out, "\n");
}

static void print_pass(plan_printer *p, size_t number) {
  const plan_pass *pass = &p->plan->passes.items[number];
  uint32_t d = (uint32_t)pass->tile.dimension;
  p->pass = pass;
  p->stage = plan_stage_of(p->plan, pass);
  text_printf(p->out, "pass %zu of stage %" PRIu32, number, pass->stage);
  if (pass->repeats)
    text_printf(p->out, " as pass %" PRIu32, pass->repeats - 1);
  text_printf(p->out, " seconds %.6g\n", pass->seconds);
  print_vectors(p, "  tile", d, pass->tile.basis);
  print_vectors(p, "\n  blocks", (uint32_t)p->stage->n - d, pass->blocks);
  if (pass->turn_bits)
    text_printf(p->out, " turns %u", 1u << pass->turn_bits);
  if (pass->turn_flip)
    text_printf(p->out, " turn ^ %u", (unsigned)pass->turn_flip);
  text_string(p->out, "\n");
  for (uint32_t i = 0; i < pass->slot_count; i++)
    print_slot(p, i);
  for (uint32_t i = 0; i < pass->load_count; i++)
    print_move(p, &pass->loads[i], true);
  for (uint32_t i = 0; i < pass->phase_count; i++)
    print_phase(p, i);
  for (uint32_t i = 0; i < pass->store_count; i++)
    print_move(p, &pass->stores[i], false);
  net_write_forms(p->out, "  live ", pass->live_count, pass->live);
  text_string(p->out, pass->live_count ? "\n" : "");
  if (pass->padding_start != UINT64_MAX)
    text_printf(p->out, "  padded from %" PRIu64 "\n", pass->padding_start);
}

static void print_target(text *out, const target *t) {
  text_printf(out, "target %s", t->name);
  for (size_t i = 0; i < target_plan_field_count(); i++) {
    text_printf(out, " %s ", target_field_at(i).name);
    target_print_field(out, t, i);
  }
  text_string(out, "\n");
}

const char plan_legend[] =
    "# Plan: a Net, which is printed first, as passes over memory for a target.\n"
    "#   target     the machine: its fields, as `permc explain --target help` explains them\n"
    "#   strategy   how the stage was cut into passes (`permc run --strategy help`); padding: "
    "whether\n"
    "#              arrays between its passes hold it\n"
    "#   array      temporary: between passes\n"
    "#   pass       executes ops of one stage, block by block; its predicted time; as pass 3: it "
    "has\n"
    "#              that one's code, on other arrays\n"
    "#   tile       a block is the indices that differ by sums of these vectors\n"
    "#   blocks     the first indices of blocks differ by sums of these\n"
    "#   slot       fast memory for a value: bytes of an element, and the values it holds in turn\n"
    "#   phase      a thread holds the elements that differ by sums of `registers`, and executes\n"
    "#              these ops on them; lanes of a vector or warp differ by `lanes`, threads by\n"
    "#              `threads`\n"
    "#   exchange   elements change threads through fast memory, where bit i of an address goes\n"
    "#              with vector i\n"
    "#   coalesced  moves whole lines of memory; scattered: parts of lines; direct: that op\n"
    "#              loads it itself, to its registers\n";

void plan_print(text *out, const plan *p) {
  plan_printer in = {.out = out, .plan = p};
  c_environment locale;
  net_print(out, p->net);
  if (!c_environment_enter(&locale)) {
    out->failed = true;
    return;
  }
  print_target(out, p->target);
  for (size_t i = 0; i < p->net->stages.count; i++)
    text_printf(out, "stage %zu strategy %s padding %s\n", i, p->strategy[i],
                plan_padding_names[p->padding[i]]);
  for (size_t i = p->net->arrays.count; i < p->arrays.count; i++)
    net_write_array(out, i, &p->arrays.items[i]);
  for (size_t i = 0; i < p->passes.count; i++)
    print_pass(&in, i);
  c_environment_leave(&locale);
}
