// What holds of the steps on files, and their text. See external.h.
#include "fusion/external/external.h"

#include <inttypes.h>

// ---- verification -------------------------------------------------------------------------------

static const char *problem_of_move(const external *e, const external_move *m) {
  if (m->file >= e->arrays.count || m->memory >= e->net->arrays.count)
    return "a move is of an array that is not there";
  if (e->arrays.items[m->file].type != e->net->arrays.items[m->memory].type)
    return "a move is between arrays of different types";
  if (e->net->arrays.items[m->memory].role != (m->writes ? NET_TEMPORARY : NET_ARGUMENT))
    return "a move reads into what a stage writes, or writes what it is given";
  if (m->end > e->arrays.items[m->file].count)
    return "a move goes beyond its file";
  if (m->by_bits && m->elements != f2_unit(m->addresses.dimension))
    return "a move has another number of places than of addresses";
  for (int i = 0; m->by_bits && i < m->bases.a.columns; i++)
    if (f2_column(m->bases.a, i) & f2_space_leading(m->addresses))
      return "a move has places in the number of its share";
  return NULL;
}

static const char *problem_of_step(const external *e, const external_step *s) {
  const char *problem = NULL;
  if (s->routine)
    return NULL;
  if (s->stage >= e->net->stages.count || !net_stage_is_shared(&e->net->stages.items[s->stage]) ||
      s->shares != net_share_count(&e->net->stages.items[s->stage]))
    return "a step has other shares than its stage";
  for (size_t i = 0; i < s->moves.count && !problem; i++) {
    const external_move *m = &s->moves.items[i];
    problem = problem_of_move(e, m);
    for (size_t k = 0; k < s->moves.count && m->writes && !problem; k++)
      if (!s->moves.items[k].writes && s->moves.items[k].file == m->file)
        problem = "a step writes to what it reads";
  }
  return problem;
}

const char *external_verify(arena *a, const external *e) {
  const char *problem = net_verify(a, e->net);
  for (size_t i = 0; i < e->steps.count && !problem; i++)
    problem = problem_of_step(e, &e->steps.items[i]);
  return problem;
}

// ---- text ---------------------------------------------------------------------------------------

static void print_box(text *out, const share_box *b) {
  text_printf(out, " first %" PRId64 " run %" PRIu64, b->first, b->run);
  for (uint32_t i = 0; i < b->side_count; i++)
    if (b->sides[i].count > 1)
      text_printf(out, " side %" PRIu64 ":%" PRIu64, b->sides[i].count, b->sides[i].stride);
  for (uint32_t i = 0; i < b->digit_count; i++) {
    const share_digit *d = &b->digits[i];
    text_printf(out, " share/%" PRIu64 "%%%" PRIu64 ":%" PRId64, d->divide, d->extent, d->step);
    if (d->side != NET_NONE)
      text_printf(out, " last %" PRIu64 " of side %u", d->last, (unsigned)d->side);
  }
  text_printf(out, "\n");
}

static void print_move(text *out, const external_move *m) {
  text_printf(out, "  %s f%u memory a%u elements %" PRIu64 " end %" PRIu64,
              m->writes ? "writes" : "reads", (unsigned)m->file, (unsigned)m->memory, m->elements,
              m->end);
  text_printf(out, "%s%s%s", m->whole ? " whole" : "", m->partial ? " partial" : "",
              m->fresh ? " of nothing" : "");
  if (!m->by_bits) {
    print_box(out, &m->box);
    return;
  }
  text_printf(out, " addresses");
  for (int i = 0; i < m->addresses.dimension; i++)
    net_write_mask(out, m->addresses.basis[i], m->addresses.n);
  text_printf(out, " bases 0x%" PRIx64, m->bases.c);
  for (int i = 0; i < m->bases.a.columns; i++)
    net_write_mask(out, f2_column(m->bases.a, i), m->addresses.n);
  if (m->live_count)
    net_write_forms(out, " live", m->live_count, m->live);
  text_printf(out, "\n");
}

void external_print(text *out, const external *e) {
  for (size_t i = 0; i < e->arrays.count; i++) {
    text_printf(out, "file f%zu ", i);
    net_write_array(out, i, &e->arrays.items[i]);
  }
  for (size_t i = 0; i < e->steps.count; i++) {
    const external_step *s = &e->steps.items[i];
    if (s->routine) {
      text_printf(out, "step %zu", i);
      net_write_routine(out, s->routine);
      text_printf(out, "\n");
      continue;
    }
    text_printf(out, "step %zu of stage %u shares %" PRIu64 "\n", i, (unsigned)s->stage, s->shares);
    for (size_t k = 0; k < s->moves.count; k++)
      print_move(out, &s->moves.items[k]);
  }
  net_print(out, e->net);
}
