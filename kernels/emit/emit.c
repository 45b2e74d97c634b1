#include "kernels/emit/emit.h"
#include "core/units.h"
#include "kernels/emit/comments.h"
#include "kernels/emit/pass.h"
#include "kernels/emit/phase.h"
#include "kernels/emit/runtime_matrix.h"
#include "kernels/ops/root.h"

#include <ctype.h>
#include <stdio.h>

// ---- what cannot be written ------------------------------------------------------------------

// What the scalar functions of C have and those of CUDA have not.
static const char *missing_in_stage(const net_stage *s) {
  static const scalar_op complex_only[] = {OP_SQRT, OP_EXP, OP_LOG, OP_SIN, OP_COS, OP_POW};
  for (size_t i = 0; i < s->nodes.count; i++) {
    const net_node *node = &s->nodes.items[i];
    if (node->kind == NET_EXTERN)
      return "a C function cannot be called on a GPU";
    if (node->kind == NET_GROUP)
      return "grouped takes elements one after the other, which a GPU does not; reduce_by_keys "
             "sums by key there";
    for (size_t k = 0; k < sizeof complex_only / sizeof *complex_only; k++)
      if (node->kind == NET_SCALAR && node->scalar == complex_only[k] &&
          scalar_types[s->nodes.items[node->operands[0]].type].kind == KIND_COMPLEX)
        return "roots, powers, exp, log, sin and cos of complex numbers are not there on a GPU";
  }
  return NULL;
}

const char *c_missing_on_gpu(const plan *p) {
  const char *missing = NULL;
  for (size_t i = 0; i < p->net->stages.count && !missing; i++)
    missing = missing_in_stage(&p->net->stages.items[i]);
  return missing;
}

static const char *find_problem(const plan *p) {
  for (size_t i = 0; i < p->passes.count; i++) {
    const plan_pass *pass = &p->passes.items[i];
    for (uint32_t m = 0; m < pass->load_count + pass->store_count; m++)
      if (!xor_sum_fits(&plan_move_at(pass, m)->map) || plan_move_at(pass, m)->live_count > C_ROWS)
        return "an address is a sum of too many terms";
    for (uint32_t k = 0; k < pass->phase_count; k++)
      if (pass->phases[k].l > 6)
        return "a vector has more than 64 lanes";
  }
  for (size_t i = 0; i < p->net->stages.count; i++)
    for (size_t k = 0; k < p->net->stages.items[i].nodes.count; k++)
      if (p->net->stages.items[i].nodes.items[k].kind == NET_INDEX &&
          !xor_sum_fits(&p->net->stages.items[i].nodes.items[k].map))
        return "an index is a sum of too many terms";
  return NULL;
}

// ---- the parts of the file -------------------------------------------------------------------

static void add_source(c_code *code, const char *name) {
  c_source_add(&code->library, name);
  text_printf(&code->parts, ", %s", name);
}

