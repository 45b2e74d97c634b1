#include "kernels/emit/runtime_matrix.h"

static const char *element_type(c_writer *w, uint32_t bytes) {
  if (bytes <= 8)
    return c_vector(w, bytes, 1);
  if (c_define(w, "permc_u128"))
    text_string(&w->definitions, "typedef struct permc_u128 {\n  uint64_t low, high;\n"
                                 "} __attribute__((aligned(16))) permc_u128;\n");
  return "permc_u128";
}

void c_runtime_matrix_write(c_writer *w, const c_runtime_matrix *o, text *out) {
  w->runtime_matrix_needed = true;
  if (c_define(w, "permc_index"))
    text_printf(&w->definitions, "typedef %s permc_index;\n", w->index);
  text_printf(out,
              ", %u, 0, %llu, void *a0, void *a1, const permc_imports *imports,\n"
              "             PERMC_DATA permc_runtime_matrix m)\n"
              "    (void)imports;\n    PERMC_MATRIX_BODY(%s, %u, %u, %u, %u)\n",
              1U << o->threads, (unsigned long long)o->scratch_bytes, element_type(w, o->bytes),
              o->threads, o->r, o->in, o->out);
}

static void write_vector(const permc_vector *v, text *out) {
  text_printf(out, "{%lluu, %lluu, %uu, %uu}", (unsigned long long)v->source,
              (unsigned long long)v->target, v->put, v->get);
}

static void write_vectors(const permc_vector *v, uint32_t count, text *out) {
  text_string(out, "{");
  for (uint32_t i = 0; i < count; i++) {
    text_string(out, i ? ", " : "");
    write_vector(&v[i], out);
  }
  text_string(out, "}");
}

static void write_numbers(const uint64_t *x, text *out) {
  for (uint32_t i = 0; i < PERMC_MATRIX_LOOPS; i++)
    text_printf(out, i ? ", %lluu" : "{%lluu", (unsigned long long)x[i]);
  text_string(out, "},\n  ");
}

void c_runtime_matrix_write_data(const permc_runtime_matrix *d, uint32_t number, text *out) {
  text_printf(
      out, "const permc_runtime_matrix permc_runtime_matrix_%u = {\n  %u, %u, %lldLL, %lldLL,\n  ",
      number, d->blocks, d->loops, (long long)d->source_offset, (long long)d->target_offset);
  write_numbers(d->extents, out);
  write_numbers((const uint64_t *)d->source_strides, out);
  write_numbers((const uint64_t *)d->target_strides, out);
  write_vector(&d->origin, out);
  text_string(out, ",\n  ");
  write_vectors(d->block, PERMC_MATRIX_BLOCKS, out);
  text_string(out, ",\n  ");
  write_vectors(d->tile, PERMC_MATRIX_TILE, out);
  text_string(out, "};\n");
}
