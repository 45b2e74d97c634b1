// Numbers with units. See units.h.
#include "core/units.h"

#include <stddef.h>
#include <stdio.h>

const char *show_number(char out[NUMBER_SPACE], double number) {
  snprintf(out, NUMBER_SPACE, number >= 99.95 ? "%.0f" : "%.3g", number);
  return out;
}

const char *show_bytes(char out[NUMBER_SPACE], uint64_t bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  double shown = (double)bytes;
  for (; shown >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
    shown /= 1024;
  char number[NUMBER_SPACE];
  snprintf(out, NUMBER_SPACE, "%.20s %s", show_number(number, shown),
           bytes == 1 ? "byte" : units[unit]);
  return out;
}

const char *show_seconds(char out[NUMBER_SPACE], double seconds) {
  static const struct {
    double unit;
    const char *name;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  size_t i = 0;
  while (i < 3 && seconds < 0.9995 * units[i].unit)
    i++;
  char number[NUMBER_SPACE];
  snprintf(out, NUMBER_SPACE, "%.20s %s", show_number(number, seconds / units[i].unit),
           units[i].name);
  return out;
}
