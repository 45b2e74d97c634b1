// Opens the foreign functions of a plan. See cpu.h.
#include "runtime/cpu/cpu.h"

static bool open_extern(cpu_externs *x, const plan *p, uint64_t number, uint32_t step, bool allowed,
                        error *failure) {
  const c_function *e = &p->net->externs.items[number];
  if (x->functions[number])
    return true;
  x->functions[number] = foreign_open(e, allowed, failure);
  if (!x->functions[number])
    failure->step = step;
  return x->functions[number] != NULL;
}

// Those that the op calls.
static bool open_externs_of_op(cpu_externs *x, const plan *p, uint32_t pass, const net_op *op,
                               bool allowed, error *failure) {
  const net_stage *s = &p->net->stages.items[p->passes.items[pass].stage];
  uint32_t count = net_op_nodes(s, op, s->walk);
  for (uint32_t i = 0; i < count; i++) {
    const net_node *node = &s->nodes.items[s->walk[i]];
    if (node->kind != NET_EXTERN)
      continue;
    x->serial[pass] = true;
    if (!open_extern(x, p, node->number, op->origin, allowed, failure))
      return false;
  }
  return true;
}

bool cpu_externs_open(cpu_externs *x, const plan *p, bool allowed, error *failure) {
  *x = (cpu_externs){.count = p->net->externs.count};
  x->functions = calloc(x->count + 1, sizeof(foreign *));
  x->serial = calloc(p->passes.count + 1, sizeof *x->serial);
  bool good = (x->functions && x->serial) || error_no_memory(failure);
  for (uint32_t i = 0; i < p->passes.count && good && x->count > 0; i++) {
    const plan_pass *pass = &p->passes.items[i];
    const net_stage *s = plan_stage_of(p, pass);
    for (uint32_t k = 0; k < pass->op_count && good; k++)
      good = open_externs_of_op(x, p, i, &s->ops.items[pass->ops[k]], allowed, failure);
  }
  if (!good)
    cpu_externs_close(x);
  return good;
}

void cpu_externs_close(cpu_externs *x) {
  for (size_t i = 0; x->functions && i < x->count; i++)
    foreign_close(x->functions[i]);
  free(x->functions);
  free(x->serial);
  *x = (cpu_externs){.count = 0};
}