static void add_library(const c_writer *w, const c_context *c, c_code *code) {
  text *out = &code->library;
  text_string(out, "// Written by permc. Compile with -ffp-contract=off -fno-strict-aliasing.\n");
  if (w->warps && c_swizzle_asked(c))  // layouts are compared: each is measured as it is
    text_string(out, "#define PERMC_APART 1\n");
  if (w->warps)
    add_source(code, "kernels/text/cuda_host.h");
  text_string(out, w->warps ? "#ifdef PERMC_HOST\n" : "");
  add_source(code, "kernels/text/host.h");
  // gcc 13 and 14 take x * 2 - y * 0 for a number, where it is none, in branches that know x.
  text_string(out, w->warps ? "#endif\n"
                            : "#if defined(__GNUC__) && !defined(__clang__)\n"
                              "#pragma GCC optimize(\"no-thread-jumps\")\n#endif\n");
  if (w->runtime_matrix_needed)
    add_source(code, "kernels/text/runtime_matrix.h");
  if (w->look_back_needed)
    add_source(code, "kernels/text/look_back.h");
  text_string(out,
              "#if defined(__has_builtin)\n"
              "#if __has_builtin(__builtin_shufflevector)\n"
              "#define PERMC_SHUFFLEVECTOR 1\n#endif\n#endif\n"
              "#if defined(__x86_64__) || defined(__i386__)\n"
              "#define PERMC_STREAMS_END() __builtin_ia32_sfence()\n"
              "#else\n#define PERMC_STREAMS_END() __sync_synchronize()\n#endif\n"
              "#define PERMC_AHEAD(p) __builtin_prefetch((void *)((uintptr_t)(p) + 4096))\n"
              "#define PERMC_CUT(n) __asm__ goto(\"\" : : : : permc_cut_##n); permc_cut_##n:;\n");
  code->headers = w->masks_needed;
  code->lanes_alone = w->lanes_alone;
  if (w->masks_needed)
    text_string(out, "#if defined(__GNUC__) && !defined(__clang__) && !defined(PERMC_PLAIN) && \\\n"
                     "    defined(__AVX512F__) && defined(__AVX512BW__) && \\\n"
                     "    defined(__AVX512DQ__) && defined(__AVX512VL__)\n"
                     "#include <immintrin.h>\n"
                     "#define PERMC_KMASK(bits) ((bits) == 128 || (bits) == 256 || (bits) == 512)\n"
                     "#else\n#define PERMC_KMASK(bits) 0\n#endif\n");
  if (w->halves_needed)
    add_source(code, "kernels/text/half.h");
  if (!w->scalars_needed[0] && !w->scalars_needed[1])
    return;
  text_string(out, "#define SCALAR_FUNCTIONS_ONLY\n");
  add_source(code, "core/scalar/loops.h");
  if (w->scalars_needed[0])
    add_source(code, "core/scalar/integer.c");
  if (w->scalars_needed[1]) {
    add_source(code, "core/scalar/float.c");
    add_source(code, "core/scalar/convert.c");
    add_source(code, "core/scalar/math.c");
  }
  if (w->roots_needed) {
    add_source(code, "core/scalar/root_product.inc");
    if (!w->warps)
      add_source(code, "core/scalar/root.inc");
    add_source(code, "kernels/text/root_text.h");
  }
}

#define VISIBLE "\n__attribute__((visibility(\"default\"))) "

static void add_pass_table(const plan *p, text *out, const c_pass_facts *facts) {
  size_t count = p->passes.count;
  for (uint32_t i = 0; i < count; i++)
    if (plan_code_of(p, i) == i)
      text_printf(out, "permc_pass permc_pass_%u;\n", i);
  text_printf(out, VISIBLE "const uint32_t permc_pass_count = %zu;\n", count);
  text_printf(out, VISIBLE "const permc_pass_row permc_passes[%zu] = {\n", count + 1);
  for (uint32_t i = 0; i < count; i++)
    text_printf(out, "  {permc_pass_%u, %llu, %d},\n", plan_code_of(p, i),
                (unsigned long long)facts[i].scratch_bytes, facts[i].in_place);
  text_string(out, "  {0, 0, 0}\n};\n");
}

// ---- names -----------------------------------------------------------------------------------

void c_pass_name(const plan *p, uint32_t pass, char name[C_PASS_NAME]) {
  const char *line = p->lines ? p->lines[pass] : NULL;
  int length = snprintf(name, C_PASS_NAME, "permc_pass_%u", (unsigned)pass);
  if (line)
    snprintf(name + length, (size_t)(C_PASS_NAME - length), "_%s", line);
  for (; *name; name++)
    *name = isalnum((unsigned char)*name) ? *name : '_';
}

// The text calls them by their numbers.
static void write_names(c_writer *w, const plan *p) {
  char name[C_PASS_NAME];
  for (uint32_t i = 0; p->lines && i < p->passes.count; i++) {
    c_pass_name(p, i, name);
    if (p->lines[i])
      text_printf(&w->definitions, "#define permc_pass_%u %s\n", (unsigned)i, name);
  }
}

// ---- all -------------------------------------------------------------------------------------

static void find_kernel(c_writer *w, c_code *code, uint32_t number, const char **codes) {
  uint32_t i = 0;
  codes[number] = c_without_comments(w, text_content(&code->passes[number]));
  if (!code->facts[number].threads)
    return;
  if (code->facts[number].kernel != number) {  // an earlier one's, as its own kernel has been found
    code->facts[number].kernel = code->facts[code->facts[number].kernel].kernel;
    return;
  }
  while (i < number && (code->facts[i].kernel != i || strcmp(codes[i], codes[number]) != 0))
    i++;
  code->facts[number].kernel = i;
}

// The beginning of a function that may need none of its arguments.
static void begin_function(text *out, uint32_t number) {
  text_printf(out,
              "void permc_pass_%u(void *const *arrays, uint64_t first, uint64_t last,\n"
              "                  void *memory, const permc_imports *imports) {\n"
              "  (void)arrays, (void)first, (void)last, (void)memory, (void)imports;\n",
              number);
}

