// The text of a transpose. See transpose.h and transpose_text.h.
#include "kernels/routines/transpose/transpose.h"
#include "kernels/text/text.h"

#include <inttypes.h>

static void define(text *out, const char *name, uint64_t value) {
  text_printf(out, "#define TRANSPOSE_%s %" PRIu64 "U\n", name, value);
}

// The numbers of the tile, nD, in all dimensions, the cut one first: blocks that run at once write
// neighbours. Divisions of 64 bits take long, where those of 32 bits suffice.
static void write_numbers(text *out, const transpose_kernel *k) {
  text_printf(out, "#define TRANSPOSE_NUMBERS const %s all = item;",
              k->tiles > UINT32_MAX ? "uint64_t" : "uint32_t");
  uint64_t before = 1;
  for (uint32_t i = 0; i < k->count; i++) {
    uint32_t d = i == 0 ? k->cut : k->writes[i - (i < k->in_run)];
    text_printf(out, " const uint64_t n%u = all / %" PRIu64 "U", d, before);
    text_printf(out, i + 1 < k->count ? " %% %" PRIu64 "U;" : ";", k->numbers[d]);
    before *= k->numbers[d];
  }
  text_printf(out, "\n#define TRANSPOSE_NUMBER n%u\n", k->cut);
}

// Where the tile's box begins, and how much of it there is.
static void write_starts(text *out, const transpose_kernel *k) {
  text_printf(out, "#define TRANSPOSE_STARTS const uint64_t s%u = cut;", k->cut);
  for (uint32_t d = 0; d < k->count; d++) {
    uint64_t extent = k->dimensions[d].extent, box = k->box[d];
    if (d != k->cut)
      text_printf(out, " const uint64_t s%u = n%u * %" PRIu64 "U;", d, d, k->tile[d]);
    if (box < extent || k->numbers[d] > 1)
      text_printf(out,
                  " const uint32_t left%u = %" PRIu64 "U - s%u < %" PRIu64 "U ? (uint32_t)(%" PRIu64
                  "U - s%u) : %" PRIu64 "U; (void)left%u;",
                  d, extent, d, box, extent, d, box, d);
  }
  for (int after = 0; after < 2; after++) {
    text_printf(out, "\n#define TRANSPOSE_%s (0", after ? "ROW_START" : "START");
    for (uint32_t i = after ? k->in_run : 0; i < k->count; i++) {
      net_dimension d = k->dimensions[k->writes[i]];
      text_printf(out, " + s%u * %" PRIu64 "U", k->writes[i], after ? d.to : d.from);
    }
    text_string(out, ")");
  }
  text_string(out, "\n");
}

// What threads have of their own in the levels: a0, a1, ...
static void write_own(text *out, const char *name, const transpose_threads *s) {
  uint64_t inner = 1;
  text_printf(out, "#define TRANSPOSE_%s", name);
  for (uint32_t i = 0; i < s->count; i++) {
    const transpose_level *l = &s->levels[i];
    text_printf(out, " const uint32_t a%u = t / %" PRIu64 "U %% %" PRIu64 "U; (void)a%u;", i, inner,
                l->width, i);
    inner *= l->width;
  }
  text_string(out, "\n");
}

static uint64_t weight_of(const transpose_level *l, bool scratch) {
  return scratch ? l->scratch : l->array;
}

// What a thread's indices come to, and what turn k adds.
static void write_places(text *out, const char *name, const transpose_threads *s, bool scratch) {
  const char *type = scratch ? "int32_t" : "uint64_t";
  text_printf(out, "#define TRANSPOSE_%s_THREAD (0", name);
  for (uint32_t i = 0; i < s->count; i++)
    if (weight_of(&s->levels[i], scratch))
      text_printf(out, " + (%s)a%u * %" PRIu64, type, i, weight_of(&s->levels[i], scratch));
  text_printf(out, ")\n#define TRANSPOSE_%s_TURN(k) (0", name);
  uint64_t inner = 1;
  for (uint32_t i = 0; i < s->count; i++) {
    const transpose_level *l = &s->levels[i];
    if (weight_of(l, scratch))
      text_printf(out, " + (%s)((k) / %" PRIu64 " %% %" PRIu64 ") * %" PRIu64, type, inner,
                  l->turns, l->width * weight_of(l, scratch));
    inner *= l->turns;
  }
  text_string(out, ")\n");
}

