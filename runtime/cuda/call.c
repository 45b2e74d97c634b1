// How CUDA is called, and the message of a call that failed. See device.h.
#include "runtime/cuda/device.h"

#include <stdarg.h>
#include <stdio.h>

const char *cuda_message(const cuda_device *d) { return d->message; }

bool cuda_fail(const cuda_device *d, error *failure) {
  return error_set(failure, SPAN_NONE, "%s", d->message);
}

bool cuda_refuse(cuda_device *d, const char *format, ...) {
  WITH_ARGUMENTS(format, vsnprintf(d->message, sizeof d->message, format, arguments));
  return false;
}

bool cuda_check(cuda_device *d, cuda_status status, const char *call, const char *format, ...) {
  char what[200], why[256];
  if (status == CUDA_STATUS_GOOD)
    return true;
  WITH_ARGUMENTS(format, vsnprintf(what, sizeof what, format, arguments));
  cuda_status_text(d->api, status, why, sizeof why);
  int length = (int)(strstr(call, "_v2") ? strlen(call) - 3 : strlen(call));  // as in CUDA's manual
  return cuda_refuse(d, "%.*s of %s: %s", length, call, what, why);
}

bool cuda_enter(cuda_device *d) {
  return CUDA_CHECK(d, push_current, (d->context), "the %s", d->facts.name);
}

bool cuda_enter_to_free(cuda_device *d) {
  return d->api->push_current(d->context) == CUDA_STATUS_GOOD;
}

bool cuda_leave(cuda_device *d, bool good) {
  cuda_context *before;
  d->api->pop_current(&before);
  return good;
}

bool cuda_enter_now(cuda_device *d, const char *what) {
  if (d->recording)
    return cuda_refuse(d, "%s is not possible while launches are recorded", what);
  return cuda_enter(d);
}
