// An explanation for a reader:
//
//   main : [2^n]i32 -> [2^n]i32
//   sizes         n = 24
//   arguments     [2^24]i32
//   results       [2^24]i32
//   target        line128-tile128k: lines of 128 bytes, tiles of 128 KiB, vectors of 64 bytes, ...
//
//   columns       300, each of static direction
//   maps          0
//   permutations  0; as written, 574 steps move elements
//   passes        14, with 70 exchanges
//   memory        at most 128 MiB at a time; 9 arrays between passes
//
//   pass   ops  phases      read   written      time  bound by  tile
//      1    45      10    64 MiB    64 MiB   9.79 ms  work      14: bits 0-13
//   ...
//   all    300      84   896 MiB   896 MiB    246 ms
//
//   boundary      before passes 2-14: X and Y in one pass need a tile of 2^16 elements; ...
//                 X and Y are sort xs at sort.perm:2:9
//                 removed by: a tile 2 times as large, or fewer values at a time
#include "core/number.h"
#include "core/units.h"
#include "kernels/routines/permute/permute.h"
#include "runtime/explain/explain.h"

#include <inttypes.h>
#include <stdio.h>

enum { WIDTH = 100, LABEL = 14 };  // of lines; of the words before what they are about

// ---- lengths ----------------------------------------------------------------------------------

// "3", or 2^k where that is shorter.
static void print_length(text *out, uint64_t length) {
  if (length >= 1024 && !(length & (length - 1)))
    text_printf(out, "2^%d", f2_lsb(length));
  else
    text_printf(out, "%" PRIu64, length);
}

// ---- the program -----------------------------------------------------------------------------

static void print_shape(text *out, const trace_step *s) {
  for (uint32_t i = 0; i < s->rank; i++) {
    text_string(out, "[");
    print_length(out, s->dims[i]);
    text_string(out, "]");
  }
  text_string(out, scalar_types[s->type].name);
}

static void print_arguments(text *out, const trace *t) {
  bool any = false;
  text_string(out, "arguments     ");
  for (size_t i = 0; i < t->steps.count; i++)
    if (t->steps.items[i].op == TRACE_ARGUMENT) {
      text_string(out, any ? ", " : "");
      print_shape(out, &t->steps.items[i]);
      any = true;
    }
  text_string(out, any ? "\n" : "none\n");
}

// Those that elaboration had to know.
static void print_static_arguments(text *out, const array_shapes *arrays) {
  enum { SHOWN = 16 };
  for (size_t i = 0; i < arrays->count; i++) {
    const array_shape *a = &arrays->items[i];
    uint64_t count = product_of(a->dims, a->rank);
    if (!a->data)
      continue;
    text_printf(out, "static        argument %zu:", i + 1);
    for (uint64_t k = 0; k < count && k < SHOWN; k++)
      text_printf(out, " %" PRId64, ((const int64_t *)a->data)[k]);
    text_string(out, count > SHOWN ? " ...\n" : "\n");
  }
}

// Those whose places have been looked at, and are a part of the program if they do something
// simple. Of others, what it would take to make a schedule of them, as measured: longer than a run.
static void print_places(text *out, const trace *t) {
  const double colouring = 2.4e-7;  // seconds an element, of one processor
  char time[NUMBER_SPACE];
  for (size_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    if (s->op != TRACE_ARGUMENT || !s->places || !s->places->is_recognised)
      continue;
    text_printf(out, "places        argument %" PRIu64 ": ", s->number + 1);
    movement_print(out, &s->places->moves);
    if (!s->places->is_permutation)
      text_printf(out,
                  "; checked in each run. permc schedule takes about %s of one processor, once, "
                  "and what it makes is not checked",
                  show_seconds(time, colouring * (double)s->dims[0]));
    text_string(out, "\n");
  }
}

static void print_results(text *out, const trace *t) {
  for (size_t i = 0; i < trace_returned(t); i++) {
    text_string(out, i ? ", " : "results       ");
    print_shape(out, &t->steps.items[t->results.items[i]]);
  }
  text_string(out, "\n");
}

static void print_target(text *out, const target *t, bool tuned) {
  char number[NUMBER_SPACE];
  text_printf(out, "target        %s%s: lines of %" PRIu32 " bytes, tiles of %s, ", t->name,
              tuned ? ", tuned" : "", t->line_bytes, show_bytes(number, t->tile_bytes));
  if (t->lane_bytes)
    text_printf(out, "vectors of %" PRIu32 " bytes", t->lane_bytes);
  else
    text_printf(out, "%u lanes", 1u << t->lane_bits);
  text_printf(out, ", %s in registers\n", show_bytes(number, t->register_bytes));
}

