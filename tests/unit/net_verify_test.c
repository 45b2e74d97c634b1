// net_verify accepts what is right, random nets among it, and names what is wrong.
#include "tests/readers/readers.h"
#include "tests/unit/memory.h"
#include "tests/unit/net_random.h"

// Two stages: keys sorted in pairs and halves swapped, then an index added on one half only.
static const char right[] = "array a0 i32 24 argument 0\n"
                            "array a1 i32 24 temporary\n"
                            "array a2 i32 24 result 0\n"
                            "array a3 c64 4 argument 1\n"
                            "extern e0 f i32 f32 -> i32 in \"m\"\n"
                            "stage n=3 loops 3\n"
                            "  v0 = load a0 at 8*o0 + x0 + 2*x1 + 4*x2\n"
                            "  op directions 0b110 coordinates x1 live x0 step 1\n"
                            "    v1[0] = min v0[0] v0[1]\n"
                            "    v1[1] = max v0[0] v0[1]\n"
                            "  store v1 in a1 at 8*o0 + x0 + 2*(x1^x2) + 4*x2 live x0\n"
                            "  store v0 in a1 at 8*o0 + x0 + 2*(x1^x2) + 4*x2 live x0^1\n"
                            "stage n=3 loops 3\n"
                            "  v0 = load a1 at x0 + 2*x1 + 4*x2 + 8*o0 padded from 20 with i32:7\n"
                            "  op directions 0b1 coordinates x0 step 2\n"
                            "    t0 = index o0 + 3*(x1^x2)\n"
                            "    t1 = convert i32 t0\n"
                            "    t2 = extern e0 i32 t1 f32:0.5\n"
                            "    v1[0] = dead i32\n"
                            "    v1[1] = + v0[1] t2\n"
                            "  store v1 in a2 at 8*o0 + x0 + 2*x1 + 4*x2 live x0^1\n"
                            "  store v0 in a2 at 8*o0 + x0 + 2*x1 + 4*x2 live x0\n";

static net *read(const char *string) {
  const char *wrong = NULL;
  net *t = net_read(&memory, string, &wrong);
  if (!t)
    printf("%s\n", wrong);
  return t;
}

TEST(nothing_wrong) {
  START();
  CHECK_STR(net_verify(&memory, read(right)), NULL);
  CHECK_STR(net_verify(&memory, read("")), NULL);
  arena_free(&memory);
}

// At random they may store what is not made, but nothing else is wrong with them.
TEST(random_nets) {
  START();
  size_t ops = 0, accepted = 0;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    random_state r = {seed};
    net *t = random_attempt(&memory, &r, false);
    const char *wrong = net_verify(&memory, t);
    accepted += !wrong;
    if (wrong)
      CHECK_CONTAINS(wrong, "dead");
    for (size_t i = 0; i < t->stages.count; i++)
      ops += t->stages.items[i].ops.count;
    arena_free(&memory);
  }
  CHECK(ops > 5000 && accepted > 1000);
}

// In the text `right`, the first `from` becomes `to`.
static const char *changed(const char *from, const char *to) {
  const char *at = strstr(right, from);
  if (!at)
    return "no such text";
  net *t = read(arena_printf(&memory, "%.*s%s%s", (int)(at - right), right, to, at + strlen(from)));
  return t ? net_verify(&memory, t) : "cannot be read";
}

#define LOAD "v0 = load a0 at 8*o0 + x0 + 2*x1 + 4*x2\n"
#define OP                                                                                         \
  "op directions 0b110 coordinates x1 live x0 step 1\n    v1[0] = min v0[0] v0[1]\n"               \
  "    v1[1] = max v0[0] v0[1]\n"
#define FOUR "v1[0] = v0[0]\nv1[1] = v0[1]\nv1[2] = v0[2]\nv1[3] = v0[3]\n"
#define STORE "store v1 in a2 at 8*o0 + x0 + 2*x1 + 4*x2 live x0^1\n"
#define SEVENS " i32:7 i32:7 i32:7 i32:7 i32:7 i32:7 i32:7 i32:7"

