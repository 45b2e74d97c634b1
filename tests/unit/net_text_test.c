// net_print and net_read: the picture of net.h, every kind of line, random nets, and what is wrong.
#include "tests/readers/readers.h"
#include "tests/unit/memory.h"
#include "tests/unit/net_random.h"

// The text of the net of that text, or the message.
static const char *again(const char *string) {
  const char *wrong = NULL;
  const net *t = net_read(&memory, string, &wrong);
  if (!t)
    return wrong;
  text printed = {0};
  net_print(&printed, t);
  const char *copy = arena_copy(&memory, printed.data ? printed.data : "", printed.length);
  text_free(&printed);
  return copy;
}

static const char picture[] = "array a0 i32 4 argument 0\n"
                              "array a1 i32 4 result 0\n"
                              "stage 0 n=2\n"
                              "  v0 = load a0 at x0 + 2*x1\n"
                              "  op 0 directions 0b10 coordinates x1 step %8\n"
                              "    v1[0] = min v0[0] v0[1]\n"
                              "    v1[1] = max v0[0] v0[1]\n"
                              "  store v1 in a1 at x1 + 2*x0\n";

TEST(the_picture) {
  START();
  CHECK_STR(again(picture), picture);
  CHECK_STR(again(""), "");
  arena_free(&memory);
}

// As it stands in the comment of net.h.
TEST(the_header) {
  START();
  FILE *file = fopen("fusion/net/net.h", "r");
  REQUIRE(file != NULL);
  char line[256], source[4096] = "";
  bool inside = false;
  while (fgets(line, sizeof line, file)) {
    inside = inside || strncmp(line, "//   array", 10) == 0;
    if (inside && strcmp(line, "//\n") == 0)
      break;
    if (inside)
      strcat(source, line + 2);
  }
  fclose(file);
  CHECK_STR(again(source), picture);
  arena_free(&memory);
}

static const char everything[] =
    "array a0 f32 1048576 argument 0\n"
    "array a1 i32 4 argument 1\n"
    "array a2 c64 4 temporary\n"
    "array a3 bool 3 result 0\n"
    "array a4 c64 2 table 0 c64:0.5,-0 c64:0x7fc00001,inf\n"
    "array a5 u16 0 table 1\n"
    "extern e0 hypotf f32 f32 -> f32 in \"m\"\n"
    "extern e1 zero -> i32 in \"a \\\"b\\\\c\\nd\"\n"
    "stage 0 n=20 loops 3 5\n"
    "  v0 = load a0 at -3*o0 + o1 + x3 + 4*(x0^x2^1) + 7 padded from 9 "
    "with "
    "f32:-0.100000001\n"
    "  v1 = load a1 at 0\n"
    "  v2 = load a1 at o1\n"
    "  op 0 step %0\n"
    "    v3[0] = dead c64\n"
    "  op 1 directions 0x30000 0x1 coordinates x17^1 x0 live x1^x18 x19^1 step %4294967295\n"
    "    t0 = index o1 + x1 - 2*x2 - 9223372036854775808*x3\n"
    "    t1 = root c64 8 t0\n"
    "    t2 = extern e0 f32 v0[3] f32:inf\n"
    "    t3 = extern e1 i32\n"
    "    t4 = convert f32 t3\n"
    "    t5 = complex t2 t4\n"
    "    v4[0] = t1\n"
    "    v4[1] = dead c64\n"
    "    v4[2] = select bool:true t1 t5\n"
    "    v4[3] = c64:0x7fc00001,-0\n"
    "    v5[0] = v1[2]\n"
    "    v5[1] = t3\n"
    "    v5[2] = i32:-2147483648\n"
    "    v5[3] = max v1[0] t3\n"
    "  store v4 in a2 at x0 + 2*x1 padded from 4 live x2 x3^1 0 1\n"
    "stage 1 n=0\n"
    "  op 0 step %1\n"
    "    v0[0] = bool:false\n"
    "  store v0 in a3 at 2\n"
    "stage 2 n=1\n"
    "  op 0 step %2\n"
    "    t0 = index x0\n"
    "    t1 = gather a4 c64 t0\n"
    "    v0[0] = scatter a2 bool t0 t1\n"
    "stage 3 n=0 routine sort rows 2 length 3 below 16 descending step %7\n"
    "  from a0 to none\n"
    "  from index to a3\n"
    "stage 4 n=0 routine count rows 1 length 6 step %8\n"
    "  from a0 to a3\n"
    "stage 5 n=0 routine check rows 1 length 6 below 9 distinct step %8\n"
    "  from a0 to a3\n"
    "stage 6 n=0 routine permute rows 1 length 6 back step %9\n"
    "  from a0 to none\n"
    "  from a1 to a3\n"
    "stage 7 n=0 routine transpose rows 1 length 6 dimensions 3:1:2 2:3:1\n"
    "  from a0 to a3\n"
    "stage 8 n=3 shares 2\n"
    "  v0 = load a1 at x0\n"
    "stage 9 n=1 turns 2 loops 3\n"
    "  v0 = load a1 at x0\n";

