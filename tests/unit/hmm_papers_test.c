// What the papers say of the memory machines, by executing: examples, Table 1 and transposes of the
// DMM/UMM paper, Table I and the distributions of the HMM paper.
#include "core/number.h"
#include "core/random.h"
#include "kernels/hmm/algorithm.h"
#include "tests/test.h"
#include "tests/unit/memory.h"

#include <math.h>

static uint64_t run(const hmm_machine *m, const char *name, const hmm_task *t, hmm_counts *c) {
  const hmm_algorithm *r = hmm_algorithm_named(name);
  CHECK(r != NULL);
  *c = (hmm_counts){0};
  if (!CHECK_STR(hmm_algorithm_run(&memory, m, r, t, c), NULL))
    printf("%s %s, n = %" PRIu64 "\n", hmm_kind_names[m->kind], name, t->n);
  return c->time;
}

static uint64_t closed(const hmm_machine *m, const char *name, const hmm_task *t) {
  return hmm_algorithm_time(&memory, m, hmm_algorithm_named(name), t);
}

// ---- examples --------------------------------------------------------------------------------

static void check_example(uint64_t latency, const uint64_t *list, uint64_t dmm, uint64_t umm) {
  hmm_task t = {.n = 8, .list = list};
  hmm_counts c;
  for (int i = 0; i < 4; i++) {
    hmm_machine m = {i & 1 ? HMM_KIND_UMM : HMM_KIND_DMM, 1, 4, latency, 1, 8, i & 2};
    CHECK_EQ_U64(run(&m, "addresses", &t, &c), i & 1 ? umm : dmm);
  }
}

TEST(figures) {
  START();
  check_example(3, (uint64_t[]){0, 1, 10, 6, 8, 9, 14, 15}, 5, 7);   // DMM/UMM paper, Figure 4
  check_example(5, (uint64_t[]){7, 5, 15, 0, 10, 11, 12, 9}, 7, 9);  // HMM paper, Figure 3
}

// ---- DMM/UMM paper, Table 1 ------------------------------------------------------------------

static void check_grid(hmm_machine m, uint64_t n) {
  static const char *const names[] = {"contiguous", "stride"};
  hmm_task t = {.n = n};
  hmm_counts c;
  uint64_t w = m.width, p = m.threads, apart = n / p;
  uint64_t k = m.kind == HMM_KIND_DMM ? greatest_common_divisor(apart, w) : apart < w ? apart : w;
  for (int i = 0; i < 2; i++) {
    uint64_t each = i ? k : 1;
    uint64_t time = run(&m, names[i], &t, &c);
    CHECK_EQ_U64(time, closed(&m, names[i], &t));
    if (m.barrier)
      CHECK_EQ_U64(time, (each * (p / w) + m.latency - 1) * apart);
    CHECK_EQ_U64(c.histogram[m.kind == HMM_KIND_DMM][each], n / w);
    // The orders of magnitude of the table, with the constants between them.
    double order = (double)(each * n) / (double)w + (double)(apart * m.latency);
    CHECK((double)time <= order && (double)time >= order / 2);
  }
}

TEST(contiguous_and_stride) {
  START();
  static const uint32_t widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64};
  static const uint64_t latencies[] = {1, 2, 5, 32, 400};
  for (int i = 0; i < 10 * 5 * 4 * 12; i++) {
    arena_free(&memory);
    uint32_t w = widths[i % 10];
    uint64_t warps = UINT64_C(1) << 2 * (i / 50 % 4), apart = 1 + (uint64_t)i / 200;
    hmm_machine m = {HMM_KIND_DMM, 1, w, latencies[i / 10 % 5], 1, w * warps, false};
    for (int k = 0; k < 4; k++) {
      m.kind = k & 1 ? HMM_KIND_UMM : HMM_KIND_DMM;
      m.barrier = k & 2;
      check_grid(m, m.threads * apart);
    }
  }
}

// ---- transposes ------------------------------------------------------------------------------

static const char *const transposes[] = {"crsw", "srcw", "drdw", "diagonal-transpose"};

