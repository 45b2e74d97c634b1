#include "kernels/emit/keys.h"

// Ops without directions, of one element in one register.
static c_phase phase_of_stage(c_writer *w, const net_stage *s) {
  size_t nodes = s->nodes.count + 1, values = s->values.count + 1;
  plan_pass *pass = NEW(w->memory, plan_pass);
  pass->slot_count = (uint32_t)s->values.count;
  pass->slot_of = NEW_ARRAY(w->memory, uint32_t, values);
  for (net_id v = 0; v < s->values.count; v++)
    pass->slot_of[v] = v;
  return (c_phase){.w = w,
                   .pass = pass,
                   .stage = s,
                   .space = NEW(w->memory, c_space),
                   .slots = NEW_ARRAY(w->memory, c_registers, values),
                   .values = NEW_ARRAY(w->memory, c_value, nodes),
                   .bounds = NEW_ARRAY(w->memory, const c_bound *, nodes),
                   .roots = NEW_ARRAY(w->memory, const struct c_root_access *, nodes),
                   .nodes = NEW_ARRAY(w->memory, net_id, nodes + values),
                   .live = live_all(s->n)};
}

void c_keys_write(c_writer *w, const net_stage *s, text *out) {
  c_phase f = phase_of_stage(w, s);
  text head = {0};
  text_string(&head, "static inline uint32_t partition_key(");
  for (size_t i = 0; i < s->loads.count; i++) {
    net_id value = s->loads.items[i].value;
    scalar_type type = s->values.items[value];
    f.slots[value] = c_registers_of(w, f.space, type);
    f.slots[value].id[0] = w->next++;
    text_printf(&head, "%sconst %s v%u", i ? ", " : "",
                c_vector(w, (uint32_t)scalar_types[type].size, 1), f.slots[value].id[0]);
  }
  for (size_t i = 0; i < s->ops.count; i++)
    c_execute(&f, &s->ops.items[i]);
  c_end_line(w);
  text_add(out, text_content(&head), head.length);
  text_string(out, ") {\n");
  text_add(out, text_content(&w->body), w->body.length);
  text_printf(out, "  return (uint32_t)v%u;\n}\n", f.slots[s->stores.items[0].value].id[0]);
  out->failed |= head.failed || w->body.failed;
  text_free(&head);
  text_free(&w->body);
  w->body = (text){0};
}
