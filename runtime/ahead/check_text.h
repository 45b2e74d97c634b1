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

static int permc_check_data(const permc_check *k, const void *data, PERMC_ERROR *e) {
  check_fault f;
  if (check_is_passed(&k->rule, data, k->count, &f))
    return 1;
  if (e) {
    permc_refuse(e, PERMC_DATA, "");
    check_print_fault(e->message, sizeof e->message, &f);
    e->row = (int64_t)f.row;
    e->position = (int64_t)f.position;
    e->value = f.value;
  }
  return 0;
}
