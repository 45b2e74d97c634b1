#include "kernels/emit/comments.h"
#include "kernels/emit/phase.h"
#include "kernels/ops/exchange.h"
#include "kernels/ops/roll.h"
#include "kernels/transfer/transfer.h"

// Of ops of the phase, their numbers in the pass.
static const net_op *op_at(const pass_text *p, uint32_t number) {
  return &p->of.stage->ops.items[p->of.pass->ops[number]];
}

// What the op reads and loads itself.
static void load_directly(const pass_text *p, c_phase *f, uint32_t number) {
  for (uint32_t i = 0; i < p->of.pass->load_count; i++) {
    const plan_move *m = &p->of.pass->loads[i];
    if (m->direct != number + 1)
      continue;
    const net_array *a = &p->of.context->plan->arrays.items[m->array];
    scalar_type type = p->of.stage->values.items[m->value];
    xor_sum map = xor_sum_of(f->w->memory, &m->map, f->space, scalar_parts(type));
    c_place place = {.array = c_array_name(f->w, m->array),
                     .padding_start = UINT64_MAX,
                     .near = true,
                     .bytes = net_array_has_bytes(a)};
    f->slots[m->slot] = c_registers_of(f->w, f->space, type);
    c_load(f->w, &map, f->space, type, &place, f->slots[m->slot].id);
  }
}

static void write_op(const pass_text *p, c_phase *f, uint32_t number) {
  const net_op *op = op_at(p, number);
  c_write_origin(f->w, p->of.context->options, op);
  load_directly(p, f, number);
  c_execute(f, op);
}

// ---- loops -----------------------------------------------------------------------------------

static size_t register_count(const c_phase *f, const c_registers *s) {
  return s->id ? (size_t)scalar_parts(s->type) << f->space->r : 0;
}

// The variables are the registers of all slots, which have had their types from a round before.
static void write_loop(const pass_text *p, c_phase *f, uint32_t rounds, uint32_t period,
                       const uint32_t *ops) {
  c_writer *w = f->w;
  uint32_t slots = f->pass->slot_count, lanes = 1U << f->space->l;
  VEC(c_variable) all = {0};
  c_end_line(w);
  for (uint32_t slot = 0; slot < slots; slot++)
    for (size_t i = 0; i < register_count(f, &f->slots[slot]); i++) {
      uint32_t *id = &f->slots[slot].id[i];
      const char *type = c_vector(w, scalar_part_bytes(f->slots[slot].type), lanes);
      vec_push(w->memory, &all,
               c_declare(w, type, *id == UINT32_MAX ? c_zero(lanes) : c_format(w, "v%u", *id)));
      *id = all.items[all.count - 1].id;
    }
  c_line(w, "for (uint32_t round = 0; round < %u; round++) {", rounds);
  for (uint32_t i = 0; i < period; i++)
    write_op(p, f, ops[i]);
  c_variable *variable = all.items;
  for (uint32_t slot = 0; slot < slots; slot++)
    for (size_t i = 0; i < register_count(f, &f->slots[slot]); i++, variable++) {
      variable->next = f->slots[slot].id[i];
      f->slots[slot].id[i] = variable->id;
    }
  c_set(w, all.count, all.items);
  c_line(w, "}");
}

// A kernel stays as it is: NVRTC unrolls loops as it likes. So do ops that load something.
static void write_repeated(const pass_text *p, c_phase *f, uint32_t count, const uint32_t *ops) {
  c_rolled all = {.segment_count = 1, .segments = &(c_segment){.period = count, .rounds = 1}};
  const net_op **some = NEW_ARRAY(f->w->memory, const net_op *, count + 1);
  bool rolls = !f->w->warps;
  for (uint32_t i = 0; i < count; i++) {
    some[i] = op_at(p, ops[i]);
    for (uint32_t k = 0; k < f->pass->load_count; k++)
      rolls &= f->pass->loads[k].direct != ops[i] + 1;
  }
  if (rolls)
    all = c_roll_ops(f, count, some);
  for (uint32_t i = 0; i < all.segment_count; i++) {
    const c_segment *s = &all.segments[i];
    for (uint32_t k = 0; k < s->period; k++)
      write_op(p, f, ops[s->first + k]);
    if (s->rounds > 1)
      write_loop(p, f, s->rounds - 1, s->period, ops + s->first + s->period);
  }
}

// ---- all of a phase --------------------------------------------------------------------------

// Ops on a keyed slot, which touch nothing else, go together; the others come behind them.
void c_phase_write_ops(const pass_text *p, c_phase *f) {
  const plan_pass *pass = p->of.pass;
  uint32_t count = p->of.schedule.phases[f->number].op_count, slots = pass->slot_count;
  const net_op **some = NEW_ARRAY(p->w->memory, const net_op *, count);
  uint32_t *numbers = NEW_ARRAY(p->w->memory, uint32_t, count);
  for (uint32_t slot = 0; slot <= slots; slot++) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
      const net_op *op = &p->of.stage->ops.items[pass->ops[f->first_op + i]];
      uint32_t of_op = pass->slot_of[op->outputs[0].value];
      if ((of_op != NET_NONE && p->keyed[of_op] ? of_op : slots) == slot) {
        numbers[found] = f->first_op + i;
        some[found++] = op;
      }
    }
    for (uint32_t i = 0; i < found && slot < slots; i++)
      c_write_origin(f->w, p->of.context->options, some[i]);
    if (slot == slots)
      write_repeated(p, f, found, numbers);
    else if (found > 0)
      c_exchange(f, slot, found, some);
  }
}