TEST(every_line) {
  START();
  CHECK_STR(again(everything), everything);
  arena_free(&memory);
}

TEST(freedom) {
  START();
  CHECK_STR(again("array a0 int 0x10 temporary # comment\n\n  \t # another\n"
                  "stage n=2 loops 7\r\n"
                  "v0=load a0 at x1^1*2"),
            "line 5: expected the end of the line, found `^1*2`");
  CHECK_STR(again("array a0 int 0x10 temporary # comment\n\n  \t # another\n"
                  "stage n=2 loops 7\r\n"
                  "v0=load a0 at 2*(x1^1)+2*o0-o0+1-3"),
            "array a0 i64 16 temporary\nstage 0 n=2 loops 7\n  v0 = load a0 at o0 - 2*x1\n");
  arena_free(&memory);
}

TEST(constants) {
  static const char *const rows[] = {
      "bool:true",
      "bool:false",
      "i8:-128",
      "i16:32767",
      "i32:0",
      "i64:-9223372036854775808",
      "u8:255",
      "u16:65535",
      "u32:4294967295",
      "f32:0.100000001",
      "f32:-0",
      "f32:inf",
      "f32:1.40129846e-45",
      "f32:0xffc12345",
      "f64:0.10000000000000001",
      "f64:-inf",
      "f64:0x7ff8000000000001",
      "u64:18446744073709551615",
      "c64:1,-2.5",
      "c128:0.5,0x7ff8000000000000",
  };
  START();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *whole =
        arena_printf(&memory, "stage 0 n=0\n  op 0 step %%0\n    v0[0] = %s\n", rows[i]);
    CHECK_STR(again(whole), whole);
  }
  arena_free(&memory);
}

TEST(random_nets) {
  START();
  size_t lines = 0, ragged = 0, transposes = 0;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    random_state r = {seed};
    text first = {0};
    net_print(&first, random_net_of(&memory, &r, seed % 4 == 0));
    CHECK_STR(again(first.data), first.data);
    for (const char *at = first.data; *at; at++)
      lines += *at == '\n';
    ragged += strstr(first.data, " offsets ") != NULL;
    transposes += strstr(first.data, "routine transpose") != NULL;
    text_free(&first);
    arena_free(&memory);
  }
  CHECK(lines > 20000 && ragged > 20 && transposes > 20);
}