static void check_transposes(hmm_machine m, uint64_t side) {
  hmm_task t = {.n = side * side};
  hmm_counts c;
  for (int i = 0; i < 8; i++) {
    m.kind = i & 1 ? HMM_KIND_UMM : HMM_KIND_DMM;
    for (int barrier = 0; barrier < 2; barrier++) {
      m.barrier = barrier;
      uint64_t time = run(&m, transposes[i / 2], &t, &c),
               expected = closed(&m, transposes[i / 2], &t);
      CHECK(!m.barrier || expected > 0);
      CHECK(expected == 0 || time == expected);
    }
  }
}

TEST(transposes_of_the_dmm) {
  START();
  for (uint32_t w = 1; w <= 32; w = w < 4 ? w + 1 : 2 * w)
    for (uint64_t times = 1; times <= 3; times++)
      for (uint64_t warps = 1; warps <= w * times; warps++) {
        arena_free(&memory);
        if (w * times * w * times % (w * warps) == 0)
          check_transposes((hmm_machine){HMM_KIND_DMM, 1, w, 7, 1, w * warps, true}, w * times);
      }
}

// Times are linear in n/w and n l/p, with constants that do not depend on n, p, l: two accesses of
// each element by the diagonal access, four by rotations (a local and a global transpose).
static void check_linear(uint64_t n, uint64_t latency, uint64_t threads) {
  hmm_machine dmm = {HMM_KIND_DMM, 1, 32, latency, 1, threads, true}, umm = dmm;
  hmm_task t = {.n = n};
  hmm_counts c;
  umm.kind = HMM_KIND_UMM;
  uint64_t bandwidth = n / 32, waiting = n * (latency - 1) / threads;
  CHECK_EQ_U64(run(&dmm, "diagonal-transpose", &t, &c), 2 * bandwidth + 2 * waiting);
  if (threads <= n / 32)
    CHECK_EQ_U64(run(&umm, "umm-transpose", &t, &c), 4 * bandwidth + 4 * waiting);
}

TEST(transposes_are_linear) {
  START();
  for (uint64_t side = 32; side <= 256; side *= 2)
    for (uint64_t latency = 1; latency <= 257; latency += 128)
      for (uint64_t threads = 64; threads <= 1024; threads *= 4) {
        arena_free(&memory);
        check_linear(side * side, latency, threads);
      }
}

// With r registers: sqrt(w/r) times as long (Lemma 5.3).
TEST(transposes_with_registers) {
  START();
  for (int barrier = 0; barrier < 2; barrier++)
    for (uint32_t w = 4; w <= 64; w *= 4)
      for (uint64_t r = 1; r <= w; r *= 4)
        for (uint64_t warps = 1; warps <= 4; warps *= 4) {
          arena_free(&memory);
          hmm_machine m = {HMM_KIND_UMM, 1, w, 9, 1, w * warps, barrier};
          hmm_task t = {.n = 16 * w * w, .registers = r};
          hmm_counts c;
          uint64_t root = hmm_side(w / r), time = run(&m, "umm-transpose", &t, &c);
          CHECK_EQ_U64(c.histogram[0][1], c.accesses[0] + c.accesses[1]);
          if (m.barrier)
            CHECK_EQ_U64(time, 4 * (t.n / w + t.n * 8 / m.threads) * root);
        }
}

// ---- HMM paper, Table I ----------------------------------------------------------------------

// Rounds that are not casual, and those that are, by op.
static void check_rounds(const hmm_counts *c, const uint64_t *good, const uint64_t *casual) {
  for (hmm_op op = 0; op < HMM_ACCESSES; op++) {
    CHECK_EQ_U64(c->rounds[op] - c->casual[op], good[op]);
    CHECK_EQ_U64(c->casual[op], casual[op]);
  }
}