TEST(wrong_text) {
  static const struct {
    const char *from, *to, *message;
  } rows[] = {
      {"a1 i32 24 temporary", "a1 i32 24 argument 0", "a1: it is argument 0, as a0 is"},
      {"a1 i32 24 temporary", "a1 i32 24 argument 7", "stage 0: store 0: a1 is an argument"},
      {"a1 i32 24", "a1 i32 9223372036854775807", "a1: its size overflows"},
      {"a2 i32 24", "a2 i32 25", "a2: 24 of its 25 elements are stored"},
      {"a0 i32 24", "a0 i32 23", "stage 0: load 0: its addresses go to 23, a0 has 23"},
      {"a0 i32 24", "a0 u32 24", "stage 0: store 0: v1 is u32, a1 i32"},
      {"n=3 loops 3", "n=63 loops 3", "stage 0: it has 63 index bits"},
      {"n=3 loops 3", "n=62 loops 3", "stage 0: its index space is too large"},
      // loads
      {LOAD, "v0 = load a0 at 8*o0 + x3\n", "load 0: row 0 of its map has a bit beyond x2"},
      {LOAD, "v0 = load a0 at 8*o0 - 1\n", "load 0: its least address is -1"},
      {LOAD, "v0 = load a0 at 8*o0 - 1 padded from 24 with i32:7\n", NULL},  // before it, too
      {LOAD, "v0 = load a0 at 9223372036854775807*o0\n", "load 0: its addresses overflow"},
      {LOAD, "v0 = load a2 at x0\n", "load 0: a2 is not written before"},
      {"padded from 20", "padded from 99999", NULL},  // all is in memory
      {"+ 8*o0 padded from 20", "+ 9*o0 padded from 24", NULL},
      {"+ 8*o0 padded from 20", "+ 9*o0 padded from 25",
       "load 0: its addresses go to 25, a1 has 24"},
      // ops
      {"directions 0b110", "directions 0b1110", "op 0: direction 0 has a bit beyond x2"},
      {"coordinates x1", "coordinates x3", "op 0: coordinate 0 has a bit beyond x2"},
      {"coordinates x1", "coordinates x0", "op 0: coordinate 0 does not change with direction 0"},
      {OP, "op directions 0b110 0b110 coordinates x1 x2 step 1\n" FOUR,
       "op 0: coordinate 0 changes with direction 1"},
      {OP, "op directions 0b110 0b100 coordinates x1 x2 step 1\n" FOUR,
       "op 0: coordinate 1 changes with direction 0"},
      {"live x0 step", "live x1 step", "op 0: live form 0 changes with direction 0"},
      {"live x0 step", "live x4 step", "op 0: live form 0 has a bit beyond x2"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = min v0[2] v0[1]", "op 0: it has no element 2"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = i64:0", "op 0: element 0 of v1 is i64, not i32"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = min v0[0] i64:0", "operand 1 is i64, not i32"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = min f32:0 f32:1", "no meaning for f32"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = select v0[0] v0[0] v0[1]", "operand 0 is i32, not bool"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = select bool:true v0[0] u8:1",
       "operand 2 is u8, not i32"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = sqrt v0[0]", "sqrt has no meaning for i32"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = + v0[0] i64:0", "operand 1 is i64, not i32"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = ^ v0[0] v0[1]", "operand 1 is i32, not i64"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = convert i32 c64:0,1", "no conversion to a real type"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = root c64 0 i64:1", "order of the root is not positive"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = root i32 4 i64:1", "root has no meaning for i32"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = root c64 4 v0[0]", "operand 0 is i32, not i64"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = extern e1 i32", "no such foreign function"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = extern e0 i32", "f takes 2 operands"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = extern e0 i64 v0[0] f32:0", "f gives i32"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = extern e0 i32 v0[0] v0[0]", "operand 1 is i32, not f32"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = gather a0 i32 i64:3", NULL},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = gather a9 i32 i64:3", "there is no a9"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = gather a0 i64 i64:3", "a0 is i32, not i64"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = gather a0 i32 v0[0]", "operand 0 is i32, not i64"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = gather a2 i32 i64:3", "a2 is not written before"},
      {"v1[0] = min v0[0] v0[1]", "v1[0] = gather a1 i32 i64:3", "a1 is not written before"},
      {"t2 = extern e0 i32 t1 f32:0.5", "t2 = gather a1 i32 t0", NULL},
      {"t1 = convert i32 t0", "t1 = gather a1 i32 t0", NULL},
      {"t1 = convert i32 t0\n    t2 = extern e0 i32 t1 f32:0.5",
       "t1 = scatter a1 bool t0 v0[1]\nt2 = select t1 v0[0] v0[1]",
       "load 0: a1 is written by stage 1"},
      {"t1 = convert i32 t0\n    t2 = extern e0 i32 t1 f32:0.5",
       "t1 = scatter a0 bool t0 v0[0]\nt2 = select t1 v0[0] v0[1]", "a0 is an argument"},
      {"t1 = convert i32 t0", "t1 = scatter a2 i32 t0 v0[0]", "scatter has no meaning for i32"},
      {"t1 = convert i32 t0\n    t2 = extern e0 i32 t1 f32:0.5",
       "t1 = scatter a3 bool t0 v0[0]\nt2 = select t1 v0[0] v0[1]", "a3 is c64, not i32"},
      {"v1[0] = min v0[0] v0[1]\n    v1[1] = max v0[0] v0[1]", "v1[0] = dead i32\nv1[1] = dead i32",
       "op 0: all of v1 is dead"},
      {"v1[0] = min v0[0] v0[1]\n    v1[1] = max v0[0] v0[1]\n", "", "op 0: it makes no value"},
      {"index o0 + 3*(x1^x2)", "index x0", "op 0: an index changes with direction 0"},
      {"index o0 + 3*(x1^x2)", "index x5", "node 0: row 0 of its map has a bit beyond x2"},
      {"v1[1] = max v0[0] v0[1]", "v1[1] = max v0[0] v1[0]", "op 0: v1 is not defined before"},
      // stores
      {STORE, "store v1 in a3 at x0\n", "store 0: v1 is i32, a3 c64"},
      {STORE, "store v7 in a2 at x0\n", "store 0: there is no v7"},
      {STORE, "store v1 in a2 at x7\n", "store 0: row 0 of its map has a bit beyond x2"},
      {STORE, "store v1 in a2 at x1 live x9\n", "store 0: live form 0 has a bit beyond x2"},
      {STORE, "store v1 in a2 at x1 - 1 live x0^1\n", "store 0: its least address is -1"},
      {STORE, "store v1 in a2 at 24*x1 live x0^1\n", "store 0: its addresses go to 24, a2 has 24"},
      {STORE, "store v1 in a2 at 8*o0 + x1 live x0^1\n", "two of its indices have one address"},
      {STORE, "store v1 in a2 at x1 + 2*x2 live x0^1\n", "two of its indices have one address"},
      {STORE, "store v1 in a2 at o0 + x1 + 2*x2 live x0^1\n",
       "two of its indices have one address"},
      {STORE, "store v1 in a2 at 8*o0 + x0 + 2*x1 + 4*x2\n", "store 0: element 0 of v1 is dead"},
      {"2*(x1^x2) + 4*x2 live x0\n", "2*(x1^x2) + 4*x2\n", "store 0: v1 is dead at some"},
      {"store v0 in a2 at 8*o0 + x0 + 2*x1 + 4*x2 live x0\n", "", "a2: 12 of its 24 elements"},
      {"store v0 in a2 at 8*o0 + x0 + 2*x1 + 4*x2 live x0\n",
       "store v0 in a2 at 8*o0 + x0 + 2*x1 + 4*x2\n", "a2: 36 elements are stored, it has 24"},
      // order
      {"store v0 in a1", "store v0 in a0", "a0 is an argument"},
      {"a2 i32 24 result 0", "a2 i32 24 table 0" SEVENS SEVENS SEVENS, "a2 is a table"},
      {STORE, STORE "store v0 in a1 at 8*o0 + x0 + 2*x1 + 4*x2\n",
       "stage 1: load 0: a1 is written by stage 1"},
  };
  START();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *found = changed(rows[i].from, rows[i].to);
    if (rows[i].message == NULL)
      CHECK_STR(found, NULL);
    else if (!CHECK_CONTAINS(found, rows[i].message))
      printf("  (%s)\n", rows[i].to);
  }
  arena_free(&memory);
}