// A type may be written on several lines.
static void print_type(text *out, const char *written) {
  for (const char *at = written; *at; at++) {
    bool blank = *at == ' ' || *at == '\n' || *at == '\t' || *at == '\r';
    if (!blank)
      text_add(out, at, 1);
    else if (at[1] != ' ' && at[1] != '\n' && at[1] != '\t' && at[1] != '\r')
      text_string(out, " ");
  }
}

static void print_program(text *out, const explanation *e) {
  text_printf(out, "%s : ", e->entry);
  print_type(out, e->type);
  for (size_t i = 0; i < e->request->size_count; i++)
    text_printf(out, "%s%s = %" PRId64, i ? ", " : "\nsizes         ", e->request->sizes[i].name,
                e->request->sizes[i].value);
  text_string(out, "\n");
  print_arguments(out, &e->pipeline->trace);
  print_static_arguments(out, &e->pipeline->shapes.arrays);
  print_places(out, &e->pipeline->trace);
  print_results(out, &e->pipeline->trace);
  print_target(out, e->pipeline->plan->target, e->pipeline->tuned);
}

// ---- words in lines ----------------------------------------------------------------------------

// Words, each in a new line of its own column where it does not fit any more.
static void print_words(text *out, size_t *column, size_t indent, const char *words) {
  while (*words) {
    size_t length = strcspn(words, " ");
    if (*column + length + 1 > WIDTH) {
      text_printf(out, "\n%*s", (int)indent, "");
      *column = indent;
    } else if (*column > indent) {
      text_string(out, " ");
      ++*column;
    }
    text_add(out, words, length);
    *column += length;
    words += length + (words[length] == ' ');
  }
}

// Increasing numbers as "2, 4-9".
typedef struct number_ranges {
  text list;  // of all but the last range
  uint64_t first, last, count;
} number_ranges;

static void end_range(number_ranges *r) {
  if (!r->count)
    return;
  text_printf(&r->list, "%s%" PRIu64, r->list.length ? ", " : "", r->first);
  if (r->last > r->first)
    text_printf(&r->list, "-%" PRIu64, r->last);
}

static void add_number(number_ranges *r, uint64_t number) {
  if (r->count && number == r->last)
    return;
  if (!r->count || number != r->last + 1) {
    end_range(r);
    r->first = number;
  }
  r->last = number;
  r->count++;
}

// Prints the list, of which the last range has been ended.
static void print_list(text *out, size_t *column, size_t indent, text *list) {
  print_words(out, column, indent, text_content(list));
  out->failed |= list->failed;
  text_free(list);
}

// ---- counts ----------------------------------------------------------------------------------

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static void print_padding(text *out, const plan *p) {
  static const char *const words[] = {"", "stays out of memory", "is stored between passes"};
  for (int kind = PADDING_NONE + 1; kind < 3; kind++) {
    number_ranges stages = {0};
    size_t column = LABEL;
    for (size_t i = 0; i < p->net->stages.count; i++)
      if ((int)p->padding[i] == kind)
        add_number(&stages, i + 1);
    if (!stages.count)
      continue;
    text_string(out, "padding       ");
    if (p->net->stages.count > 1) {
      print_words(out, &column, LABEL, stages.count > 1 ? "of stages" : "of stage");
      end_range(&stages);
      print_list(out, &column, LABEL, &stages.list);
    }
    print_words(out, &column, LABEL, words[kind]);
    text_string(out, "\n");
  }
}

// What is checked at the end of each run.
static void print_checks(text *out, const trace *t) {
  if (t->proven_checks)
    text_string(out, "padding       is in no result of padded: proven\n");
  static const char *const words[CHECK_KINDS] = {
      [CHECK_PADDING] = "padding       is looked for in the result of padded, in each run",
      [CHECK_PLACES] = "indices       are checked in each run: inside, and distinct for scatter",
      [CHECK_KEYS] = "keys          are checked in each run: of the number of bits that is said",
      [CHECK_ROWS] = "rows          are checked in each run: no longer than they may be",
      [CHECK_ENDS] = "offsets       are checked in each run: of elements, and ascending",
      [CHECK_OFFSETS] = "offsets       are checked in each run: of elements, or of the end",
      [CHECK_FRACTIONS] = "fractions     are checked in each run: from 0 to 1"};
  bool made[CHECK_KINDS] = {false};
  for (size_t i = 0; i < t->checks.count; i++)
    made[t->checks.items[i].kind] = true;
  for (int kind = 0; kind < CHECK_KINDS; kind++)
    if (made[kind])
      text_printf(out, "%s\n", words[kind]);
}

