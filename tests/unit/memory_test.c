// Arena, growing arrays, text and hashing (core/memory.h, text.h, hash.h).
#include "tests/test.h"

#include "core/hash.h"
#include "core/text.h"  // after test.h, whose parameters are called text

#include <stdalign.h>

// ---- arena ---------------------------------------------------------------------------------

TEST(arena_memory_is_zeroed_aligned_and_apart) {
  jmp_buf failure;
  arena a = {.failure = &failure};
  REQUIRE(setjmp(failure) == 0);
  unsigned char *pieces[300];
  for (size_t i = 0; i < 300; i++) {
    pieces[i] = arena_alloc(&a, i * 7);
    CHECK_EQ_U64((uintptr_t)pieces[i] % alignof(max_align_t), 0);
    for (size_t j = 0; j < i * 7; j++)
      CHECK_EQ_U64(pieces[i][j], 0);
    memset(pieces[i], (int)(i % 255) + 1, i * 7);
  }
  for (size_t i = 0; i < 300; i++)
    for (size_t j = 0; j < i * 7; j++)
      CHECK_EQ_U64(pieces[i][j], i % 255 + 1);
  CHECK(a.used >= 300 * 299 / 2 * 7);
  arena_free(&a);
  CHECK(a.blocks == NULL);
  CHECK_EQ_U64(a.used, 0);
}

TEST(arena_serves_large_and_small_requests_in_turn) {
  jmp_buf failure;
  arena a = {.failure = &failure};
  REQUIRE(setjmp(failure) == 0);
  for (int i = 0; i < 4; i++) {
    unsigned char *large = arena_alloc(&a, (size_t)5 << 20);
    large[0] = large[((size_t)5 << 20) - 1] = 1;
    int64_t *small = NEW(&a, int64_t);
    CHECK_EQ_I64(*small, 0);
    *small = -1;
  }
  arena_free(&a);
  CHECK_EQ_I64(NEW_ARRAY(&a, int32_t, 3)[2], 0);  // usable again
  arena_free(&a);
}

// Whether a request of that size is refused by a jump.
static bool refused(arena *a, size_t bytes) {
  jmp_buf failure;
  a->failure = &failure;
  if (setjmp(failure))
    return true;
  arena_alloc(a, bytes);
  return false;
}

TEST(arena_jumps_when_memory_or_the_limit_runs_out) {
  arena a = {.limit = 1000};
  CHECK(!refused(&a, 900));
  CHECK(refused(&a, 200));
  CHECK(!refused(&a, 80));  // what fits is still served
  CHECK(refused(&a, SIZE_MAX));
  CHECK(refused(&a, SIZE_MAX - 8));
  arena_free(&a);
  arena unlimited = {0};
  CHECK(refused(&unlimited, SIZE_MAX));
  CHECK(refused(&unlimited, SIZE_MAX / 2));
  CHECK(!refused(&unlimited, 1));
  arena_free(&unlimited);
  arena_free(&unlimited);
}

TEST(arena_text) {
  jmp_buf failure;
  arena a = {.failure = &failure};
  REQUIRE(setjmp(failure) == 0);
  CHECK_STR(arena_copy(&a, "columns", 3), "col");
  CHECK_STR(arena_copy(&a, NULL, 0), "");
  CHECK_STR(arena_printf(&a, "%d of %s", 3, "four"), "3 of four");
  CHECK_EQ_U64(strlen(arena_printf(&a, "%*d", 70000, 1)), 70000);
  arena_free(&a);
}

// ---- growing arrays ------------------------------------------------------------------------

TEST(vec_keeps_what_was_pushed) {
  jmp_buf failure;
  arena a = {.failure = &failure};
  REQUIRE(setjmp(failure) == 0);
  VEC(int) v = {0};
  for (int i = 0; i < 100000; i++)
    vec_push(&a, &v, i * 3);
  REQUIRE(v.count == 100000);
  CHECK(v.capacity >= v.count);
  for (int i = 0; i < 100000; i++)
    CHECK_EQ_I64(v.items[i], i * 3);
  // Doubling: all arrays ever made are less than twice the last.
  CHECK(a.used <= 2 * v.capacity * sizeof(int));
  arena_free(&a);
}

// ---- text ----------------------------------------------------------------------------------

TEST(text_grows) {
  text t = {0};
  text_string(&t, "");
  CHECK_STR(t.data, "");
  text_string(&t, "ab");
  text_add(&t, "cdx", 2);
  text_printf(&t, "-%d-%s", 17, "x");
  CHECK_STR(t.data, "abcd-17-x");
  CHECK_EQ_U64(t.length, 9);
  for (int i = 0; i < 10000; i++)
    text_printf(&t, "%d,", i % 10);
  CHECK_EQ_U64(t.length, 20009);
  CHECK_EQ_U64(strlen(t.data), 20009);
  CHECK(!t.failed);
  text_free(&t);
  CHECK(t.data == NULL && t.length == 0 && t.capacity == 0);
  text_add(&t, "a\0b", 3);
  CHECK_EQ_U64(t.length, 3);
  CHECK_EQ_U64(t.data[2], 'b');
  text_free(&t);
}

TEST(text_of_exactly_its_capacity) {
  for (size_t length = 60; length < 70; length++) {
    text t = {0};
    for (size_t i = 0; i < length; i++)
      text_string(&t, "x");
    CHECK_EQ_U64(strlen(t.data), length);
    text_free(&t);
    text_printf(&t, "%*s", (int)length, "y");
    CHECK_EQ_U64(strlen(t.data), length);
    text_free(&t);
  }
}

TEST(words_of_a_shell) {
  static const char *const cases[][2] = {{"a/b-1_c.csv:x,y", "a/b-1_c.csv:x,y"},
                                         {"my keys.txt", "'my keys.txt'"},
                                         {"it's", "'it'\\''s'"},
                                         {"", "''"},
                                         {"$x;*", "'$x;*'"},
                                         {"caf\xc3\xa9", "'caf\xc3\xa9'"},
                                         {"it's b\xe9"
                                          "d\n",
                                          "$'it\\'s b\\351d\\012'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    text t = {0};
    text_shell_word(&t, cases[i][0]);
    CHECK_STR(text_content(&t), cases[i][1]);
    text_free(&t);
  }
}

TEST(text_that_ran_out_stays_failed) {
  text t = {0};
  text_string(&t, "kept");
  text_add(&t, NULL, SIZE_MAX);
  CHECK(t.failed);
  text_string(&t, "more");
  CHECK_STR(t.data, "kept");
  text_free(&t);
  CHECK(!t.failed);
}

// ---- hashing -------------------------------------------------------------------------------

TEST(hash_depends_on_every_bit_and_the_length) {
  unsigned char bytes[40] = {0};
  for (size_t length = 0; length <= sizeof bytes; length++) {
    uint64_t plain = hash_bytes(bytes, length);
    if (length > 0)
      CHECK(plain != hash_bytes(bytes, length - 1));
    for (size_t bit = 0; bit < length * 8; bit++) {
      bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
      uint64_t changed = plain ^ hash_bytes(bytes, length);
      bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
      int bits = __builtin_popcountll(changed);
      CHECK(bits > 8 && bits < 56);  // about half of the bits change
    }
  }
  CHECK_EQ_U64(hash_bytes("same text", 9), hash_bytes("same text", 9));
  CHECK_EQ_U64(hash_bytes(NULL, 0), hash_bytes("", 0));
}

TEST_MAIN()