static const char *const sort = "array a0 i32 24 argument 0\n"
                                "array a1 u8 48 argument 1\n"
                                "array a2 u8 48 result 0\n"
                                "array a3 i64 24 result 1\n"
                                "array a4 i32 24 result 2\n"
                                "array a5 i64 8 result 3\n"
                                "stage 0 n=0 routine sort rows 2 length 12\n"
                                "  from a0 to a4\n"
                                "  from a1 to a2\n"
                                "  from index to a3\n"
                                "stage 1 n=0 routine count rows 2 length 12 below 4\n"
                                "  from a4 to a5\n";

static const char *const transpose =
    "array a0 c64 105 argument 0\n"
    "array a1 c64 105 result 0\n"
    "stage 0 n=0 routine transpose rows 1 length 105 dimensions 5:1:21 7:5:3 3:35:1\n"
    "  from a0 to a1\n";

TEST(transposes) {
  static const struct {
    const char *from, *to, *message;
  } rows[] = {
      {"", "", NULL},
      {"5:1:21", "5:1:20", "its dimensions are not those of its arrays"},
      {"3:35:1", "3:21:1", "its dimensions are not those of its arrays"},
      {"3:35:1", "2:35:1", "its dimensions are not those of its arrays"},
      {" dimensions 5:1:21 7:5:3 3:35:1", "", "its dimensions are not those of its arrays"},
      {"5:1:21 7:5:3 3:35:1", "105:1:1", "its dimensions are not those of its arrays"},
      {"rows 1 length 105", "rows 5 length 21", "its dimensions are not those of its arrays"},
      {"from a0 to a1", "from a0 to none", "its dimensions are not those of its arrays"},
      {"a1 c64 105", "a1 c64 106", "what goes to an array is not of its type and length"},
      {"a1 c64", "a1 u64", "what goes to an array is not of its type and length"},
      {"transpose", "sort", "the keys are c64"},
  };
  START();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *at = strstr(transpose, rows[i].from);
    net *t = read(arena_printf(&memory, "%.*s%s%s", (int)(at - transpose), transpose, rows[i].to,
                               at + strlen(rows[i].from)));
    const char *found = t ? net_verify(&memory, t) : "cannot be read";
    if (rows[i].message == NULL)
      CHECK_STR(found, NULL);
    else if (!CHECK_CONTAINS(found, rows[i].message))
      printf("  (%s)\n", rows[i].to);
  }
  arena_free(&memory);
}