// For the host, a function as of other targets. Of a kernel that is several passes, the first call
// of the first one executes all blocks, in their order, and the later passes do nothing.
static void write_host(const c_writer *w, const plan *p, c_code *code, uint32_t number) {
  const plan_pass *pass = &p->passes.items[number];
  const c_pass_facts *f = &code->facts[number];
  text *out = &code->hosts[number];
  uint32_t count = f->one ? f->one->array_count : 0;
  const net_id *arrays = f->one ? f->one->arrays : plan_pass_arrays(w->memory, pass, &count);
  if (f->matrix)
    c_runtime_matrix_write_data(f->matrix, number, out);
  begin_function(out, number);
  if (f->one)
    text_printf(out, "  static uint64_t state[%llu];\n  last = first ? first : %lluU;\n",
                (unsigned long long)(f->one->state_bytes / sizeof(uint64_t)),
                (unsigned long long)f->one->blocks);
  if (f->one || f->threads) {
    text_printf(out,
                "  for (uint64_t item = first; item < last; item++)\n"
                "    permc_kernel_%u((char *)memory, item",
                f->kernel);
    for (uint32_t i = 0; i < count; i++)
      text_printf(out, ", arrays[%u]", arrays[i]);
    text_string(out, f->one ? ", imports, state" : ", imports");
    if (f->matrix)
      text_printf(out, ", permc_runtime_matrix_%u", number);
    text_string(out, ");\n");
  }
  text_string(out, "}\n");
}

// Whether a kernel executes the passes from `first` on, whose blocks look back. (Neither where bank
// layouts are compared, nor where passes are to be apart.)
static bool looks_back(const c_context *c, uint32_t first, plan_look_back *l) {
  return c->warps && !c_swizzle_asked(c) && !c->options->apart &&
         plan_look_back_from(c->memory, c->plan, first, l);
}

// The pass, and those that are one with it. Returns the last of them.
static uint32_t write_kernel_from(c_writer *w, c_context *c, c_code *code, uint32_t i) {
  plan_look_back l;
  uint32_t repeats = c->plan->passes.items[i].repeats, like = repeats ? repeats - 1 : i;
  if (repeats && !code->facts[like].one && (!w->warps || code->facts[like].threads)) {
    code->facts[i] = code->facts[like];
    return i;
  }
  if (plan_routine_of(c->plan, &c->plan->passes.items[i])) {  // whoever runs the passes has it
    code->facts[i].kernel = i;
    if (!w->warps) {
      begin_function(&code->passes[i], i);
      text_string(&code->passes[i], "}\n");
    }
    return i;
  }
  if (!looks_back(c, i, &l)) {
    code->facts[i] = c_pass_write(w, c, &code->passes[i], &code->functions[i], i);
    return i;
  }
  code->facts[i] = c_pass_write_look_back(w, c, &code->passes[i], &code->functions[i], &l);
  for (uint32_t k = i + 1; k <= l.last; k++)
    code->facts[k] = (c_pass_facts){.in_place = code->facts[i].in_place, .kernel = i};
  return l.last;
}

static void write_passes(c_writer *w, c_context *c, c_code *code) {
  const char **codes = NEW_ARRAY(w->memory, const char *, code->pass_count + 1);
  for (uint32_t i = 0; i < code->pass_count; i++)
    i = write_kernel_from(w, c, code, i);
  for (uint32_t i = 0; i < code->pass_count && w->warps; i++) {
    find_kernel(w, code, i, codes);
    write_host(w, c->plan, code, i);
  }
}

static void write_tables(const c_writer *w, const c_context *c, c_code *code) {
  text_string(&code->tables, w->warps ? "#ifdef PERMC_HOST\n" : "");
  add_pass_table(c->plan, &code->tables, code->facts);
  c_root_tables_write(&code->tables,
                      "__attribute__((visibility(\"default\"))) "
                      "const permc_root_table permc_root_tables",
                      code->roots);
  text_string(&code->tables, w->warps ? "#endif\n" : "");
  if (c->options->comments)
    c_write_head(&code->head, c->plan, code, c->options->comments);
}

// The key of a stage: ops without directions, of one element in one register.
static void write_key(c_writer *w, const net_stage *s, text *out) {
  c_phase f = c_phase_of(w, NULL, s, NEW(w->memory, c_space));
  text head = {.memory = w->memory};
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
  text_printf(out, "static inline uint32_t partition_key(%s) {\n%s  return (uint32_t)v%u;\n}\n",
              text_content(&head), c_take_text(w), f.slots[s->stores.items[0].value].id[0]);
}