static void check_table_1(uint32_t bits, uint32_t w, uint64_t latency) {
  uint64_t n = UINT64_C(1) << bits;
  hmm_machine m = {HMM_KIND_HMM, 1, w, latency, 1, n, true};
  hmm_counts c;
  CHECK_EQ_U64(run(&m, "hmm-transpose", &(hmm_task){.n = n}, &c), 4 * n / w + 2 * latency - 2);
  check_rounds(&c, (uint64_t[]){1, 1, 1, 1}, (uint64_t[]){0, 0, 0, 0});
  for (size_t i = 0; hmm_permutation_at(i); i++) {
    uint64_t *list = hmm_permutation_list(&memory, hmm_permutation_at(i), bits, 3);
    uint64_t *inverse = NEW_ARRAY(&memory, uint64_t, n);
    for (uint64_t k = 0; k < n; k++)
      inverse[list[k]] = k;
    bool moves = i > 0;
    uint64_t d = hmm_distribution(&memory, list, n, w, false),
             s = hmm_distribution(&memory, inverse, n, w, false);
    hmm_task t = {.n = n, .list = list};
    CHECK_EQ_U64(run(&m, "d-designated", &t, &c), d + 2 * n / w + 3 * latency - 3);
    check_rounds(&c, (uint64_t[]){2, !moves, 0, 0}, (uint64_t[]){0, moves, 0, 0});
    CHECK_EQ_U64(run(&m, "s-designated", &t, &c), s + 2 * n / w + 3 * latency - 3);
    check_rounds(&c, (uint64_t[]){moves ? 1 : 2, 1, 0, 0}, (uint64_t[]){moves, 0, 0, 0});
    if (bits > 12 && hmm_permutation_at(i)->at)  // not the random one
      continue;
    CHECK_EQ_U64(run(&m, "scheduled", &t, &c), 32 * n / w + 16 * latency - 16);
    check_rounds(&c, (uint64_t[]){11, 5, 8, 8}, (uint64_t[]){0, 0, 0, 0});
  }
}

// Another random permutation for each row, or column, of a square matrix.
static uint64_t *inside(uint64_t side, bool rows) {
  uint64_t *list = NEW_ARRAY(&memory, uint64_t, side * side), state = side;
  uint16_t *order = NEW_ARRAY(&memory, uint16_t, side);
  for (uint64_t i = 0; i < side; i++) {
    draw_permutation(&state, (uint32_t)side, order);
    for (uint64_t k = 0; k < side; k++)
      list[rows ? i * side + k : k * side + i] = rows ? i * side + order[k] : order[k] * side + i;
  }
  return list;
}

TEST(rows_and_columns) {
  START();
  static const uint64_t sides[] = {32, 48, 64, 240};
  for (int i = 0; i < 4 * 2; i++) {
    arena_free(&memory);
    uint64_t side = sides[i / 2], n = side * side, w = 16, latency = i % 2 ? 100 : 1;
    hmm_machine m = {HMM_KIND_HMM, 1, (uint32_t)w, latency, 1, n, true};
    hmm_counts c;
    CHECK_EQ_U64(run(&m, "row-wise", &(hmm_task){.n = n, .list = inside(side, true)}, &c),
                 8 * n / w + 4 * latency - 4);
    check_rounds(&c, (uint64_t[]){3, 1, 2, 2}, (uint64_t[]){0, 0, 0, 0});
    CHECK_EQ_U64(run(&m, "column-wise", &(hmm_task){.n = n, .list = inside(side, false)}, &c),
                 16 * n / w + 8 * latency - 8);
    check_rounds(&c, (uint64_t[]){5, 3, 4, 4}, (uint64_t[]){0, 0, 0, 0});
  }
}

// DMM/UMM paper, Theorem 6.3: no bank conflicts, whatever the permutation is.
TEST(conflict_free_permutations) {
  START();
  static const struct {
    uint64_t n, p;
    uint32_t w;
  } shapes[] = {
      {1024, 1024, 32}, {1024, 64, 32}, {4096, 128, 16}, {1024, 16, 1}, {65536, 4096, 32}};
  for (size_t i = 0; i < 2 * (sizeof shapes / sizeof *shapes); i++)
    for (size_t k = 0; hmm_permutation_at(k); k++) {
      arena_free(&memory);
      uint64_t n = shapes[i / 2].n, p = shapes[i / 2].p, w = shapes[i / 2].w, latency = 20;
      uint32_t bits = 63 - (uint32_t)__builtin_clzll(n);
      hmm_machine m = {HMM_KIND_DMM, 1, (uint32_t)w, latency, 1, p, i % 2};
      hmm_task t = {.n = n, .list = hmm_permutation_list(&memory, hmm_permutation_at(k), bits, 5)};
      hmm_counts c;
      uint64_t time = run(&m, "conflict-free", &t, &c);
      CHECK_EQ_U64(c.histogram[1][1], c.accesses[HMM_READ_SHARED] + c.accesses[HMM_WRITE_SHARED]);
      check_rounds(&c, (uint64_t[]){0, 0, 3 * n / p, n / p}, (uint64_t[]){0, 0, 0, 0});
      if (m.barrier)
        CHECK_EQ_U64(time, 4 * n / w + 4 * (latency - 1) * n / p);
    }
}