TEST(routines) {
  static const struct {
    const char *from, *to, *message;
  } rows[] = {
      {"", "", NULL},
      {"a0 i32", "a0 f64", "what goes to an array is not of its type and length"},
      {"a0 i32", "a0 c64", "stage 0: array 0: the keys are c64"},
      {"rows 2 length 12\n", "rows 2 length 11\n", "the keys are not as many"},
      {"rows 2 length 12\n", "rows 0 length 12\n", "it has no elements, or too many"},
      {"rows 2 length 12\n", "rows 2 length 12 below 9\n", NULL},
      {"from a0", "from index", "the keys are not as many"},
      {"from a0", "from a4", "a4 is not written before"},
      {"from a1 to a2", "from a1 to none", "a payload goes nowhere"},
      {"from a1 to a2", "from a1 to a1", "a1 is an argument"},
      {"from a1 to a2", "from a1 to a4", "what goes to an array is not of its type and length"},
      {"from a1 to a2", "from a0 to a4", "a4 is written before"},
      {"from index to a3", "from index to a2", "the index goes to an array that has not its type"},
      {"from a4 to a5", "from a4 to none", "its result is not an array of i64"},
      {"from a4 to a5", "from a0 to a3", "its result is not an array of i64"},
      {"from a4 to a5", "from a4 to a5\n  from a4 to a5", "it has 2 arrays"},
      {" below 4", "", "it counts keys without a limit"},
      {"count rows 2 length 12 below 4\n  from a4 to a5", "places rows 2 length 4\n  from a5 to a5",
       "a5 is not written before"},
      {"routine sort", "routine places", "it has 3 arrays"},
      {"count rows 2 length 12 below 4", "check rows 2 length 12 below 4 distinct",
       "its result is not an array of i64"},
      {"a5 i64 8 result 3", "a5 i64 2 result 3", "its result is not an array of i64"},
  };
  START();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *at = strstr(sort, rows[i].from);
    net *t = read(arena_printf(&memory, "%.*s%s%s", (int)(at - sort), sort, rows[i].to,
                               at + strlen(rows[i].from)));
    const char *found = t ? net_verify(&memory, t) : "cannot be read";
    if (rows[i].message == NULL)
      CHECK_STR(found, NULL);
    else if (!CHECK_CONTAINS(found, rows[i].message))
      printf("  (%s)\n", rows[i].to);
  }
  net *t = read(sort);
  t->stages.items[0].routine->pairs[1].from = 9;
  CHECK_CONTAINS(net_verify(&memory, t), "stage 0: array 1: there is no a9");
  t->stages.items[0].routine->kind = NET_ROUTINE_KINDS;
  CHECK_CONTAINS(net_verify(&memory, t), "there is no such routine");
  t->stages.items[0].n = 1;
  CHECK_CONTAINS(net_verify(&memory, t), "a routine has bits, loops or values");
  arena_free(&memory);
}

