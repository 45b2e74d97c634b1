#include "kernels/emit/keys.h"

void c_keys_write(c_writer *w, const net_stage *s, text *out) {
  // Ops without directions, of one element in one register.
  c_phase f = c_phase_of(w, NULL, s, NEW(w->memory, c_space));
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