TEST(table_1) {
  START();
  static const uint32_t widths[] = {4, 16, 32};
  static const uint64_t latencies[] = {1, 100, 700};
  for (uint32_t bits = 10; bits <= 16; bits += 2)
    for (int i = 0; i < 9; i++) {
      arena_free(&memory);
      check_table_1(bits, widths[i % 3], latencies[i / 3]);
    }
}

// d DMMs share the rounds of the shared memories; results are the same, free-running too.
TEST(several_dmms) {
  START();
  for (uint32_t d = 1; d <= 16; d *= 2)
    for (int barrier = 0; barrier < 2; barrier++) {
      arena_free(&memory);
      hmm_machine m = {HMM_KIND_HMM, d, 8, 50, 1, 4096, barrier};
      hmm_task t = {.n = 4096};
      hmm_counts c;
      uint64_t time = run(&m, "hmm-transpose", &t, &c);
      if (m.barrier)
        CHECK_EQ_U64(time, 2 * 4096 / 8 + 2 * 4096 / 8 / d + 2 * 50 - 2);
      else
        CHECK(time >= 2 * 4096 / 8 && time <= 2 * 4096 / 8 + 2 * 4096 / 8 / d + 2 * 50);
      t.list = hmm_permutation_list(&memory, hmm_permutation_named("random"), 12, 7);
      time = run(&m, "scheduled", &t, &c);
      if (m.barrier)
        CHECK_EQ_U64(time, 16 * 4096 / 8 + 16 * 4096 / 8 / d + 16 * 50 - 16);
      else
        CHECK(time >= 16 * 4096 / 8 && time <= 16 * 4096 / 8 + 16 * 4096 / 8 / d + 16 * 50);
    }
}

// Fewer threads than elements: each takes several.
TEST(permutations_in_turns) {
  START();
  for (int i = 0; i < 3 * 5 * 2; i++) {
    arena_free(&memory);
    uint32_t bits = 12;
    hmm_machine m = {(hmm_kind)(i % 3), 1, 32, 20, 1, 512, i >= 15};
    hmm_task t = {
        .n = 1 << bits,
        .list = hmm_permutation_list(&memory, hmm_permutation_at((size_t)(i / 3 % 5)), bits, 9)};
    hmm_counts c;
    for (int s = 0; s < 2; s++) {
      const char *name = s ? "s-designated" : "d-designated";
      uint64_t time = run(&m, name, &t, &c), stages = 0;
      for (hmm_op op = 0; op < HMM_ACCESSES; op++)
        stages += c.stages[op];
      CHECK_EQ_U64(hmm_algorithm_distribution(&memory, &m, hmm_algorithm_named(name), &t),
                   stages - 2 * t.n / m.width);
      if (m.barrier)
        CHECK_EQ_U64(time, closed(&m, name, &t));
    }
  }
}

// ---- distributions ---------------------------------------------------------------------------

TEST(distributions) {
  START();
  static const uint64_t expected[] = {1, 2, 0, 32, 32};  // n/w of: the random one is not fixed
  uint64_t n = 1 << 14;
  for (size_t i = 0; hmm_permutation_at(i); i++) {
    uint64_t *list = hmm_permutation_list(&memory, hmm_permutation_at(i), 14, 1);
    if (expected[i])
      CHECK_EQ_U64(hmm_distribution(&memory, list, n, 32, false), expected[i] * n / 32);
  }
}

// HMM paper, Table III: 0.99987 to 0.99990 over 1000 of them.
TEST(distribution_of_random_permutations) {
  START();
  double least = 2, most = 0;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    arena_free(&memory);
    uint64_t *list = hmm_permutation_list(&memory, hmm_permutation_named("random"), 22, seed);
    double part = (double)hmm_distribution(&memory, list, 1 << 22, 32, false) / (1 << 22);
    least = fmin(least, part);
    most = fmax(most, part);
  }
  printf("D_w of random permutations of 4M: %.5f n to %.5f n\n", least, most);
  CHECK(least >= 0.9998 && most <= 1);
}

TEST_MAIN()