// What no text can say.
#define WRONG(message, ...)                                                                        \
  do {                                                                                             \
    net *t = read(right);                                                                          \
    net_stage *s = &t->stages.items[0];                                                            \
    __VA_ARGS__;                                                                                   \
    (void)s;                                                                                       \
    CHECK_CONTAINS(net_verify(&memory, t), message);                                               \
  } while (0)

TEST(wrong_data) {
  START();
  WRONG("a1: there is no such element type", t->arrays.items[1].type = SCALAR_COUNT);
  WRONG("a1: there is no such role", t->arrays.items[1].role = NET_ROLES);
  WRONG("a1: a table, and nothing else, has elements", t->arrays.items[1].role = NET_TABLE);
  WRONG("a1: a table, and nothing else, has elements", t->arrays.items[1].table = "");
  WRONG("e0: it has no name", t->externs.items[0].name = NULL);
  WRONG("e0: there is no such element type", t->externs.items[0].parameters[1] = SCALAR_COUNT);
  WRONG("v1: there is no such element type", s->values.items[1] = SCALAR_COUNT);
  WRONG("node 2: there is no such kind", s->nodes.items[2].kind = (net_node_kind)NET_NODE_KINDS);
  WRONG("node 2: there is no such element type", s->nodes.items[2].type = SCALAR_COUNT);
  WRONG("node 2: operand node 2 does not precede it", s->nodes.items[2].operands[1] = 2);
  WRONG("node 2: it has 1 operands, not 2", s->nodes.items[2].operand_count = 1);
  WRONG("node 0: there is no v9", s->nodes.items[0].value = 9);
  WRONG("node 0: an element node has no map", s->nodes.items[0].map.offset = 1);
  WRONG("node 0: v0 is i32, not u32", s->nodes.items[0].type = SCALAR_U32);
  WRONG("nodes were added by another", s->node_table.count = 0);
  WRONG("op 0: there is no node 77", s->ops.items[0].outputs[0].elements[0] = 77);
  WRONG("op 0: there is no v77", s->ops.items[0].outputs[0].value = 77);
  WRONG("op 0: v0 is defined before", s->ops.items[0].outputs[0].value = 0);
  WRONG("op 0: 2^4 elements are too many", s->ops.items[0].k = 4);
  WRONG("load 0: there is no a9", s->loads.items[0].array = 9);
  WRONG("load 0: its map has 0 strides", s->loads.items[0].map.loop_count = 0);
  WRONG("v0 is not defined before", s->loads.count = 0);
  WRONG("v1 is never defined", s->ops.count = 0);
  WRONG("stage 1: node", t->stages.items[1].nodes.items[1].constant.bytes[15] = 1;
        t->stages.items[1].nodes.items[1].kind = NET_CONSTANT;
        t->stages.items[1].nodes.items[1].operand_count = 0);
  arena_free(&memory);
}