// Where one was asked for: those that were used.
static void print_strategies(text *out, const permc_context *c, const explanation *e) {
  const plan *p = e->pipeline->plan;
  for (size_t i = 0; i < p->net->stages.count && c->strategy; i++) {
    bool again = i > 0 && !strcmp(p->strategy[i], p->strategy[i - 1]);
    if (!again)
      text_printf(out, i ? ", %s" : "strategy      %s", p->strategy[i]);
  }
  text_string(out, c->strategy && p->net->stages.count ? "\n" : "");
}

void explain_groups_text(text *out, const explained_groups *g) {
  text_printf(out, "%" PRIu64 " column%s on groups of %s%" PRIu64 " elements", g->columns,
              g->columns == 1 ? " works" : "s work", g->columns == 1 ? "" : "up to ", g->elements);
  if (g->comparators)
    text_printf(out, ": %" PRIu64 " comparator%s in %" PRIu64 " layer%s", g->comparators,
                plural(g->comparators), g->layers, plural(g->layers));
}

static void print_counts(text *out, const permc_context *c, const explanation *e) {
  const plan_facts *f = &e->facts;
  char number[NUMBER_SPACE];
  text_printf(out, "\ncolumns       %" PRIu64, f->columns);
  if (f->columns && f->static_columns == f->columns)
    text_string(out, ", each of static direction");
  else if (f->columns)
    text_printf(out, ", %" PRIu64 " of them of static direction", f->static_columns);
  if (e->groups.columns) {
    text_string(out, "\n              ");
    explain_groups_text(out, &e->groups);
  }
  text_printf(out, "\nmaps          %" PRIu64 "\n", f->maps);
  text_printf(out, "permutations  %" PRIu64 "; as written, %" PRIu64 " step%s move%s elements\n",
              f->permutations, e->moving_steps, plural(e->moving_steps),
              e->moving_steps == 1 ? "s" : "");
  text_printf(out, "passes        %" PRIu64, f->passes);
  if (f->exchanges)
    text_printf(out, ", with %" PRIu64 " exchange%s", f->exchanges, plural(f->exchanges));
  if (f->copies)
    text_printf(out, "; besides, %" PRIu64 " cop%s", f->copies, f->copies == 1 ? "y" : "ies");
  text_printf(out, "\nmemory        at most %s at a time; %" PRIu64 " array%s between passes\n",
              show_bytes(number, e->peak_bytes), f->temporaries, plural(f->temporaries));
  print_padding(out, e->pipeline->plan);
  print_checks(out, &e->pipeline->trace);
  print_strategies(out, c, e);
}

// ---- passes ----------------------------------------------------------------------------------

// "15: bits 0-4, 7, 19-23, 0x80001": the basis, its unit vectors by their bits.
static void print_tile(text *out, f2_space tile, size_t indent) {
  char head[32];
  size_t column = indent;
  number_ranges bits = {0};
  uint64_t units = 0;
  for (int i = 0; i < tile.dimension; i++)
    units |= f2_weight(tile.basis[i]) == 1 ? tile.basis[i] : 0;
  for (uint64_t rest = units; rest; rest &= rest - 1)
    add_number(&bits, (uint64_t)f2_lsb(rest));
  end_range(&bits);
  for (int i = 0; i < tile.dimension; i++)
    if (f2_weight(tile.basis[i]) != 1)
      text_printf(&bits.list, "%s0x%" PRIx64, bits.list.length ? ", " : "", tile.basis[i]);
  snprintf(head, sizeof head, "%d%s%s", tile.dimension, tile.dimension ? ":" : "",
           bits.count > 1   ? " bits"
           : bits.count > 0 ? " bit"
                            : "");
  print_words(out, &column, indent, head);
  print_list(out, &column, indent, &bits.list);
  text_string(out, "\n");
}

static void print_array_name(text *out, const plan *p, net_id id) {
  const net_array *a = &p->arrays.items[id];
  uint32_t between = 0;
  for (net_id i = 0; i <= id; i++)
    between += p->arrays.items[i].role == NET_TEMPORARY;
  if (a->role == NET_TEMPORARY)
    text_printf(out, "array %" PRIu32 " between passes", between);
  else
    text_printf(out, "array %" PRIu32 " of the %ss", a->number + 1, net_role_names[a->role]);
}