// Whether the thread's indices in turn k are of the box, and of the array.
static void write_limits(text *out, const char *name, const transpose_threads *s) {
  uint64_t inner = 1;
  text_printf(out, "#define TRANSPOSE_%s(k) (1", name);
  for (uint32_t i = 0; i < s->count; i++) {
    const transpose_level *l = &s->levels[i];
    if (l->extent % l->width || !l->all) {
      text_printf(out, " && a%u + (k) / %" PRIu64 " %% %" PRIu64 " * %" PRIu64 " < ", i, inner,
                  l->turns, l->width);
      if (l->all)
        text_printf(out, "%" PRIu64, l->extent);
      else
        text_printf(out, "left%u * %" PRIu64 "U", l->dimension, l->inner);
    }
    inner *= l->turns;
  }
  text_string(out, ")\n");
}

// Where an element of a row is in scratch, which is f + i and what turn k adds to it. f may be less
// than 0:
// so something is added, and taken away again.
static void write_get(text *out, const transpose_kernel *k) {
  const transpose_level *l = &k->writing.levels[0];
  uint64_t inner = 1, step = l->width * k->packed, added = k->line;  // indices of the cut dimension
  bool whole = l->turns > 1 && step % k->inner == 0;                 // turns add such indices, too
  text_printf(out, "#define TRANSPOSE_NEXT(k) ((k) %% %" PRIu64 "U * %" PRIu64 "U)\n", l->turns,
              step);
  text_printf(out,
              "#define TRANSPOSE_GET(f, i, k) (TRANSPOSE_GET_THREAD + TRANSPOSE_GET_TURN(k) + "
              "(int32_t)((k) %% %" PRIu64 "U) * %" PRIu64 " - %" PRIu64,
              l->turns, whole ? step / k->inner * k->pitch[k->cut] : 0, added * k->pitch[k->cut]);
  for (uint32_t i = 0; i < k->in_run; i++) {
    uint32_t d = k->writes[i];
    text_printf(out, " + (int32_t)(((f) + (i) + %" PRIu64 "U", added * k->inner);
    text_printf(out, "%s) / %" PRIu64 "U", whole ? "" : " + TRANSPOSE_NEXT(k)", inner);
    if (i + 1 < k->in_run)
      text_printf(out, " %% %" PRIu64 "U", k->dimensions[d].extent);
    text_printf(out, ") * %" PRIu64, k->pitch[d]);
    inner *= k->dimensions[d].extent;
  }
  text_string(out, ")\n");
}

// A struct where there is no integer of so many bytes.
static void write_types(text *out, const transpose_kernel *k) {
  if (k->bytes == 16)
    text_string(out, "#ifdef PERMC_HOST\n"
                     "typedef struct transpose_element {\n  uint64_t half[2];\n} "
                     "transpose_element;\n"
                     "#else\ntypedef uint4 transpose_element;\n#endif\n");
  else
    text_printf(out, "typedef uint%u_t transpose_element;\n", 8 * k->bytes);
}

void transpose_kernel_write(text *out, const transpose_kernel *k) {
  c_source_add(out, "kernels/text/cuda_host.h");
  write_types(out, k);
  define(out, "PACKED", k->packed);
  define(out, "THREADS", k->threads);
  define(out, "BLOCKS", k->blocks);
  define(out, "SCRATCH", k->scratch);
  define(out, "LINE", k->line);
  define(out, "RUN", k->run);
  define(out, "INNER", k->inner);
  define(out, "ROW", k->inner * k->dimensions[k->cut].extent);
  define(out, "BOX_ROW", k->inner * k->box[k->cut]);
  write_numbers(out, k);
  write_starts(out, k);
  define(out, "READS", k->reading.turns);
  define(out, "READERS", k->reading.at_work);
  define(out, "AT_ONCE", k->at_once);
  write_own(out, "READER", &k->reading);
  write_places(out, "FROM", &k->reading, false);
  write_places(out, "PUT", &k->reading, true);
  write_limits(out, "IS_READ", &k->reading);
  define(out, "WRITES", k->writing.turns);
  define(out, "WRITERS", k->writing.at_work);
  write_own(out, "WRITER", &k->writing);
  write_places(out, "TO", &k->writing, false);
  write_places(out, "GET", &k->writing, true);
  write_limits(out, "IS_WRITTEN", &k->writing);
  write_get(out, k);
  c_source_add(out, "kernels/routines/transpose/transpose_text.h");
}
