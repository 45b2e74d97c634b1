#include "kernels/emit/pass.h"

#include "core/hash.h"
#include "kernels/emit/comments.h"
#include "kernels/emit/look_back.h"
#include "kernels/emit/runtime_matrix.h"
#include "kernels/ops/exchange.h"

// ---- the next tiles ----------------------------------------------------------------------------

// Whether item i loads the elements i * 2^d ... (i + 1) * 2^d - 1, in any order.
static bool loads_runs(const pass_text *p, const plan_move *m) {
  const net_stage *s = p->of.stage;
  const c_space *space = &p->of.schedule.spaces[0];
  int d = p->of.pass->tile.dimension;
  xor_sum k = xor_sum_of(p->w->memory, &m->map, space, 1);
  uint64_t inside = xor_sum_rows_of_threads(&k) | xor_sum_rows_of(&k, f2_mask((int)k.vectors));
  uint64_t stride = f2_unit(p->of.pass->tile.n);
  bool runs = k.offset == 0 && k.constant == 0 && xor_sum_weight(&k, inside) == f2_mask(d);
  for (uint32_t i = 0; i < k.blocks; i++)
    runs &= xor_sum_weight(&k, k.block[i] & ~inside) == f2_unit(d + (int)i);
  for (uint32_t i = s->loop_count; i-- > 0; stride *= s->extents[i])
    runs &= !s->paces && k.loops == s->loop_count && (uint64_t)k.strides[i] == stride;
  return runs;
}

// While a block computes, the tile that comes on its multiprocessor a few blocks later is brought to
// the second cache, of arrays that are larger than it. Sooner is too soon: it is gone when it is
// wanted. (One H200: rows of 2^12 c64 67.5 us, not 69.9; at twice the distance 85. Rows of 2^13, for
// which 256 threads take longer: 76.2 at a distance of 1, 78.9 of 2, 92.6 of 3.)
static void bring_next_tiles(const pass_text *p, text *out) {
  enum {
    LEAST_TILE = 16 << 10,
    LARGE_TILE = 64 << 10,
    LARGEST_TILE = 128 << 10,
    MANY_LOG2 = 9,
    LARGE_LOG2 = 26
  };
  const net_stage *s = p->of.stage;
  const plan_pass *pass = p->of.pass;
  bool is_wide = p->of.schedule.spaces[0].threads >= MANY_LOG2;
  bool may = p->w->warps && !p->look_back && net_share_count(s) == 1;
  for (uint32_t i = 0; i < pass->load_count && may; i++) {
    const plan_move *m = &pass->loads[i];
    uint64_t unit = pass->slot_bytes[m->slot], bytes = unit << pass->tile.dimension;
    bool large = bytes >= LEAST_TILE && bytes <= LARGEST_TILE &&
                 net_stage_elements(s) * unit >> LARGE_LOG2 > 0;
    if (large && loads_runs(p, m))
      text_printf(out, "    PERMC_NEXT_TILE(%s, %llu, %d)\n", c_array_name(p->w, m->array),
                  (unsigned long long)bytes,
                  bytes < LARGE_TILE               ? 3
                  : bytes == LARGE_TILE && is_wide ? 2
                                                   : 1);
  }
}

// A call of a function that is named for its code.
static void add_function(const pass_text *p, const char *phase, text *out, text *functions) {
  c_writer *w = p->w;
  const char *all = c_format(w, "%s%s", p->prelude, phase);
  const char *code = c_without_comments(w, all);
  uint64_t hash = hash_bytes(code, strlen(code));
  const char *name = c_format(w, "permc_phase_%016llx", (unsigned long long)hash);
  text_printf(functions, "\n#ifndef %s_KNOWN\n#define %s_KNOWN\nPERMC_PHASE(%s)\n%s", name, name,
              name, all);
  text_string(functions, "PERMC_PHASE_END\n#endif\n");
  text_printf(out, "    PERMC_CALL(%s)", name);
}