// Why a move is not one of whole lines.
static void print_moves(text *out, const plan *p, const plan_pass *pass) {
  for (uint32_t i = 0; i < pass->load_count + pass->store_count; i++) {
    const plan_move *m = plan_move_at(pass, i);
    if (m->coalesced || m->direct || plan_are_few(m->live_count))
      continue;
    int missing = plan_missing_dimensions(p, pass, m);
    text_printf(out, "      %s ", i < pass->load_count ? "reads" : "writes");
    print_array_name(out, p, m->array);
    text_printf(out, " in parts of lines: for whole ones the tile would need %d dimension%s more\n",
                missing, plural((uint64_t)missing));
  }
}

// Of a permutation by a schedule on a GPU: by what it is done, and what the strategies are
// predicted to take if it is a random one: "places array 1 of the arguments, by tiled; copies:
// tiled 3.6, s-designated 8.5, d-designated 16.6".
static void print_permutation(text *out, const plan *p, const plan_pass *pass) {
  const net_routine *r = plan_routine_of(p, pass);
  const net_array *to = &p->arrays.items[r->pairs[1].to];
  uint32_t bytes = (uint32_t)(to->count / r->length * scalar_types[to->type].size);
  const char *asked = p->strategy[pass->stage], *by = asked;
  permute_shape s;
  if (!strcmp(asked, "routine"))
    by = permute_names[permute_choose(r->length, bytes, NULL, &s)];
  text_string(out, "places ");
  print_array_name(out, p, r->pairs[0].from);
  if (!p->target->lane_bytes) {
    text_printf(out, ", by %s; copies:", by);
    for (int i = 0, shown = 0; i < PERMUTE_KINDS; i++)
      if (!permute_shape_of((permute_strategy)i, r->length, bytes, NULL, &s))
        text_printf(out, "%s %s %.1f", shown++ ? "," : "", permute_names[i],
                    permute_copies(&s, NULL));
  }
  text_string(out, "\n");
}

// "16383 x 16385, in the order 2 1": the dimensions before, the outermost first; after, by their
// numbers.
static void print_transpose(text *out, const net_routine *r) {
  for (uint32_t after = 0; after < 2; after++) {
    uint64_t distance = UINT64_MAX;  // of the dimension that was shown last
    for (uint32_t i = 0; i < r->dimension_count; i++) {
      uint32_t next = 0, number = 1;
      uint64_t farthest = 0;
      for (uint32_t d = 0; d < r->dimension_count; d++) {
        uint64_t own = after ? r->dimensions[d].to : r->dimensions[d].from;
        if (own < distance && own > farthest) {
          farthest = own;
          next = d;
        }
      }
      distance = farthest;
      for (uint32_t d = 0; d < r->dimension_count; d++)
        number += r->dimensions[d].from > r->dimensions[next].from;
      if (after)
        text_printf(out, " %" PRIu32, number);
      else
        text_printf(out, "%s%" PRIu64, i ? " x " : "", r->dimensions[next].extent);
    }
    text_string(out, after ? "\n" : ", in the order");
  }
}

// "keys array 1 of the arguments of 32 bits, 2 payloads: 4 times over all".
static void print_routine(text *out, const plan *p, const plan_pass *pass) {
  const net_routine *r = plan_routine_of(p, pass);
  if (r->kind == NET_PERMUTE) {
    print_permutation(out, p, pass);
    return;
  }
  if (r->kind == NET_TRANSPOSE) {
    print_transpose(out, r);
    return;
  }
  uint32_t digits = plan_routine_digits(p, r);
  text_printf(out, "keys ");
  print_array_name(out, p, r->pairs[0].from);
  text_printf(out, " of %" PRIu32 " bits", plan_routine_bits(p, r));
  if (r->rows > 1)
    text_printf(out, " in %" PRIu64 " rows", r->rows);
  if (pass->keys_from)
    text_printf(out, ", made of what pass %" PRIu32 " reads", pass->keys_from);
  uint32_t payloads = r->pair_count - 1 - r->counts;
  if (payloads > 0)
    text_printf(out, ", %" PRIu32 " payload%s", payloads, plural(payloads));
  if (r->counts)
    text_string(out, ", with counts");
  if (r->ragged) {
    text_string(out, ", in rows that ");
    print_array_name(out, p, r->offsets);
    text_printf(out, " cuts: each by itself%s\n",
                p->target->lane_bytes ? "" : ", by kernels tiles and parts");
    return;
  }
  text_printf(out, ": %" PRIu32 " time%s over all\n", digits, plural(digits));
}

