// Errors of a call, and what is checked of its data. Part of each library made ahead of time.
// PERMC_ERROR is the library's error.

enum { PERMC_OK, PERMC_MEMORY, PERMC_ALIGNMENT, PERMC_DATA, PERMC_DEVICE };

static int permc_refuse(PERMC_ERROR *e, int code, const char *message) {
  if (e) {
    memset(e, 0, sizeof *e);
    e->code = code;
    snprintf(e->message, sizeof e->message, "%s", message);
  }
  return code;
}

// What is wrong, where, and what is there instead.
static int permc_refuse_data(PERMC_ERROR *e, const permc_check *k, uint64_t position,
                             int64_t value) {
  const char *what = k->kind == PERMC_KEY ? "key" : k->kind == PERMC_OFFSET ? "offset" : "index";
  unsigned long long most = (unsigned long long)k->length - 1;
  long long shown = (long long)value;
  if (!e)
    return 0;
  permc_refuse(e, PERMC_DATA, "");
  e->row = (int64_t)(k->kind == PERMC_PADDING ? 0 : position / k->inner);
  e->position = (int64_t)(k->kind == PERMC_PADDING ? position : position % k->inner);
  e->value = value;
  if (k->kind == PERMC_PADDING)
    snprintf(e->message, sizeof e->message,
             "element %lld of the result of padded is padding, or computed from it alone",
             (long long)e->position);
  else if (k->kind == PERMC_ROW)
    snprintf(e->message, sizeof e->message, "row %lld has %lld elements, and may have 0 to %llu",
             (long long)e->position, shown, most);
  else if (k->kind == PERMC_PLACE && (uint64_t)value < k->length)
    snprintf(e->message, sizeof e->message, "index %lld at position %lld of row %lld occurs twice",
             shown, (long long)e->position, (long long)e->row);
  else if (k->kind == PERMC_FRACTION)
    snprintf(e->message, sizeof e->message, "fraction %.7g at position %lld is not from 0 to 1",
             value == INT64_MIN ? NAN : (double)shown / (double)most, (long long)e->position);
  else if (k->is_unsigned)
    snprintf(e->message, sizeof e->message,
             "%s %llu at position %lld of row %lld is not from 0 to %llu", what,
             (unsigned long long)value, (long long)e->position, (long long)e->row, most);
  else
    snprintf(e->message, sizeof e->message,
             "%s %lld at position %lld of row %lld is not from 0 to %llu", what, shown,
             (long long)e->position, (long long)e->row, most);
  return 0;
}

static int permc_check_data(const permc_check *k, const void *found, PERMC_ERROR *e) {
  uint64_t i;
  if (k->kind == PERMC_PADDING) {
    for (i = 0; i < k->count; i++)
      if (((const unsigned char *)found)[i])
        return permc_refuse_data(e, k, i / k->inner % k->length, 0);
    return 1;
  }
  if (((const int64_t *)found)[0] == INT64_MAX)
    return 1;
  return permc_refuse_data(e, k, (uint64_t)((const int64_t *)found)[0],
                           ((const int64_t *)found)[1]);
}
