#include "kernels/schedule/swizzle.h"
#include "kernels/schedule/xor_sum.h"

enum { GPU_BANKS = 32, GPU_BANK_BYTES = 4, CPU_BANKS = 64 };

c_context c_context_of(arena *memory, const plan *p, const c_options *options) {
  return (c_context){memory, p, options, p->target->lane_bytes == 0, NULL};
}

bool c_swizzle_asked(const c_context *c) {
  const bank_layout_kind *kind = c->options->layout;
  return kind && strcmp(kind->name, BANK_LAYOUT_DEFAULT) != 0;
}

// What a layout works on: words of 2^word elements of the raw basis.
typedef struct raw_words {
  const uint64_t *basis;
  uint32_t dimension, word, banks;
} raw_words;

static raw_words raw_words_of(const c_context *c, f2_space tile, const plan_phase *after,
                              const uint64_t *usual, uint32_t bytes) {
  uint32_t dimension = (uint32_t)tile.dimension;
  if (!c->warps)
    return (raw_words){usual, dimension, after->l, CPU_BANKS};
  uint64_t *basis = NEW_ARRAY(c->memory, uint64_t, F2_MAX);
  memcpy(basis, tile.basis, dimension * sizeof *basis);
  if (bytes > GPU_BANK_BYTES)
    return (raw_words){basis, dimension, 0, GPU_BANKS * GPU_BANK_BYTES / bytes};
  uint32_t word = (uint32_t)f2_lsb(GPU_BANK_BYTES / bytes);
  return (raw_words){basis, dimension, word < dimension ? word : dimension, GPU_BANKS};
}

// One access: the lanes of a warp that are served at once, or the registers of a thread.
static void add_lane_access(const c_context *c, const raw_words *r, const plan_phase *phase,
                            bank_trace *to) {
  uint64_t vectors[F2_MAX];
  const uint64_t *from = phase->basis + (c->warps ? phase->r : 0);
  uint32_t count = c->warps ? phase->l : phase->r, most = (uint32_t)f2_lsb(r->banks);
  count = count < most ? count : most;
  for (uint32_t i = 0; i < count; i++) {
    vectors[i] = c_coordinates(r->dimension, r->basis, from[i]) >> r->word;
  }
  bank_trace_add_vectors(c->memory, to, 0, (int)count, vectors);
}

// The basis in which coordinates are A times those of the raw one.
static const uint64_t *swizzled_basis(c_context *c, const raw_words *r, f2_matrix places) {
  uint64_t *basis = NEW_ARRAY(c->memory, uint64_t, F2_MAX);
  f2_matrix back;
  ensure(f2_inverse(places, &back));
  memcpy(basis, r->basis, r->dimension * sizeof *basis);
  for (uint32_t i = r->word; i < r->dimension; i++)
    basis[i] = f2_combine((int)(r->dimension - r->word), r->basis + r->word,
                          f2_column(back, (int)(i - r->word)));
  return basis;
}

c_swizzle c_swizzle_between(c_context *c, f2_space tile, const plan_phase *before,
                            const plan_phase *after, const uint64_t *usual, scalar_type type) {
  uint32_t bytes = scalar_part_bytes(type);
  raw_words raw = raw_words_of(c, tile, after, usual, bytes);
  const bank_layout_kind *kind = c->options->layout;
  bool linear = kind->form == BANK_LAYOUT_LINEAR;
  bank_trace accesses = {0};
  const char *wrong = NULL;
  if (kind->searches) {
    add_lane_access(c, &raw, before, &accesses);
    add_lane_access(c, &raw, after, &accesses);
  }
  bank_layout_request request = {.banks = raw.banks,
                                 .words = (uint64_t)(linear ? 1 : scalar_parts(type))
                                          << (raw.dimension - raw.word),
                                 .accesses = kind->searches ? &accesses : NULL,
                                 .seed = c->options->layout_seed};
  const bank_layout *made = bank_layout_make(c->memory, kind, &request, &wrong);
  if (!made) {
    c->problem = c->problem ? c->problem : wrong;
    return (c_swizzle){.basis = usual};
  }
  if (made->form == BANK_LAYOUT_LINEAR)
    return (c_swizzle){.basis = swizzled_basis(c, &raw, made->matrix), .made = made};
  uint32_t unit = c->warps ? (uint32_t)f2_lsb(bytes) : 0;  // addresses are in bytes, or elements
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