static const char *const bounds[] = {"memory", "work", "start"};

// The columns of the table that are numbers: of passes whose names are in front.
static void print_numbers(text *out, uint64_t phases, uint64_t read, uint64_t written,
                          double seconds) {
  char from[NUMBER_SPACE], to[NUMBER_SPACE], time[NUMBER_SPACE];
  text_printf(out, "  %6" PRIu64 "  %9s  %9s  %9s", phases, show_bytes(from, read),
              show_bytes(to, written), show_seconds(time, seconds));
}

static void print_pass(text *out, const plan *p, size_t number) {
  const plan_pass *pass = &p->passes.items[number];
  plan_pass_facts f = plan_pass_facts_of(p, number);
  char ops[NUMBER_SPACE];
  snprintf(ops, sizeof ops, "%" PRIu32, pass->op_count);
  size_t start = out->length;
  text_printf(out, "%4zu  %4s", number + 1,
              f.kind == PLAN_COPY      ? "copy"
              : f.kind == PLAN_MOVE    ? "move"
              : f.kind == PLAN_ROUTINE ? net_routine_names[plan_routine_of(p, pass)->kind]
                                       : ops);
  print_numbers(out, pass->phase_count, f.bytes_read, f.bytes_written, pass->seconds);
  text_printf(out, "  %-8s  ", bounds[f.bound]);
  if (f.kind == PLAN_ROUTINE)
    print_routine(out, p, pass);
  else
    print_tile(out, pass->tile, out->length - start);
  print_moves(out, p, pass);
}

// "stage 2: 2^10 elements, 3 x 5 times".
static void print_stage(text *out, const plan *p, uint32_t number) {
  const net_stage *s = &p->net->stages.items[number];
  if (s->routine) {
    text_printf(out, "stage %" PRIu32 ": routine %s, %" PRIu64 " x %" PRIu64 " elements\n",
                number + 1, net_routine_names[s->routine->kind], s->routine->rows,
                s->routine->length);
    return;
  }
  if (p->net->stages.count == 1 && !s->loop_count)
    return;
  text_printf(out, "stage %" PRIu32 ": 2^%d elements", number + 1, s->n);
  for (uint32_t i = 0; i < s->loop_count; i++) {
    text_string(out, i ? " x " : ", ");
    print_length(out, s->extents[i]);
  }
  text_string(out, s->loop_count ? " times\n" : "\n");
}

// "1-3": passes that a GPU executes as one.
static void print_one(text *out, const explanation *e, uint32_t first) {
  plan_look_back l;
  char range[NUMBER_SPACE];
  if (!plan_look_back_from(&e->pipeline->memory, e->pipeline->plan, first, &l))
    return;
  plan_pass_facts f = plan_pass_facts_of(l.one, 0);
  const plan_pass *pass = &l.one->passes.items[0];
  snprintf(range, sizeof range, "%" PRIu32 "-%" PRIu32, l.first + 1, l.last + 1);
  text_printf(out, "%4s   one", range);
  print_numbers(out, pass->phase_count, f.bytes_read, f.bytes_written, pass->seconds);
  text_printf(out, "  %-8s  %d: its blocks look back\n", bounds[f.bound], pass->tile.dimension);
}

// "20 times, on other arrays each time: passes 3 to 9". Whether the pass is of a later round.
static bool print_loop(text *out, const plan *p, uint32_t pass) {
  for (size_t i = 0; i < p->loops.count; i++) {
    const plan_loop *l = &p->loops.items[i];
    if (pass == l->first)
      text_printf(out, "%" PRIu32 " times, to pass %" PRIu32 ", on other arrays each time:\n",
                  l->rounds, l->first + l->rounds * l->count);
    if (pass >= l->first + l->count && pass < l->first + l->rounds * l->count)
      return true;
  }
  return false;
}

