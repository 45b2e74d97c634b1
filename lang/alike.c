// Steps of a Trace that do the same. See trace.h.
#include "lang/trace.h"

#include "core/hash.h"

static uint32_t row_count(const trace_step *s) {
  return s->op == TRACE_BMMC ? (uint32_t)__builtin_ctzll(s->dims[0]) : 0;
}

static uint64_t bound_of(const trace_step *s) { return s->op == TRACE_RESHAPE ? s->bound : 0; }

uint64_t trace_hash_step(const trace_step *s) {
  uint64_t h = hash_word((uint64_t)s->op, (uint64_t)s->type);
  h = hash_word(h, (uint64_t)s->scalar << 33 | (uint64_t)s->trusted << 32 | s->operand_count);
  h = hash_word(hash_word(hash_word(h, s->batch), s->rank), bound_of(s));
  for (uint32_t i = 0; i < s->rank; i++)
    h = hash_word(h, s->dims[i]);
  for (uint32_t i = 0; i < row_count(s); i++)
    h = hash_word(h, s->rows[i]);
  if (s->op == TRACE_CONSTANT)
    h = hash_word(h, hash_bytes(s->constant.bytes, scalar_types[s->type].size));
  return s->op == TRACE_TABLE ? hash_word(h, (uint64_t)(uintptr_t)s->table) : h;
}

bool trace_have_one_shape(const trace_step *a, const trace_step *b) {
  return a->type == b->type && a->rank == b->rank && a->batch == b->batch &&
         (!a->rank || !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims));
}

bool trace_steps_are_alike(const trace_step *a, const trace_step *b) {
  return a->op == b->op && a->scalar == b->scalar && a->operand_count == b->operand_count &&
         a->trusted == b->trusted && trace_have_one_shape(a, b) && bound_of(a) == bound_of(b) &&
         (!row_count(a) || !memcmp(a->rows, b->rows, row_count(a) * sizeof *a->rows)) &&
         (a->op != TRACE_CONSTANT ||
          !memcmp(a->constant.bytes, b->constant.bytes, scalar_types[a->type].size)) &&
         (a->op != TRACE_TABLE || a->table == b->table);
}

bool *trace_find_needed(arena *a, const trace *t) {
  bool *needed = NEW_ARRAY(a, bool, t->steps.count + 1);
  for (size_t i = 0; i < t->results.count; i++)
    needed[t->results.items[i]] = true;
  for (size_t i = t->steps.count; i-- > 0;)
    for (uint32_t k = 0; needed[i] && k < t->steps.items[i].operand_count; k++)
      needed[t->steps.items[i].operands[k]] = true;
  return needed;
}