// The phases, one after the other. Compilers take time that grows faster than a kernel (3.7 s for
// 310 KB, where 1.2 s will do), so phases of long ones are functions, which are called; that costs
// a few per cent of a short one's time.
static void add_phases(const pass_text *p, text *out, text *functions) {
  enum { LONG_KERNEL = 300000 };  // bytes of code
  size_t length = 0, written = 0;
  for (uint32_t i = 0; i < p->of.schedule.phase_count; i++)
    length += strlen(c_without_comments(p->w, p->phases[i]));
  for (uint32_t i = 0; i < p->of.schedule.phase_count; i++) {
    uint32_t ops = p->of.schedule.phases[i].op_count;
    c_activity does = c_pass_activity(&p->of, i);
    bool call = p->w->warps && !p->look_back && length > LONG_KERNEL && !does.loads && !does.stores;
    if (!*p->phases[i])
      continue;
    if (written++)
      text_printf(out, p->w->warps ? " %s\n" : "%.0s\n", c_barrier(p));
    if (written == 2)
      bring_next_tiles(p, out);
    text_printf(out, "    %s// phase %u: %u op%s, 2^%u registers of 2^%u lanes\n",
                call ? "" : "{  ", i, ops, ops == 1 ? "" : "s", p->of.schedule.spaces[i].r,
                p->of.schedule.spaces[i].l);
    if (call)
      add_function(p, p->phases[i], out, functions);
    else
      text_printf(out, "%s    }", p->phases[i]);
  }
  text_string(out, written ? "\n" : "");
}

// ---- the function ----------------------------------------------------------------------------

static uint32_t block_bits(const pass_text *p) {
  return (uint32_t)(p->of.pass->tile.n - p->of.pass->tile.dimension);
}

// Item to block and loop indices.
static void write_block_and_loops(pass_text *p) {
  c_writer *w = p->w;
  uint32_t blocks = block_bits(p);
  if (p->look_back) {
    c_look_back_begin(w);
  } else if (blocks > 0) {
    c_item(w, "const %s b = (%s)(item & %s);", w->index, w->index,
           c_number(w, f2_mask((int)blocks)));
    c_item(w, "(void)b;");
  }
  if (p->of.stage->loop_count > 0)
    c_item(w, "uint64_t o = item >> %u;", blocks);
  for (uint32_t i = p->of.stage->loop_count; i-- > 0;) {
    const char *extent = c_number(w, p->of.stage->extents[i]);
    const char *turn = c_format(w, "o %% %s", extent);
    if (p->of.stage->paces) {
      const net_pace *pace = &p->of.stage->paces[i];
      const char *step = c_number(w, pace->step), *last = c_number(w, pace->last);
      turn = c_format(w, "%s * %s", turn, step);
      turn = c_format(w, "%s < %s ? %s : %s", turn, last, turn, last);
    }
    c_item(w, "const int64_t o%u = (int64_t)(%s);", i, turn);
    c_item(w, "o /= %s;", extent);
  }
}

// Tiles in which nothing is alive, and those of padding alone, whose least index is, are left out.
static void skip_tiles(pass_text *p) {
  c_writer *w = p->w;
  const c_space *s = &p->of.schedule.spaces[0];
  const char *skip = w->warps ? "  PERMC_SKIP;" : "  continue;";
  xor_sum m = xor_sum_of_forms(p->of.pass->live_count, p->of.pass->live, s);
  uint64_t least[F2_MAX];
  for (uint32_t i = 0; i < s->blocks; i++)
    least[i] = f2_space_reduce(p->of.pass->tile, s->block[i]);
  if (p->of.pass->live_count > 0) {
    c_item(w, "if (((%s) ^ %s) != 0)", c_linear(w, "b", m.blocks, m.block, false),
           c_number(w, m.constant));
    c_item(w, "%s", skip);
  }
  if (p->of.pass->padding_start != UINT64_MAX) {
    c_item(w, "if ((%s) >= %s)", c_linear(w, "b", s->blocks, least, false),
           c_number(w, p->of.pass->padding_start));
    c_item(w, "%s", skip);
  }
}

// A buffer that is loaded, too, is in the caches: no stream.
static const char *stream_condition(const pass_text *p, net_id array) {
  const char *condition = c_format(p->w, "((uintptr_t)a%u & 63) == 0", array);
  for (uint32_t i = 0; i < p->of.pass->load_count; i++)
    condition = c_format(p->w, "%s && a%u != a%u", condition, array, p->of.pass->loads[i].array);
  return condition;
}

