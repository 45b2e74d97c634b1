#include "kernels/emit/swizzle.h"

#include "kernels/emit/pass.h"
#include "kernels/text/function.h"

enum { GPU_BANKS = 32, GPU_BANK_BYTES = 4, CPU_BANKS = 64 };

bool c_swizzle_asked(const c_writer *w) {
  const bank_layout_kind *kind = w->options->layout;
  return kind && strcmp(kind->name, BANK_LAYOUT_DEFAULT) != 0;
}

// What a layout works on: words of 2^word elements of the raw basis.
typedef struct raw_words {
  const uint64_t *basis;
  uint32_t dimension, word, banks;
} raw_words;

static raw_words words_of(const c_writer *w, f2_space tile, const plan_phase *after,
                          const uint64_t *usual, uint32_t bytes) {
  uint32_t dimension = (uint32_t)tile.dimension;
  if (!w->warps)
    return (raw_words){usual, dimension, after->l, CPU_BANKS};
  uint64_t *basis = NEW_ARRAY(w->memory, uint64_t, F2_MAX);
  memcpy(basis, tile.basis, dimension * sizeof *basis);
  if (bytes > GPU_BANK_BYTES)
    return (raw_words){basis, dimension, 0, GPU_BANKS * GPU_BANK_BYTES / bytes};
  uint32_t word = (uint32_t)f2_lsb(GPU_BANK_BYTES / bytes);
  return (raw_words){basis, dimension, word < dimension ? word : dimension, GPU_BANKS};
}

// One access: the lanes of a warp that are served at once, or the registers of a thread.
static void add_access(const c_writer *w, const raw_words *r, const plan_phase *phase,
                       bank_trace *to) {
  uint64_t vectors[F2_MAX];
  const uint64_t *from = phase->basis + (w->warps ? phase->r : 0);
  uint32_t count = w->warps ? phase->l : phase->r, most = (uint32_t)f2_lsb(r->banks);
  count = count < most ? count : most;
  for (uint32_t i = 0; i < count; i++) {
    bool found = f2_coordinates((int)r->dimension, r->basis, from[i], &vectors[i]);
    assert(found);
    (void)found;
    vectors[i] >>= r->word;
  }
  bank_trace_add_vectors(w->memory, to, 0, (int)count, vectors);
}

// The basis in which coordinates are A times those of the raw one.
static const uint64_t *basis_by(c_writer *w, const raw_words *r, f2_matrix places) {
  uint64_t *basis = NEW_ARRAY(w->memory, uint64_t, F2_MAX);
  f2_matrix back;
  bool good = f2_inverse(places, &back);
  assert(good);
  (void)good;
  memcpy(basis, r->basis, r->dimension * sizeof *basis);
  for (uint32_t i = r->word; i < r->dimension; i++) {
    uint64_t rest = f2_column(back, (int)(i - r->word));
    for (basis[i] = 0; rest != 0; rest &= rest - 1)
      basis[i] ^= r->basis[r->word + (uint32_t)f2_lsb(rest)];
  }
  return basis;
}

c_swizzle c_swizzle_between(c_writer *w, f2_space tile, const plan_phase *before,
                            const plan_phase *after, const uint64_t *usual, scalar_type type) {
  uint32_t bytes = c_part_bytes(type);
  raw_words raw = words_of(w, tile, after, usual, bytes);
  const bank_layout_kind *kind = w->options->layout;
  bool linear = kind->form == BANK_LAYOUT_LINEAR;
  bank_trace accesses = {0};
  f2_matrix places;
  const char *wrong = NULL;
  if (kind->searches) {
    add_access(w, &raw, before, &accesses);
    add_access(w, &raw, after, &accesses);
  }
  bank_layout_request request = {.banks = raw.banks,
                                 .words = (uint64_t)(linear ? 1 : c_parts(type))
                                          << (raw.dimension - raw.word),
                                 .accesses = kind->searches ? &accesses : NULL,
                                 .seed = w->options->layout_seed};
  const bank_layout *made = bank_layout_make(w->memory, kind, &request, &wrong);
  if (!made) {
    w->problem = w->problem ? w->problem : wrong;
    return (c_swizzle){.basis = usual};
  }
  if (bank_layout_matrix(made, &places))
    return (c_swizzle){.basis = basis_by(w, &raw, places), .made = made};
  uint32_t unit = w->warps ? (uint32_t)f2_lsb(bytes) : 0;  // addresses are in bytes, or elements
  return (c_swizzle){raw.basis, made, raw.word + unit, made};
}

bool c_swizzle_equal(const c_swizzle *a, const c_swizzle *b, uint32_t dimension) {
  bool alike = !a->by == !b->by && memcmp(a->basis, b->basis, dimension * sizeof *a->basis) == 0;
  return alike && (!a->by || (a->word == b->word && a->by->words == b->by->words));
}

uint64_t c_swizzle_units(const c_swizzle *l, uint64_t units) {
  return l->by && l->by->places > l->by->words ? l->by->places << l->word : units;
}

uint64_t c_swizzle_place(const c_swizzle *l, uint64_t unit) {
  return l->by ? (bank_layout_place(l->by, unit >> l->word) << l->word) |
                     (unit & f2_mask((int)l->word))
               : unit;
}

const char *c_swizzle_function(c_writer *w, const c_swizzle *l) {
  const char *name =
      c_format(w, "place_%llu_%u", (unsigned long long)l->by->words, (unsigned)l->word);
  if (!c_define(w, name))
    return name;
  bank_layout_print_tables(&w->definitions, l->by, "static const", name);
  text_printf(&w->definitions,
              INLINE "uint32_t %s(uint32_t unit) {\n  const uint32_t a = unit >> %u;\n  return (",
              name, (unsigned)l->word);
  bank_layout_print_place(&w->definitions, l->by, name, "a");
  text_printf(&w->definitions, ") << %u | (unit & %lluU);\n}\n", (unsigned)l->word,
              (unsigned long long)f2_mask((int)l->word));
  return name;
}

static void print_pass(text *to, c_writer *w, uint32_t number) {
  c_pass pass = c_pass_of(w, number);
  for (uint32_t phase = 0; phase < pass.schedule.phase_count; phase++)
    for (uint32_t slot = 0; slot < pass.pass->slot_count; slot++) {
      const c_use *use = c_use_of(&pass.schedule, pass.pass, phase, slot);
      if (use->in == C_NOWHERE || !use->swizzle.made)
        continue;
      text_printf(to, "pass %u, before phase %u", (unsigned)number + 1, (unsigned)phase + 1);
      if (pass.pass->slot_count > 1)
        text_printf(to, ", slot %u", (unsigned)slot + 1);
      text_printf(to, ": %s\n", use->swizzle.made->parameters);
    }
}

void c_swizzle_print(arena *a, text *to, const plan *p, const c_options *options) {
  c_writer w = {.memory = a,
                .plan = p,
                .options = options,
                .warps = p->target->lane_bytes == 0,
                .index = "uint64_t"};
  for (uint32_t i = 0; i < p->passes.count && c_swizzle_asked(&w); i++)
    print_pass(to, &w, i);
}
