// How fast this machine is: what the cost model (runtime/model/model.h) multiplies its counts with.
// Measured once, in some 30 ms, and kept in the cache.
//
//   machine_speed s = speed_of_machine(false);   // what is kept; else that of a usual server
//   s = speed_of_machine(true);                  // what is kept; else measured now
//   speed_byte_seconds(&s, 1 << 24, 2)           // 2.2e-11: of arrays of 16 MiB, by two threads
//   speed_place_seconds(&s, 1 << 24)             // 5e-9: an element anywhere in so many bytes
#ifndef PERMC_RUNTIME_SYSTEM_SPEED_H
#define PERMC_RUNTIME_SYSTEM_SPEED_H

#include <stdbool.h>

enum { SPEED_NEAR, SPEED_MIDDLE, SPEED_FAR, SPEED_LEVELS };

// In seconds.
typedef struct machine_speed {
  double cycle;  // of the clock
  double
      byte[SPEED_LEVELS];  // that a copy by one thread reads or writes: of arrays that lie in the
                           // second cache, in the third, in memory
  double all;              // as the last of these, by all processors together
  double place[SPEED_LEVELS];  // of an element at a random place of such an array, which waits for
                               // no other
} machine_speed;

extern const machine_speed speed_usual;
machine_speed speed_of_machine(bool measure);
// Takes these from now on, where the cache can keep them.
void speed_keep(const machine_speed *s);

// Of a byte that so many threads together read or write, where they work on so many bytes.
double speed_byte_seconds(const machine_speed *s, double bytes, unsigned threads);

// Of an element that a thread reads or writes at a place that data say, of an array of so many bytes.
double speed_place_seconds(const machine_speed *s, double bytes);

// "AMD EPYC 9554 64-Core Processor". False: the processor has no such text.
bool speed_processor_name(char out[64]);

#endif
