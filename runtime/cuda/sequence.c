// Launches that are started as one. See cuda.h.
//
// CUDA's graphs: the first time the nodes are made, after that they get other parameters, which
// takes a tenth of a launch. Starting a graph takes less than half a launch, whatever is in it.
#include "runtime/cuda/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct cuda_sequence {
  cuda_recording *nodes_of;
  cuda_graph *graph;     // NULL: it was not started yet
  uint32_t count, next;  // nodes; the one that is written next
  bool last_is_kernel;   // of those that were made
  cuda_node *nodes[CUDA_SEQUENCE_MOST];
};

cuda_sequence *cuda_sequence_new(cuda_device *d) {
  cuda_sequence *s = d->api->graph_add_node ? calloc(1, sizeof *s) : NULL;
  if (!s)
    return NULL;
  if (CUDA_CALL(d, graph_create, (&s->nodes_of, 0), "launches"))
    return s;
  free(s);
  return NULL;
}

void cuda_sequence_free(cuda_device *d, cuda_sequence *s) {
  if (s && cuda_enter_to_free(d)) {
    if (s->graph)
      d->api->graph_exec_destroy(s->graph);
    d->api->graph_destroy(s->nodes_of);
    cuda_leave(d, true);
  }
  free(s);
}

void cuda_sequence_write(cuda_device *d, cuda_sequence *s) {
  d->sequence = s;
  s->next = 0;
}

// The next node: made behind the one before, or changed.
static bool write_node(cuda_device *d, cuda_node_parameters *p, bool overlapping) {
  cuda_sequence *s = d->sequence;
  if (s->next == (s->graph ? s->count : CUDA_SEQUENCE_MOST))
    return cuda_refuse(d, "a sequence has too many launches");
  uint32_t i = s->next++;
  if (s->graph)
    return CUDA_CHECK(d, graph_set_node, (s->graph, s->nodes[i], p), "launch %" PRIu32, i + 1);
  unsigned char waits_itself = overlapping && s->last_is_kernel && cuda_can_overlap(d);
  cuda_edge edge = {.from_port = waits_itself, .type = waits_itself};
  s->last_is_kernel = p->type == CUDA_NODE_KERNEL;
  s->count = s->next;
  return CUDA_CHECK(
      d, graph_add_node,
      (&s->nodes[i], s->nodes_of, i ? &s->nodes[i - 1] : NULL, i ? &edge : NULL, i > 0, p),
      "launch %" PRIu32, i + 1);
}

bool cuda_sequence_add_launch(cuda_device *d, const cuda_kernel *k, const cuda_grid *g,
                              void **parameters) {
  cuda_node_parameters p = {.type = CUDA_NODE_KERNEL,
                            .of.kernel = {.function = k->function,
                                          .blocks = {(unsigned)g->blocks, 1, 1},
                                          .threads = {g->threads, 1, 1},
                                          .shared_bytes = k->dynamic_shared,
                                          .parameters = parameters,
                                          .context = d->context}};
  snprintf(d->last, sizeof d->last, "%s", k->name);
  return write_node(d, &p, g->overlapping);
}

bool cuda_sequence_add_clear(cuda_device *d, cuda_address a, uint64_t bytes) {
  cuda_node_parameters p = {
      .type = CUDA_NODE_MEMSET,
      .of.memset = {
          .to = a, .element_bytes = 1, .width = bytes, .height = 1, .context = d->context}};
  return write_node(d, &p, false);
}

static bool start(cuda_device *d, cuda_sequence *s) {
  if (!s->graph && !CUDA_CHECK(d, graph_instantiate, (&s->graph, s->nodes_of, 0),
                               "%" PRIu32 " launches", s->count))
    return false;
  return CUDA_CHECK(d, graph_launch, (s->graph, d->stream), "%" PRIu32 " launches", s->count);
}

bool cuda_sequence_launch(cuda_device *d, cuda_sequence *s, bool is_complete) {
  d->sequence = NULL;
  return is_complete && cuda_enter(d) && cuda_leave(d, start(d, s));
}