// Shares by index bits, and by turns of a loop.
TEST(shares) {
  static const struct {
    const char *head, *wrong;
  } rows[] = {
      {"shares 1", NULL},
      {"shares 2", "stage 0: op 0: direction 0 has a bit that numbers shares"},
      {"shares 4", "stage 0: 4 of its 3 index bits number shares"},
      {"shares 1 loops 1", "stage 0: its index bits number shares, and it has loops"},
      {"turns 2 loops 5", NULL},
      {"turns 2", "stage 0: its shares have turns, and it has no such loop"},
      {"shares 1 turns 1", "stage 0: bits and turns of a loop number its shares"},
  };
  START();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    net *t = read(arena_printf(&memory,
                               "array a0 i8 8 argument 0\nstage n=3 %s\n"
                               "v0 = load a0 at x0 + 2*x1 + 4*x2\n"
                               "op directions 0b11 coordinates x0\n"
                               "v1[0] = min v0[0] v0[1]\nv1[1] = max v0[0] v0[1]\n",
                               rows[i].head));
    CHECK_STR(net_verify(&memory, t), rows[i].wrong);
  }
  arena_free(&memory);
}

// Sums of dependent rows, of which the verifier knows the true range.
TEST(dependent_rows) {
  static const struct {
    const char *map;
    bool fits;  // 8 elements
  } rows[] = {
      {"4*x0 + 4*(x0^1) + 3*x1", true},
      {"4*x0 + 4*(x1^1)", false},
      {"7*x0 - 7*x0", true},
      {"3*x0 + 3*x1 + (x0^x1)", true},
      {"3*x0 + 3*x1 + 2*(x0^x1)", true},
      {"4*x0 + 4*x1 + 2*(x0^x1)", false},
      {"3*x0 + 3*x1 + 3*x2 - 2*(x0^x1^x2)", true},
      {"x0 + 2*x1 + 4*(x0^x1) - x0", true},
      {"x0 + 2*x1 + 4*(x0^x1) + x2", true},
      {"x0 + 2*x1 + 4*(x0^x1) + 3*x2", false},
  };
  START();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    net *t = read(arena_printf(&memory, "array a0 i8 8 argument 0\nstage n=3\nv0 = load a0 at %s\n",
                               rows[i].map));
    CHECK_STR(net_verify(&memory, t) ? "no" : "yes", rows[i].fits ? "yes" : "no");
  }
  arena_free(&memory);
}

TEST(maps_are_canonical) {
  START();
  net *t = read(right);
  CHECK_STR(net_verify(&memory, t), NULL);
  t->stages.items[0].loads.items[0].map.rows[2].weight = -4;
  CHECK_STR(net_verify(&memory, t), "stage 0: load 0: its map is not canonical");
  arena_free(&memory);
}

// Whether stores of odd maps are injective, against the list of all addresses.
TEST(injective) {
  random_state r = {7};
  int found[3] = {0};
  START();
  for (int i = 0; i < 3000; i++, arena_free(&memory)) {
    net_stage s = {.n = (int)random_below(&r, 4), .loop_count = 1};
    uint64_t extents[1] = {1 + random_below(&r, 3)}, mask = f2_mask(s.n);
    net_map m = random_map(&memory, &r, &s, mask);
    if (random_chance(&r, 2))
      m = (s.extents = extents, random_address(&memory, &r, &s));
    net_form live = {random_word(&r) & mask, random_chance(&r, 2)};
    f2_space alive = live_set(s.n, random_below(&r, 2), &live);
    bool injective = true;
    for (uint64_t p = 0; p < extents[0] << s.n; p++)
      for (uint64_t q = 0; q < p; q++) {
        uint64_t x = p & mask, y = q & mask, ox = p >> s.n, oy = q >> s.n;
        bool both = !live_is_empty(alive);
        for (int k = 0; k < alive.dimension && both; k++)
          both = !net_form_at(live_form(alive.basis[k]), x) &&
                 !net_form_at(live_form(alive.basis[k]), y);
        injective = injective && !(both && net_map_at(&m, &ox, x) == net_map_at(&m, &oy, y));
      }
    live_answer answer = live_map_injective(&memory, &m, extents, alive);
    CHECK_EQ_I64(answer, injective ? LIVE_YES : LIVE_NO);
    found[answer]++;
  }
  CHECK(found[LIVE_YES] > 300 && found[LIVE_NO] > 300);
}

TEST_MAIN()