// Whether indices and addresses fit into 32 bits. (A GPU has no 64-bit integers of its own.)
static bool fits_32_bits(const plan *p) {
  for (size_t i = 0; i < p->net->stages.count; i++)
    if (p->net->stages.items[i].n > 31)
      return false;
  for (size_t i = 0; i < p->arrays.count; i++)
    if (p->arrays.items[i].count >> 31)
      return false;
  for (size_t i = 0; i < p->passes.count; i++)  // forms are bits of an index, too
    for (uint32_t m = 0; m < p->passes.items[i].load_count + p->passes.items[i].store_count; m++)
      if (plan_move_at(&p->passes.items[i], m)->live_count > 32)
        return false;
  return true;
}

#define ALL_PASSES UINT32_MAX

enum { MOST_ROOT_BITS = 26 };

// The texts of the passes are one array.
static size_t text_count(const c_code *code) { return 3 * ((size_t)code->pass_count + 1); }

static bool is_complete(const c_code *code) {
  bool failed = code->head.failed || code->library.failed || code->parts.failed ||
                code->definitions.failed || code->tables.failed || !code->roots;
  for (size_t i = 0; i < text_count(code); i++)
    failed |= code->passes[i].failed;
  return !failed;
}

static void begin_writer(c_writer *w, arena *memory, const c_context *c) {
  w->memory = memory;
  w->net = c->plan->net;
  w->warps = c->warps;
  w->root_bits = c->options->root_bits ? c->options->root_bits : MOST_ROOT_BITS;
  w->index = c->warps && fits_32_bits(c->plan) ? "uint32_t" : "uint64_t";
}

// keys_of: the pass whose key is to be written alone, or ALL_PASSES.
static bool emit(c_code *code, const plan *p, const c_options *options, uint32_t keys_of,
                 const char **problem) {
  *problem = find_problem(p);
  *code = (c_code){.pass_count = keys_of == ALL_PASSES ? (uint32_t)p->passes.count : 0};
  code->passes = *problem ? NULL : calloc(text_count(code), sizeof *code->passes);
  code->facts = *problem ? NULL : calloc(code->pass_count + 1, sizeof *code->facts);
  if (!code->passes || !code->facts)
    return false;
  code->functions = code->passes + code->pass_count + 1;
  code->hosts = code->functions + code->pass_count + 1;
  jmp_buf failure;
  arena memory = {.failure = &failure};
  c_writer *const writer = calloc(1, sizeof *writer);
  volatile bool done = false;
  if (writer && setjmp(failure) == 0) {
    c_context c = c_context_of(&memory, p, options);
    begin_writer(writer, &memory, &c);
    write_names(writer, p);
    if (keys_of == ALL_PASSES)
      write_passes(writer, &c, code);
    else
      write_key(writer, &p->net->stages.items[p->passes.items[keys_of].stage], &code->tables);
    add_library(writer, &c, code);
    code->definitions = writer->definitions;
    writer->definitions = (text){0};
    code->roots = c_root_tables_copy(writer);
    if (keys_of == ALL_PASSES && code->roots)
      write_tables(writer, &c, code);
    done = is_complete(code) && !c.problem;
    if (c.problem) {
      snprintf(code->problem, sizeof code->problem, "%s", c.problem);
      *problem = code->problem;
    }
  }
  if (writer) {
    text_free(&writer->definitions);
    text_free(&writer->item);
    text_free(&writer->body);
  }
  free(writer);
  arena_free(&memory);
  return done;
}

bool c_emit(c_code *code, const plan *p, const c_options *options, const char **problem) {
  return emit(code, p, options, ALL_PASSES, problem);
}

// Writes the kernel of the pass, as text that is not kept. A pass that the kernel of an earlier one
// executes asks for nothing.
static void record_pass(arena *a, c_context *c, uint32_t pass, kernel_record *out) {
  text kernel = {.memory = a}, functions = kernel;
  c_writer w = {.definitions = kernel, .item = kernel, .body = kernel, .record = out};
  plan_look_back l;
  uint32_t first = pass;
  begin_writer(&w, a, c);
  while (first > 0 && c->plan->passes.items[first - 1].stage == c->plan->passes.items[pass].stage)
    first--;
  if (!looks_back(c, first, &l)) {
    c_pass_write(&w, c, &kernel, &functions, pass);
  } else {
    free(c_pass_write_look_back(&w, c, &kernel, &functions, &l).one);
    out->steps.count = first == pass ? out->steps.count : 0;
  }
}