static void print_passes(text *out, const explanation *e) {
  const plan *p = e->pipeline->plan;
  const plan_facts *f = &e->facts;
  uint64_t phases = 0;
  if (!p->passes.count)
    return;
  text_string(out, "\npass   ops  phases       read    written       time  bound by  tile\n");
  for (uint32_t i = 0; i < p->passes.count; i++) {
    phases += p->passes.items[i].phase_count;
    if (print_loop(out, p, i))
      continue;
    if (i == 0 || p->passes.items[i].stage != p->passes.items[i - 1].stage)
      print_stage(out, p, p->passes.items[i].stage);
    print_pass(out, p, i);
  }
  text_printf(out, " all  %4" PRIu64, f->columns + f->maps);
  print_numbers(out, phases, f->bytes_read, f->bytes_written, f->seconds);
  text_string(out, "\n");
  for (uint32_t i = 0; i < p->passes.count; i++)
    print_one(out, e, i);
}

// ---- why passes are apart ----------------------------------------------------------------------

// " pass 2:" or " passes 2, 4-9:" of all that say the same.
static void print_pass_numbers(text *out, size_t *column, const explained_boundary *b) {
  number_ranges numbers = {0};
  for (; b; b = b->again)
    add_number(&numbers, b->at.pass + 1);
  print_words(out, column, LABEL, numbers.count > 1 ? "passes" : "pass");
  end_range(&numbers);
  text_string(&numbers.list, ":");
  print_list(out, column, LABEL, &numbers.list);
}

static void print_op(text *out, const char *names, const char *op) {
  if (op)
    text_printf(out, "%*s%s %s\n", LABEL, "", names, op);
}

// Its ops, and what would remove it.
static void print_boundary(text *out, const explained_boundary *b) {
  size_t column = LABEL;
  text_string(out, b->at.permutation ? "\npermutation   " : "\nboundary      ");
  print_words(out, &column, LABEL, b->at.permutation ? "" : "before");
  print_pass_numbers(out, &column, b);
  print_words(out, &column, LABEL, b->why);
  text_string(out, "\n");
  bool one = b->first && b->second && !strcmp(b->first, b->second);
  print_op(out, one ? "X and Y are" : "X is", b->first);
  print_op(out, "Y is", one ? NULL : b->second);
  text_printf(out, "%*sremoved by: %s\n", LABEL, "", b->remedy);
}

// ---- auto ------------------------------------------------------------------------------------

// What the backend auto does, why, and the times that it weighs.
static void print_auto(text *out, const explained_choice *choice) {
  text_string(out, "auto          ");
  if (choice->on_gpu != choice->cached)
    text_printf(out, "%s with a GPU, else ", choice->on_gpu);
  if (choice->cached != choice->begins)
    text_printf(out, "%s from the cache, else ", choice->cached);
  text_printf(out, "%s%s", choice->begins, choice->compiles ? " until cpu is compiled" : "");
  if (choice->often != choice->begins)
    text_printf(out, "; called often: %s", choice->often);
  text_printf(out, "\nbecause       %s\n", choice->why);
}

static void print_predicted(text *out, const cost_model *m, bool gpu) {
  char number[NUMBER_SPACE];
  text_printf(out, "predicted     a call: interp %s", show_seconds(number, m->interp));
  text_printf(out, ", portable %s", show_seconds(number, m->portable));
  text_printf(out, ", cpu %s", show_seconds(number, m->compiled));
  if (gpu)
    text_printf(out, ", cuda %s", show_seconds(number, m->cuda_cached - m->planning));
  text_printf(out, "\nbefore it     planning %s", show_seconds(number, m->planning));
  text_printf(out, ", looking for compiled code %s", show_seconds(number, m->text));
  text_printf(out, ", compiling %s", show_seconds(number, m->compile));
  if (gpu)
    text_printf(out, " (cuda %s)", show_seconds(number, m->cuda - m->cuda_cached));
  text_string(out, "\n");
}

// ---- the whole -------------------------------------------------------------------------------

void explain_text(text *out, const permc_context *c, const explanation *e, bool show_rules) {
  char number[NUMBER_SPACE];
  print_program(out, e);
  if (!e->request->target) {
    print_auto(out, &e->choice);
    if (!e->costs && !e->steps)
      print_predicted(out, &e->pipeline->model, e->choice.on_gpu != e->choice.cached);
  }
  print_counts(out, c, e);
  print_passes(out, e);
  if (e->costs)
    explain_ranks_text(out, e);
  if (e->steps)
    explain_files_text(out, e);
  for (uint32_t i = 0; i < e->boundary_count; i++)  // equal ones once
    if (!e->boundaries[i].repeats)
      print_boundary(out, &e->boundaries[i]);
  if (show_rules) {
    text_string(out, "\n");
    rules_print(out, &e->pipeline->rules);
  }
  text_printf(out, "\nplanned in %s\n", show_seconds(number, e->planning_seconds));
}
