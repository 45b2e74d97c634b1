#include "kernels/transfer/address.h"

// On a GPU it is a word of 32 bits, which shifts would leave.
const char *c_thread(const c_writer *w) {
  return w->warps && !strcmp(w->index, "uint64_t") ? "(uint64_t)t" : "t";
}

// What blocks, or threads, add to a word.
static const char *linear_word(c_writer *w, const xor_sum *m, const xor_word *word,
                               bool of_threads) {
  const char *thread = m->scratch ? "t" : c_thread(w);
  return of_threads ? c_linear(w, thread, m->threads, word->column + m->blocks, true)
                    : c_linear(w, "b", m->blocks, word->column, false);
}

static bool is_zero(const char *expression) { return strcmp(expression, "0") == 0; }

static const char *flipped(c_writer *w, const char *expression, uint64_t by) {
  return by ? c_format(w, "%s ^ %s", expression, c_number(w, by)) : expression;
}

// What stands before a factor so that the product wraps: compilers for GPUs take it that numbers
// with a sign do not.
static const char *unsigned_factor(const xor_sum *m) { return m->wraps ? "(uint64_t)" : ""; }

// `sum` plus odd * expression.
static const char *add_term(c_writer *w, const xor_sum *m, const char *sum, uint64_t odd,
                            const char *expression) {
  if (is_zero(expression))
    return sum;
  const char *term =
      odd == 1 ? c_format(w, "(%s)", expression)
               : c_format(w, "%s%s * (%s)", unsigned_factor(m), c_number(w, odd), expression);
  return is_zero(sum) ? term : c_format(w, "%s + %s", sum, term);
}

// The sum over rows that only blocks, or only threads, touch. What they are at index 0 goes in by
// XOR, too.
static const char *sum_rows(c_writer *w, const xor_sum *m, uint64_t rows, bool of_threads) {
  const char *sum = "0";
  xor_word words[C_ROWS];
  uint32_t count = xor_sum_words(w->memory, m, rows, words);
  for (uint32_t g = 0; g < count; g++)
    sum = add_term(w, m, sum, words[g].odd,
                   flipped(w, linear_word(w, m, &words[g], of_threads), words[g].constant));
  return sum;
}

// ---- in the code -----------------------------------------------------------------------------

static const char *item_sum(c_writer *w, const xor_sum *m, uint64_t rows) {
  const char *sum = "0";
  for (uint32_t i = 0; i < m->loops; i++)
    if (m->strides[i] != 0)
      sum = c_format(w, "%s%s%s%lld * o%u", is_zero(sum) ? "" : sum, is_zero(sum) ? "" : " + ",
                     unsigned_factor(m), (long long)m->strides[i], i);
  return add_term(w, m, sum, 1, sum_rows(w, m, rows, false));
}

// GPUs have no 64-bit integers of their own.
static const char *sum_type(const c_writer *w, const xor_sum *m) {
  return w->warps && m->scratch ? "uint32_t" : m->wraps ? "uint64_t" : "int64_t";
}

// A variable for item `joined` thread, both expressions: in the item if threads have no part in it.
// Its name, or "0".
static const char *declare_sum(c_writer *w, const char *letter, const char *type, const char *item,
                               const char *joined, const char *thread) {
  const char *before = "", *name = "0";
  if (!is_zero(item)) {
    name = c_format(w, "%s%u", letter, w->next++);
    c_item(w, "const %s %s = %s;", type, name, item);
    before = c_format(w, "%s%s", name, joined);
  }
  if (!is_zero(thread)) {
    name = c_format(w, "%s%u", letter, w->next++);
    c_line(w, "const %s %s = %s%s;", type, name, before, thread);
  }
  return name;
}

static const char *declare_word(c_writer *w, const xor_sum *m, const char *letter,
                                const xor_word *word) {
  return declare_sum(w, letter, w->index, linear_word(w, m, word, false), " ^ ",
                     linear_word(w, m, word, true));
}

c_bound c_bind(c_writer *w, const xor_sum *m, uint64_t without) {
  c_bound b = {.map = m};
  uint64_t blocks = xor_sum_rows_of_blocks(m) & ~without,
           threads = xor_sum_rows_of_threads(m) & ~without,
           vectors = xor_sum_rows_of(m, UINT64_MAX);
  b.mixed = (blocks | threads) & vectors;
  b.uniform = (blocks | threads) & ~vectors;
  b.word_count = xor_sum_words(w->memory, m, b.mixed, b.word);
  for (uint32_t g = 0; g < b.word_count; g++)
    b.name[g] = declare_word(w, m, "g", &b.word[g]);

  const char *item = item_sum(w, m, blocks & ~threads & ~vectors);
  const char *thread = sum_rows(w, m, threads & ~blocks & ~vectors, true);
  xor_word both[C_ROWS];
  uint32_t count = xor_sum_words(w->memory, m, blocks & threads & ~vectors, both);
  for (uint32_t g = 0; g < count; g++)
    thread = add_term(w, m, thread, both[g].odd,
                      flipped(w, declare_word(w, m, "g", &both[g]), both[g].constant));
  b.sum = declare_sum(w, "u", sum_type(w, m), item, " + ", thread);
  return b;
}

// Rows that w decides alone, and the constant ones.
static uint64_t constant_part(const c_bound *b, uint64_t x) {
  return b->map->offset +
         xor_sum_weight(b->map, xor_sum_rows_at(b->map, x) & ~(b->mixed | b->uniform));
}

bool c_bound_constant(const c_bound *b, uint64_t x, int64_t *out) {
  *out = (int64_t)constant_part(b, x);
  return b->word_count == 0;
}

const char *c_bound_rest(c_writer *w, const c_bound *b, uint64_t x) {
  const char *sum = "0";
  uint64_t constant = constant_part(b, x);
  if (b->word_count == 0)
    return c_format(w, "%lld", (long long)constant);
  for (uint32_t g = 0; g < b->word_count; g++)
    sum = add_term(w, b->map, sum, b->word[g].odd,
                   flipped(w, b->name[g], xor_word_at(b->map, &b->word[g], x)));
  // The constant by itself, so that it can be part of the instruction.
  if (b->map->bytes)
    return c_format(w, "%s + %s", sum, c_number(w, constant));
  return c_format(w, "(%s)(%s + %s)", sum_type(w, b->map), sum, c_number(w, constant));
}

const char *c_bind_bits(c_writer *w, const xor_sum *m, uint64_t rows) {
  xor_word words[C_ROWS];
  if (xor_sum_words(w->memory, m, rows, words) == 0)
    return NULL;
  const char *name = declare_word(w, m, "d", &words[0]);
  return is_zero(name) ? NULL : name;
}
