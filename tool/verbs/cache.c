// permc cache: the compiled code and tuned plans that are kept; their limit; removing them.
#include "runtime/system/cache.h"
#include "core/units.h"
#include "tool/verbs/verbs.h"

#include <errno.h>
#include <time.h>

static const char *const kinds[CACHE_KINDS] = {"code", "tuned plan", "runs"};

static void print_entries(const cache_list *l) {
  for (size_t i = 0; i < l->count; i++) {
    const cache_entry *e = &l->items[i];
    char date[32] = "", size[NUMBER_SPACE];
    struct tm used;
    if (localtime_r(&e->used.tv_sec, &used))
      strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &used);
    printf("%s  %9s  %-12s %.12s\n", date, show_bytes(size, e->bytes), kinds[e->kind], e->name);
  }
}

static void print_summary(const cache *c, const cache_list *l) {
  char size[NUMBER_SPACE], limit[NUMBER_SPACE];
  size_t counts[CACHE_KINDS] = {0};
  for (size_t i = 0; i < l->count; i++)
    counts[l->items[i].kind]++;
  printf("folder    %s\nentries   %zu of compiled code, %zu of tuned plans, %zu of runs\n"
         "size      %s of at most %s\n",
         c->folder, counts[CACHE_CODE], counts[CACHE_TUNED],
         counts[CACHE_RUNS] + counts[CACHE_SPEED], show_bytes(size, l->bytes),
         show_bytes(limit, l->limit));
}

// --limit and --clear.
static bool change(const cli_arguments *args, const cache *c) {
  uint64_t removed, total = 0, limit = cli_number(args, "--limit", 0);
  char size[NUMBER_SPACE];
  bool good = true, limits = cli_is_given(args, "--limit"), clears = cli_is_given(args, "--clear");
  if (clears && (good = cache_limit(c, NULL, &removed)))
    total += removed;
  if (limits && good && (good = cache_limit(c, &limit, &removed)))
    total += removed;
  if (good && (clears || limits))
    printf("removed   %s\n", show_bytes(size, total));
  return good;
}

cli_status verb_cache(const cli_arguments *args) {
  cache c;
  FREED_BY(cache_list_free) cache_list l = {0};
  cache_open(&c);
  if (!c.folder[0])
    return cli_error("%s", c.problem);
  if (!change(args, &c) || !cache_count(&c, &l))
    return cli_error("the cache %s: %s", c.folder, strerror(errno));
  if (cli_is_given(args, "--list"))
    print_entries(&l);
  else
    print_summary(&c, &l);
  return CLI_OK;
}