static void write_arrays(const pass_text *p, text *out) {
  for (net_id array = 0; array < p->of.context->plan->arrays.count; array++)
    if (plan_pass_touches(p->of.pass, array))
      text_printf(out, "  void *const a%u = arrays[%u];\n", array, array);
  for (uint32_t i = 0; i < p->of.pass->store_count && p->streams; i++) {
    net_id array = p->of.pass->stores[i].array;
    if (!plan_find_move(p->of.pass->stores, i, array))
      text_printf(out, "  const bool stream%u = %s;\n", array, stream_condition(p, array));
  }
}

static void write_function(const pass_text *p, text *out, text *functions, uint32_t number) {
  text_printf(out,
              "\nvoid permc_pass_%u(void *const *arrays, uint64_t first, uint64_t last,\n"
              "                  void *memory, const permc_imports *imports) {\n"
              "  char *const scratch = memory;\n  (void)scratch;\n  (void)imports;\n",
              number);
  write_arrays(p, out);
  text_string(out, "  for (uint64_t item = first; item < last; item++) {\n");
  text_printf(out, "%s%s", p->prelude, p->skips);
  add_phases(p, out, functions);
  text_string(out, "  }\n");
  if (p->streams)
    text_string(out, "  PERMC_STREAMS_END();\n");
  text_string(out, "}\n");
}

// The elements of all slots that a thread has in registers at once, in words: where some are dead,
// those of the phase that has the most.
static uint64_t words_in_registers(const pass_text *p) {
  uint64_t most = 0, all = 0;
  bool dead = false;
  for (uint32_t slot = 0; slot < p->of.pass->slot_count; slot++)
    if (!plan_slot_is_direct(p->of.stage, p->of.pass, slot))
      all += (uint64_t)(p->of.pass->slot_bytes[slot] + 3) / 4 << p->of.schedule.spaces[0].r;
  for (uint32_t phase = 0; phase < p->of.schedule.phase_count; phase++) {
    uint64_t words = 0;
    for (uint32_t slot = 0; slot < p->of.pass->slot_count; slot++) {
      const c_use *use = c_use_of(&p->of, phase, slot);
      dead |= use->before.live || use->after.live;
      bool held = use->needed || use->made || use->load != C_NOWHERE;
      if (held && !plan_slot_is_direct(p->of.stage, p->of.pass, slot))
        words += (uint64_t)(p->of.pass->slot_bytes[slot] + 3) / 4 << p->of.schedule.spaces[phase].r;
    }
    most = words > most ? words : most;
  }
  return dead ? most : all;
}

// How many blocks shall find room on a multiprocessor at once, so that one computes while another
// exchanges: compilers else keep the addresses of all phases in registers (152 of them, and one
// block, where 64 and four blocks are a quarter faster). Of many phases they keep some all the
// same, and put them in memory where registers are fewer than LEAST_OF_MANY. 0: as it comes, where
// nothing is computed.
static uint32_t blocks_at_once(const pass_text *p) {
  enum { REGISTERS = 65536, THREADS = 2048, BESIDES = 32, BESIDES_WIDE = 64, LEAST = 32 };
  enum { MANY_PHASES = 24, LEAST_OF_MANY = 56 };
  uint64_t data = words_in_registers(p), threads = UINT64_C(1) << p->of.schedule.spaces[0].threads;
  uint64_t scratch = UINT64_C(160) << 10;
  bool wide = false;
  for (uint32_t slot = 0; slot < p->of.pass->slot_count; slot++)
    wide |= p->of.pass->slot_bytes[slot] > 4;
  data += wide ? BESIDES_WIDE : BESIDES;
  if (p->of.schedule.phase_count > MANY_PHASES && data < LEAST_OF_MANY)
    data = LEAST_OF_MANY;
  if (p->look_back) {  // blocks wait for others: as many as can be, and 32 registers will do for 16 words
    data = words_in_registers(p) * 3 / 4;
    data = data < LEAST ? LEAST : data;
    scratch = UINT64_C(200) << 10;
  }
  uint64_t blocks = (data < 128 ? REGISTERS / data : REGISTERS / 128) / threads;
  if (blocks == 1 && REGISTERS / (words_in_registers(p) + BESIDES) / threads > 1)
    blocks = 2;  // one alone waits for itself
  if (blocks > THREADS / threads)
    blocks = THREADS / threads;
  if (blocks > scratch / (p->of.schedule.scratch_bytes + 1))
    blocks = scratch / (p->of.schedule.scratch_bytes + 1);
  return p->of.pass->op_count ? (uint32_t)blocks : 0;
}

