// A program's arrays: buffers that temporaries share, tables, and what goes to them and comes from
// them.
#include "runtime/cpu/roots.h"
#include "runtime/gpu/state.h"
#include "runtime/system/pool.h"

#include <stdio.h>

// ---- placing ------------------------------------------------------------------------------------

// The number of a free buffer that is at least as large and at most an eighth larger, or of a new
// one.
static uint32_t take_buffer(cuda_program *g, uint64_t bytes) {
  for (uint32_t i = 0; i < g->buffer_count; i++) {
    buffer *b = &g->buffers[i];
    if (!b->taken && b->bytes >= bytes && b->bytes - bytes <= bytes / 8) {
      b->taken = true;
      return i;
    }
  }
  g->buffers[g->buffer_count] = (buffer){.bytes = bytes, .taken = true};
  return (uint32_t)g->buffer_count++;
}

// The temporary array whose buffer array `stored` can have, because the pass is the last to use it
// and stores where it has loaded; NET_NONE: there is none. (Arguments are read in every run.)
static net_id find_replaced_array(const cuda_program *g, uint32_t number, net_id stored,
                                  const uint32_t *last) {
  const plan_pass *pass = &g->plan->passes.items[number];
  const net_array *arrays = g->plan->arrays.items;
  for (uint32_t i = 0; i < pass->load_count && g->passes[number].facts.in_place; i++) {
    net_id a = pass->loads[i].array;
    if (last[a] == number && arrays[a].role == NET_TEMPORARY &&
        g->buffers[g->buffer_of[a]].bytes >= cpu_array_bytes(&arrays[stored]) &&
        cpu_loads_where_stored(g->plan, pass, i, stored))
      return a;
  }
  return NET_NONE;
}

static void place_stored_arrays(cuda_program *g, uint32_t number, uint32_t *last) {
  const plan_pass *pass = &g->plan->passes.items[number];
  for (uint32_t i = 0; i < pass->access_count; i++)
    if (g->buffer_of[pass->accesses[i].array] == NEVER)
      g->buffer_of[pass->accesses[i].array] =
          take_buffer(g, cpu_array_bytes(&g->plan->arrays.items[pass->accesses[i].array]));
  for (uint32_t i = 0; i < pass->store_count; i++) {
    net_id id = pass->stores[i].array;
    if (g->buffer_of[id] != NEVER)
      continue;
    net_id old = find_replaced_array(g, number, id, last);
    if (old == NET_NONE) {
      g->buffer_of[id] = take_buffer(g, cpu_array_bytes(&g->plan->arrays.items[id]));
    } else {
      g->buffer_of[id] = g->buffer_of[old];
      last[old] = NEVER;  // its buffer is still used
    }
  }
  for (size_t a = 0; a < g->plan->arrays.count; a++)
    if (last[a] == number && g->plan->arrays.items[a].role == NET_TEMPORARY &&
        g->buffer_of[a] != NEVER)  // an array without elements is in no pass
      g->buffers[g->buffer_of[a]].taken = false;
}

bool program_choose_buffers(cuda_program *g, error *failure) {
  const plan *p = g->plan;
  uint32_t *first = calloc(2 * p->arrays.count + 1, sizeof *first);
  if (!first)
    return error_set(failure, SPAN_NONE, "out of memory");
  uint32_t *last = first + p->arrays.count;
  cpu_array_lifetimes(p, first, last);
  for (size_t a = 0; a < p->arrays.count; a++)
    g->buffer_of[a] = net_array_is_given(&p->arrays.items[a])
                          ? take_buffer(g, cpu_array_bytes(&p->arrays.items[a]))
                          : NEVER;
  for (uint32_t i = 0; i < p->passes.count; i++)
    place_stored_arrays(g, i, last);
  for (size_t a = 0; a < p->arrays.count; a++)
    if (g->buffer_of[a] == NEVER && p->arrays.items[a].role == NET_RESULT)
      g->buffer_of[a] = take_buffer(g, cpu_array_bytes(&p->arrays.items[a]));
  free(first);
  return true;
}

static void note_addresses(cuda_program *g) {
  for (size_t a = 0; a < g->plan->arrays.count; a++)
    g->own[a] = g->buffer_of[a] == NEVER ? 0 : program_array(g, (net_id)a);
}

bool program_allocate_arrays(cuda_program *g, error *failure) {
  uint64_t needed = 0;
  for (size_t i = 0; i < g->buffer_count; i++) {
    if (g->buffers[i].address)
      continue;
    g->buffers[i].address = program_memory_new(g, g->buffers[i].bytes);
    needed += g->buffers[i].bytes;
    for (size_t k = i + 1; k < g->buffer_count && !g->buffers[i].address; k++)
      needed += g->buffers[k].bytes;
    if (!g->buffers[i].address)
      return error_set(failure, SPAN_NONE, "%s; the program needs %llu bytes in %zu arrays",
                       cuda_message(g->device), (unsigned long long)needed, g->buffer_count);
  }
  note_addresses(g);
  return true;
}

bool program_allocate_tables(cuda_program *g, error *failure) {
  for (size_t a = 0; a < g->plan->arrays.count; a++) {
    buffer *b = g->plan->arrays.items[a].role == NET_TABLE ? &g->buffers[g->buffer_of[a]] : NULL;
    if (b && !(b->address = program_memory_new(g, b->bytes)))
      return program_fail(g, failure);
  }
  return true;
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
    if (!cuda_upload(g->device, program_array(g, (net_id)a), data, cpu_array_bytes(wanted)))
      return program_fail(g, failure);
  }
  return true;
}

// In one piece of memory: permc_imports, the addresses of the tables, the tables. `head` has room
// for the first two.
static bool upload_part_roots(program_part *part, const permc_root_table *rows, void **tables,
                              size_t count, uint64_t *head) {
  uint64_t total = (2 + count) * sizeof *head, at = (total + 255) / 256 * 256;
  for (size_t i = 0; i < count; i++) {
    head[2 + i] = at;
    at += (roots_bytes(&rows[i]) + 255) / 256 * 256;
  }
  part->imports = cuda_memory_new(part->device, at);
  head[1] = part->imports + 2 * sizeof(cuda_address);
  bool good = part->imports != 0;
  for (size_t i = 0; i < count && good; i++) {
    head[2 + i] += part->imports;
    good = cuda_upload(part->device, head[2 + i], tables[i], roots_bytes(&rows[i]));
  }
  return good && cuda_upload(part->device, part->imports, head, total);
}

bool program_upload_roots(cuda_program *g, const permc_root_table *rows, error *failure) {
  size_t count = 0;
  void **tables = roots_make(rows, &count, pool_processors());
  uint64_t *head = calloc(count + 2, sizeof *head);
  bool good = tables && head;
  if (!good)
    error_set(failure, SPAN_NONE, "out of memory");
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
        return error_set(failure, SPAN_NONE, "out of memory");
    }
    *to = (array){.type = from->type, .rank = 1, .dims = {from->count}, .data = to->data};
    if (from->count &&
        !cuda_download(g->device, to->data, program_array(g, (net_id)a), cpu_array_bytes(from)))
      return program_fail(g, failure);
  }
  return true;
}