const char *c_record_pass(c_context *c, uint32_t pass, kernel_record *out) {
  const char *problem = find_problem(c->plan);
  c_runtime_matrix matrix;
  *out = (kernel_record){.memory = c->memory};
  if (problem)
    return problem;
  if (c_runtime_matrix_of(c, &c->plan->passes.items[pass], &matrix))
    return "the strategy online has a kernel of its own, which the machines do not know (another "
           "--strategy has none)";
  jmp_buf failure, *const outer = c->memory->failure;
  arena own = {.failure = &failure};
  c->memory->failure = &failure;
  volatile bool done = false;
  if (setjmp(failure) == 0) {
    record_pass(&own, c, pass, out);
    if (c->problem)
      c->problem = arena_printf(c->memory, "%s", c->problem);
    done = true;
  }
  c->memory->failure = outer;
  arena_free(&own);
  if (!done)
    arena_fail(c->memory);
  return c->problem;
}

bool c_emit_keys(text *out, const plan *p, uint32_t pass) {
  const char *problem = NULL;
  FREED_BY(c_code_free) c_code code = {0};
  bool good = emit(&code, p, &(c_options){0}, pass, &problem);
  if (good)
    c_code_file(out, &code, 0, 0, true);
  return good && !out->failed;
}

void c_code_free(c_code *code) {
  for (size_t i = 0; code->passes && i < text_count(code); i++)
    text_free(&code->passes[i]);
  for (uint32_t i = 0; code->facts && i < code->pass_count; i++) {
    free(code->facts[i].matrix);
    free(code->facts[i].one);
  }
  free(code->passes);
  free(code->facts);
  free(code->roots);
  text_free(&code->head);
  text_free(&code->library);
  text_free(&code->parts);
  text_free(&code->definitions);
  text_free(&code->tables);
  *code = (c_code){0};
}

static void add_text(text *out, const text *t) {
  text_add(out, text_content(t), t->length);
  out->failed |= t->failed;
}

static void add_passes(text *out, const c_code *code, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; i++)
    if (!code->hosts[i].length) {
      add_text(out, &code->passes[i]);
    } else if (code->facts[i].kernel == i && code->facts[i].threads) {
      add_text(out, &code->functions[i]);
      text_printf(out, "\nPERMC_KERNEL(%u", i);
      add_text(out, &code->passes[i]);
      text_string(out, "PERMC_KERNEL_END\n");
    }
}

void c_code_file(text *out, const c_code *code, uint32_t first, uint32_t last, bool tables) {
  add_text(out, &code->library);
  add_text(out, &code->definitions);
  add_passes(out, code, first, last);
  if (!tables)
    return;
  text_string(out, "#ifdef PERMC_HOST\n");
  for (uint32_t i = first; i < last; i++)
    add_text(out, &code->hosts[i]);
  text_string(out, "#endif\n");
  add_text(out, &code->tables);
}

void c_code_program(text *out, const c_code *code) {
  bool kernels = code->pass_count > 0 && code->hosts[0].length > 0;
  add_text(out, &code->head);
  text_printf(out, "// Before this, in the file that is compiled: %s\n",
              text_content(&code->parts) + 2);
  if (kernels)
    text_string(out, "// PERMC_KERNEL(pass, threads, blocks on a multiprocessor, bytes of scratch, "
                     "parameters); t is the thread\n"
                     "// PERMC_VALUES(type, name, count, threads): what each thread keeps over a "
                     "barrier, at PERMC_AT(name, i)\n");
  text_string(out, "\n");
  add_text(out, &code->definitions);
  add_passes(out, code, 0, code->pass_count);
  if (!kernels)
    add_text(out, &code->tables);
}

static uint64_t pass_bytes(const c_code *code, uint32_t pass) {
  return code->passes[pass].length + code->functions[pass].length;
}

uint64_t c_code_bytes_of_passes(const c_code *code) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < code->pass_count; i++)
    bytes += pass_bytes(code, i);
  return bytes;
}

size_t c_code_split(const c_code *code, uint64_t file_bytes, size_t most, uint32_t *first) {
  uint64_t total = c_code_bytes_of_passes(code), before = 0;
  size_t files = total / file_bytes + 1 < most ? total / file_bytes + 1 : most, next = 0;
  if (files > code->pass_count)
    files = code->pass_count > 0 ? code->pass_count : 1;
  for (uint32_t i = 0; i < code->pass_count; before += pass_bytes(code, i++))
    while (next < files && before >= total * next / files)
      first[next++] = i;
  for (first[0] = 0; next <= files; next++)
    first[next] = code->pass_count;
  return files;
}

