// Names of components. See names.h.
#include "runtime/names.h"

static bool any_has_names(permc_value *const *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (values[i]->names)
      return true;
  return false;
}

// Of a component among those of all values; NULL: it has none, or there is no such component.
static const char *name_of(permc_value *const *values, size_t count, uint32_t component) {
  for (size_t i = 0; i < count; component -= (uint32_t)values[i++]->count)
    if (component < values[i]->count)
      return permc_value_name(values[i], component);
  return NULL;
}

bool results_take_names(const uint32_t *origins, permc_value *const *arguments,
                        size_t argument_count, permc_value *const *results, size_t result_count) {
  bool good = true;
  if (!any_has_names(arguments, argument_count) && !any_has_names(results, result_count))
    return true;
  for (size_t i = 0; i < result_count; i++)
    for (size_t k = 0; k < results[i]->count && good; k++)
      good = permc_value_set_name(results[i], k, name_of(arguments, argument_count, *origins++));
  return good;
}
