#include "kernels/emit/comments.h"

static void add_array(text *out, const plan *p, net_id id, const c_comments *comments) {
  const net_array *a = &p->arrays.items[id];
  bool argument = a->role == NET_ARGUMENT;
  const char *name =
      argument && comments->argument ? comments->argument(comments->with, a->number) : NULL;
  text_printf(out, "// a%u  %s ", id, net_role_names[a->role]);
  if (name)
    text_string(out, name);
  else
    text_printf(out, "%u", a->number);
  text_printf(out, ": [%llu]%s\n", (unsigned long long)a->count, scalar_types[a->type].name);
}

static void add_moves(text *out, const char *what, uint32_t count, const plan_move *moves) {
  for (uint32_t i = 0; i < count; i++)
    text_printf(out, "%s a%u", i ? "," : what, moves[i].array);
}

static void add_pass(text *out, const plan *p, const c_code *code, uint32_t number) {
  const plan_pass *pass = &p->passes.items[number];
  const c_pass_facts *f = &code->facts[number];
  text_printf(out, "//   permc_pass_%u ", number);
  add_moves(out, " loads", pass->load_count, pass->loads);
  add_moves(out, ", stores", pass->store_count, pass->stores);
  text_printf(out, "; %u op%s in %u phase%s, tiles of 2^%d elements, %llu bytes of scratch",
              pass->op_count, pass->op_count == 1 ? "" : "s", pass->phase_count,
              pass->phase_count == 1 ? "" : "s", pass->tile.dimension,
              (unsigned long long)f->scratch_bytes);
  if (f->threads > 1)
    text_printf(out, ", %u threads", f->threads);
  if (f->one)
    text_printf(out, "; executes those up to permc_pass_%u, by look-back", f->one->last);
  if (f->kernel != number)
    text_printf(out, "; by the kernel permc_pass_%u", f->kernel);
  text_string(out, "\n");
}

void c_write_head(text *out, const plan *p, const c_code *code, const c_comments *comments) {
  if (comments->title)
    text_printf(out, "// %s\n", comments->title);
  for (net_id i = 0; i < p->arrays.count; i++)
    if (p->arrays.items[i].role != NET_TEMPORARY)
      add_array(out, p, i, comments);
  text_printf(out, "// for %s, in %u pass%s over memory:\n", p->target->name, code->pass_count,
              code->pass_count == 1 ? "" : "es");
  for (uint32_t i = 0; i < code->pass_count; i++)
    add_pass(out, p, code, i);
}

void c_write_origin(c_writer *w, const c_options *options, const net_op *op) {
  const c_comments *c = options->comments;
  const char *line = c && c->line_of_step ? c->line_of_step(c->with, op->origin) : NULL;
  if (line)
    c_line(w, "// %%%u %s", op->origin, line);
}

const char *c_without_comments(c_writer *w, const char *code) {
  char *out = arena_copy(w->memory, code, strlen(code)), *to = out;
  for (const char *from = code; *from;) {
    if (from[0] == '/' && from[1] == '/') {
      from += strcspn(from, "\n");
      while (to > out && to[-1] == ' ')
        to--;
      if (to == out || to[-1] == '\n')
        from += *from == '\n';
    } else {
      *to++ = *from++;
    }
  }
  *to = 0;
  return out;
}