TEST(what_is_wrong) {
  static const struct {
    const char *string, *message;
  } rows[] = {
      {"array b0", "line 1: expected `a`, found `b0`"},
      {"array a1 i32", "line 1: expected array a0"},
      {"array a0 i31 4 temporary", "line 1: there is no element type `i31`"},
      {"array a0 i32 99999999999999999999 temporary", "line 1: a number is too large"},
      {"array a0 i32 x temporary", "line 1: expected a number, found `x temporary`"},
      {"array a0 i32 4 other 0", "line 1: expected `temporary`, found `other 0`"},
      {"array a0 i32 4 argument 9999999", "line 1: the number 9999999 is too large"},
      {"array a0 i32 4 temporary x", "line 1: expected the end of the line, found `x`"},
      {"extern e0 f -> i32 in \"m", "line 1: the name of the library does not end"},
      {"extern e1 f -> i32 in \"m\"", "line 1: expected extern e0"},
      {"\nv0 = load a0", "line 2: expected `stage` before this"},
      {"stage 1 n=1", "line 1: expected number 0"},
      {"stage n=1\nop 1 step %0", "line 2: expected number 0"},
      {"stage n=64", "line 1: 64 index bits are too many"},
      {"stage n=1\nvolume", "line 2: expected a number, found `olume`"},
      {"stage n=1\nv0 = load a0 at 0", "line 2: there is no array a0"},
      {"stage n=1\nv99999999 = load a0 at 0", "line 2: the number 99999999 is too large"},
      {"array a0 i8 2 temporary\nstage n=1\nv0 = load a0 at o0", "line 3: there is no loop o0"},
      {"array a0 i8 2 temporary\nstage n=1\nv0 = load a0 at x63",
       "line 3: there is no index bit x63"},
      {"array a0 i8 2 temporary\nstage n=1\nv0 = load a0 at 9223372036854775808",
       "line 3: the weight 9223372036854775808 is too large"},
      {"array a0 i8 2 temporary\nstage n=1\nv0 = load a0 at 9223372036854775807 + 1",
       "line 3: a number of the map is too large"},
      {"array a0 i8 2 temporary\nstage n=1\nv0 = load a0 at (x0", "line 3: expected `)`, found ``"},
      {"array a0 i8 2 temporary\nstage n=1\nv0 = load a0 at x0 padded from 1 with i8:128",
       "line 3: 128 is no i8"},
      {"array a0 i8 2 temporary\nstage n=1\nv0 = load a0 at x0\nv0 = load a0 at x0",
       "line 4: v0 is defined before"},
      {"array a0 i8 2 temporary\nstage n=1\nv1 = load a0 at x0",
       "line 3: before this line, v0 is never defined"},
      {"stage n=1\nop directions 1", "line 2: 1 directions have 0 coordinates"},
      {"stage n=1\nop directions 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
       "line 2: 21 directions are too many"},
      {"stage n=1\nop\nv0[1] = i8:0", "line 3: there is no such element of an op"},
      {"stage n=1\nv0[0] = i8:0", "line 2: there is no such element of an op"},
      {"stage n=1\nop\nv0[0] = i8:0\nv0[0] = i8:0", "line 4: v0[0] is given before"},
      {"stage n=1\nop directions 1 coordinates x0\nv0[1] = i8:0\nop",
       "line 4: before this line, v0[0] is missing"},
      {"stage n=1\nop\nv0[0] = v1[0]", "line 3: v1 is not defined before"},
      {"stage n=1\nop\nv0[0] = t0", "line 3: t0 is not defined before"},
      {"stage n=1\nop\nt1 = i8:0", "line 3: expected t0, in an op"},
      {"stage n=1\nt0 = i8:0", "line 2: expected t0, in an op"},
      {"stage n=1\nop\nv0[0] = plus i8:0 i8:0", "line 3: there is no operation `plus`"},
      {"stage n=1\nop\nv0[0] = cis i8:0", "line 3: cis has no meaning for i8"},
      {"stage n=1\nop\nv0[0] = + i8:0", "line 3: there is no element type ``"},
      {"stage n=1\nop\nv0[0] = bool:maybe", "line 3: expected `false`, found `maybe`"},
      {"stage n=1\nop\nv0[0] = f32:x", "line 3: expected a number, found `x`"},
      {"stage n=1\nstore v0 at", "line 2: expected `in`, found `at`"},
  };
  START();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CHECK_STR(again(rows[i].string), rows[i].message);
  arena_free(&memory);
}

// A text cut anywhere, or with a byte changed: a message or a net, never a crash.
TEST(damaged_texts) {
  START();
  char copy[sizeof everything];
  random_state r = {1};
  for (int i = 0; i < 4000; i++) {
    memcpy(copy, everything, sizeof copy);
    uint32_t at = random_below(&r, sizeof copy - 1);
    copy[at] = random_chance(&r, 4) ? 0 : everything[random_below(&r, sizeof copy - 1)];
    const char *wrong = NULL;
    const net *t = net_read(&memory, copy, &wrong);
    CHECK((t == NULL) == (wrong != NULL));
    if (t)
      net_verify(&memory, t);
    arena_free(&memory);
  }
}

TEST_MAIN()
