// Sorts by keys of few bits do what the sort of any keys does: runtime/routines/buckets.h.
#include "runtime/routines/buckets.h"
#include "runtime/routines/key_order.h"
#include "tests/test.h"
#include "tests/unit/splitmix.h"

enum { MOST = 150000 };

static const struct {
  scalar_type type;
  uint32_t bits;
} keys_of[] = {{SCALAR_BOOL, 0}, {SCALAR_U8, 0},  {SCALAR_I8, 0},
               {SCALAR_U8, 3},   {SCALAR_I32, 8}, {SCALAR_U64, 1}};

static unsigned char keys[8 * MOST], from[12 * MOST], to[2][4][12 * MOST];

TEST(same_as_sort) {
  static const uint64_t lengths[] = {1 << 12, 65536, 65537, MOST};
  for (size_t k = 0; k < sizeof keys_of / sizeof *keys_of; k++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      uint64_t rows = l ? 1 : 3, count = rows * lengths[l];
      uint32_t bits = keys_of[k].type == SCALAR_BOOL ? 1 : keys_of[k].bits ? keys_of[k].bits : 8;
      for (uint64_t i = 0; i < count; i++) {
        uint64_t key = random_u64() >> (64 - bits);
        scalar_convert(SCALAR_U64, keys_of[k].type, 1, &key,
                       keys + i * scalar_types[keys_of[k].type].size);
      }
      for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 7 + i / 251);
      for (int way = 0; way < 2; way++) {
        sort_payload payloads[] = {
            {from, to[way][0], l ? 4 : 12}, {from, to[way][1], l ? 8 : 1}, {NULL, to[way][2], 4}};
        sort_task t = {.order = key_order_of(keys_of[k].type, l % 2, keys_of[k].bits),
                       .rows = rows,
                       .length = lengths[l],
                       .keys = keys,
                       .sorted = to[way][3],
                       .payload_count = 3,
                       .payloads = payloads,
                       .crew = {.threads = 2}};
        memset(to[way], 0, sizeof to[way]);
        CHECK(buckets_suit(&t));
        CHECK(way ? routine_bucket(&t) : routine_sort(&t));
      }
      CHECK(memcmp(to[0], to[1], sizeof to[0]) == 0);
    }
}

TEST_MAIN()