// The kernel from behind its number on.
static void write_kernel(const pass_text *p, text *out, text *functions) {
  text_printf(out, ", %u, %u, %llu", 1U << p->of.schedule.spaces[0].threads, blocks_at_once(p),
              (unsigned long long)p->of.schedule.scratch_bytes);
  for (uint32_t i = 0; i < p->array_count; i++)
    text_printf(out, ", void *a%u", i);
  text_printf(out,
              ", const permc_imports *imports%s)\n"
              "    (void)imports; bool odd_nan = false; (void)odd_nan;\n",
              p->look_back ? ", uint64_t *state" : "");
  text_printf(out, "%s%s", p->prelude, p->skips);
  add_phases(p, out, functions);
}

static void write_phases(pass_text *p) {
  c_writer *w = p->w;
  w->arrays = p->arrays = plan_pass_arrays(w->memory, p->of.pass, &p->array_count);
  w->array_count = w->warps ? p->array_count : 0;
  if (w->record) {
    w->record->pass = p->of.pass;
    w->record->stage = p->of.stage;
    w->record->space = &p->of.schedule.spaces[0];
  }
  write_block_and_loops(p);
  p->prelude = c_take_text(w);
  skip_tiles(p);
  for (uint32_t slot = 0, any = 0; slot < p->of.pass->slot_count && !any && !w->warps; slot++)
    if (p->keyed[slot] && (any = 1))
      c_item(w, "bool odd_nan = false;");
  p->skips = c_take_text(w);
  p->phases = NEW_ARRAY(w->memory, const char *, p->of.schedule.phase_count);
  for (uint32_t phase = 0; phase < p->of.schedule.phase_count; phase++)
    p->phases[phase] = c_phase_write(p, phase);
}

static c_pass_facts facts_of(const pass_text *p, uint32_t number) {
  return (c_pass_facts){.scratch_bytes = p->of.schedule.scratch_bytes,
                        .in_place = c_pass_in_place(&p->of),
                        .threads = p->w->warps ? 1U << p->of.schedule.spaces[0].threads : 1,
                        .kernel = number};
}

c_pass_facts c_pass_write_look_back(c_writer *w, c_context *c, text *out, text *functions,
                                    const plan_look_back *l) {
  c_context own = c_context_of(c->memory, l->one, c->options);
  pass_text p = {.w = w, .of = c_pass_of(&own, 0)};
  p.look_back = c_look_back_of(w, l, p.of.schedule.spaces[0].threads, &p.of.schedule.scratch_bytes);
  p.keyed = NEW_ARRAY(w->memory, bool, p.of.pass->slot_count + 1);
  write_phases(&p);
  c->problem = c->problem ? c->problem : own.problem;
  write_kernel(&p, out, functions);
  c_pass_facts facts = facts_of(&p, l->first);
  facts.one = malloc(sizeof *facts.one + p.array_count * sizeof *facts.one->arrays);
  out->failed |= !facts.one;
  if (facts.one) {
    *facts.one = (c_one_kernel){l->last, c_look_back_blocks(p.look_back),
                                p.look_back->words * sizeof(uint64_t), p.array_count};
    memcpy(facts.one->arrays, p.arrays, p.array_count * sizeof *p.arrays);
  }
  return facts;
}

c_pass_facts c_pass_write(c_writer *w, c_context *c, text *out, text *functions, uint32_t number) {
  enum { MANY_BLOCKS = 9 };  // 2^9, a few per multiprocessor
  c_runtime_matrix matrix;
  if (c_runtime_matrix_of(c, &c->plan->passes.items[number], &matrix)) {
    c_runtime_matrix_write(w, &matrix, out);
    permc_runtime_matrix *data = malloc(sizeof *data);
    out->failed |= !data;
    if (data)
      *data = matrix.data;
    return (c_pass_facts){.scratch_bytes = matrix.scratch_bytes,
                          .in_place = true,
                          .threads = 1U << matrix.threads,
                          .kernel = number,
                          .matrix = data};
  }
  pass_text p = {.w = w, .of = c_pass_of(c, number)};
  w->sums = w->warps && block_bits(&p) >= MANY_BLOCKS;
  p.keyed = c_keyed_slots(&p.of);
  write_phases(&p);
  if (w->warps)
    write_kernel(&p, out, functions);
  else
    write_function(&p, out, functions, number);
  return facts_of(&p, number);
}
