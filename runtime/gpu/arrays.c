// A program's arrays: their memory, and what goes to them and comes from them.
#include "runtime/cpu/roots.h"
#include "runtime/gpu/state.h"
#include "runtime/system/pool.h"

// ---- memory -------------------------------------------------------------------------------------

// What is given stays for further runs.
bool program_place_arrays(cuda_program *g, error *failure) {
  const plan *p = g->plan;
  FREED storage_pass *passes = calloc(p->passes.count + 1, sizeof *passes);
  if (passes)
    launch_table_describe(&g->tables[OF_ALL], g->facts, passes);
  bool good = passes && storage_begin(&g->storage, p, passes);
  for (size_t a = 0; a < p->arrays.count && good; a++)
    if (net_array_is_given(&p->arrays.items[a]))
      g->storage.items[a].first = 0, g->storage.items[a].last = STORAGE_NEVER;
  good = good && storage_place(&g->storage);
  return good || error_no_memory(failure);
}

bool program_allocate_arrays(cuda_program *g, bool tables, error *failure) {
  const storage *s = &g->storage;
  uint64_t needed = 0;
  bool good = true;
  for (uint32_t i = 0; i < s->room_count; i++) {
    storage_room *r = &s->rooms[i];
    needed += r->bytes;
    if (!r->memory && good && (!tables || g->plan->arrays.items[r->array].role == NET_TABLE))
      good = (r->memory = (void *)(uintptr_t)program_memory_new(g, r->bytes));
  }
  for (size_t a = 0; a < g->plan->arrays.count; a++)
    g->own[a] =
        s->items[a].first == STORAGE_NEVER ? 0 : (uintptr_t)s->rooms[s->items[a].room].memory;
  return good ||
         error_set(failure, SPAN_NONE, "%s; the program needs %llu bytes in %u arrays",
                   cuda_message(g->device), (unsigned long long)needed, (unsigned)s->room_count);
}

// ---- copies -------------------------------------------------------------------------------------

bool program_upload(cuda_program *g, net_role role, const array *arguments, size_t count,
                    error *failure) {
  for (size_t a = 0; a < g->plan->arrays.count; a++) {
    const net_array *wanted = &g->plan->arrays.items[a];
    void *data;
    if (wanted->role != role || wanted->count == 0)
      continue;
    if (!cpu_find_given(wanted, arguments, count, &data, failure))
      return false;
    if (!cuda_upload(g->device, g->own[a], data, cpu_array_bytes(wanted)))
      return program_fail(g, failure);
  }
  return true;
}

// In one piece of memory: the tables in reverse (kernels/text/host.h), permc_imports, the addresses
// of the tables. `head` has room for the last two.
static bool upload_part_roots(program_part *part, const permc_root_table *rows, void **tables,
                              size_t count, uint64_t *head) {
  uint64_t total = (2 + count) * sizeof *head, before = 0;
  for (size_t i = 0; i < count; i++)
    before += permc_root_room(&rows[i]);
  part->roots = cuda_memory_new(part->device, before + total);
  part->imports = part->roots + before;
  head[1] = part->imports + 2 * sizeof(cuda_address);
  bool good = part->roots != 0;
  before = 0;
  for (size_t i = 0; i < count && good; i++) {
    before += permc_root_room(&rows[i]);
    head[2 + i] = part->imports - before;
    good = cuda_upload(part->device, head[2 + i], tables[i], permc_root_bytes(&rows[i]));
  }
  return good && cuda_upload(part->device, part->imports, head, total);
}

bool program_upload_roots(cuda_program *g, const permc_root_table *rows, error *failure) {
  size_t count = 0;
  void **tables = roots_make(rows, &count, pool_processors());
  uint64_t *head = calloc(count + 2, sizeof *head);
  bool good = tables && head;
  if (!good)
    error_no_memory(failure);
  for (unsigned k = 0; k < g->part_count && good; k++)
    good = upload_part_roots(&g->parts[k], rows, tables, count, head) ||
           program_fail_of(g, &g->parts[k], failure);
  free(head);
  roots_free(tables, count);
  return good;
}

bool program_download(cuda_program *g, array *results, error *failure) {
  for (size_t a = 0; a < g->plan->arrays.count; a++) {
    const net_array *from = &g->plan->arrays.items[a];
    if (from->role != NET_RESULT)
      continue;
    array *to = &results[from->number];
    if (to->data == NULL || array_bytes(to) != cpu_array_bytes(from)) {
      array_destroy(to);
      *to = (array){.data = array_memory(cpu_array_bytes(from))};
      if (!to->data)
        return error_no_memory(failure);
    }
    *to = (array){.type = from->type, .rank = 1, .dims = {from->count}, .data = to->data};
    if (from->count && !cuda_download(g->device, to->data, g->own[a], cpu_array_bytes(from)))
      return program_fail(g, failure);
  }
  return true;
}