uint64_t c_code_bytes(const c_code *code) {
  return code->library.length + code->definitions.length + code->tables.length +
         c_code_bytes_of_passes(code);
}

bool c_code_is_bounded(const c_code *code, char *why, size_t size) {
  char found[NUMBER_SPACE], most[NUMBER_SPACE];
  uint64_t bytes = c_code_bytes(code);
  if (bytes > C_CODE_MOST_BYTES)
    snprintf(
        why, size,
        "the program becomes %s of C, and a compiler gets at most %s; write it with map, column or "
        "parm, which become loops, or for fewer elements",
        show_bytes(found, bytes), show_bytes(most, C_CODE_MOST_BYTES));
  return bytes <= C_CODE_MOST_BYTES;
}

// ---- text without some passes ------------------------------------------------------------------

typedef struct weighed_pass {
  uint32_t pass;
  double seconds;  // for each byte of text
} weighed_pass;

static int compare_weighed(const void *a, const void *b) {
  const weighed_pass *x = a, *y = b;
  return x->seconds != y->seconds ? (x->seconds > y->seconds) - (x->seconds < y->seconds)
                                  : (x->pass > y->pass) - (x->pass < y->pass);
}

// Which passes have text, those first that take the least time for it. Returns how many.
static size_t weigh_passes(const c_code *code, const plan *p, weighed_pass *out) {
  size_t count = 0;
  for (uint32_t i = 0; i < code->pass_count; i++)
    out[i] = (weighed_pass){.pass = i};
  for (uint32_t i = 0; i < code->pass_count; i++)
    out[plan_code_of(p, i)].seconds += p->passes.items[i].seconds;
  for (uint32_t i = 0; i < code->pass_count; i++)
    if (pass_bytes(code, i) > 0 && !plan_routine_of(p, &p->passes.items[i]))
      out[count++] = (weighed_pass){i, out[i].seconds / (double)pass_bytes(code, i)};
  qsort(out, count, sizeof *out, compare_weighed);
  return count;
}

static void leave_out(c_code *code, uint32_t pass) {
  text_free(&code->passes[pass]);
  text_free(&code->functions[pass]);
  code->passes[pass] = code->functions[pass] = (text){0};
  begin_function(&code->passes[pass], pass);
  text_string(&code->passes[pass], "}\n");
}

// "passes 3-40, 44 of 60 run uncompiled, as ..."
static void note_left_out(c_code *code, uint64_t bytes, uint64_t most) {
  enum { MOST_NAMED = 8 };
  char found[NUMBER_SPACE], limit[NUMBER_SPACE];
  FREED_BY(text_free) text named = {0};
  uint32_t runs = 0;
  for (uint32_t i = 0, end; i < code->pass_count && runs <= MOST_NAMED; i = end + 1) {
    for (end = i; end < code->pass_count && code->facts[end].left_out; end++)
      ;
    if (end == i || runs++ == MOST_NAMED) {
      text_string(&named, end == i ? "" : " ...");
      continue;
    }
    text_printf(&named, "%s%u", runs > 1 ? ", " : "", i + 1);
    if (end - i > 1)
      text_printf(&named, "-%u", end);
  }
  snprintf(code->note, sizeof code->note,
           "passes %s of %u run uncompiled, which is slower: the program becomes %s of C, and a "
           "compiler gets at most %s",
           text_content(&named), code->pass_count, show_bytes(found, bytes),
           show_bytes(limit, most));
}

void c_code_bound(c_code *code, const plan *p, uint64_t most) {
  uint64_t bytes = c_code_bytes(code), left = bytes;
  FREED weighed_pass *passes =
      bytes > most ? malloc((code->pass_count + 1) * sizeof *passes) : NULL;
  size_t count = passes ? weigh_passes(code, p, passes) : 0, out = 0;
  while (out < count && left > most)
    left -= pass_bytes(code, passes[out++].pass);
  if (left <= most && out < count) {
    for (size_t i = 0; i < out; i++) {
      leave_out(code, passes[i].pass);
      code->facts[passes[i].pass].left_out = true;
    }
    for (uint32_t i = 0; i < code->pass_count; i++)
      code->facts[i].left_out = code->facts[plan_code_of(p, i)].left_out;
    if (out > 0)
      note_left_out(code, bytes, most);
  }
}
