// What compilers of today expect of the C library and glibc 2.28 lacks, for programs of wheels (tools/wheel): they are
// compiled with the headers of the machine and linked with the symbols of 2.28, so that they run wherever it is.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define INNER __attribute__((visibility("hidden")))

// glibc 2.32. Reference counts of libstdc++ are plain while it is true; never here, which costs a locked addition.
INNER char __libc_single_threaded = 0;

// glibc 2.36, for std::random_device.
INNER uint32_t arc4random(void) {
  uint32_t value;
  while (getrandom(&value, sizeof value, 0) != sizeof value)
    if (errno != EINTR) abort();
  return value;
}

// glibc 2.30. The wait for a time on the monotonic clock, as one on the clock that the condition has.
INNER int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                 const struct timespec* until) {
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  int64_t nanoseconds = wall.tv_nsec + (until->tv_nsec - now.tv_nsec);
  wall.tv_sec += until->tv_sec - now.tv_sec + (nanoseconds < 0 ? -1 : nanoseconds / 1000000000);
  wall.tv_nsec = nanoseconds < 0 ? nanoseconds + 1000000000 : nanoseconds % 1000000000;
  return pthread_cond_timedwait(condition, mutex, &wall);
}

// glibc 2.38: headers of C23 call these in place of the functions without the prefix.
extern long old_strtol(const char*, char**, int) __asm__("strtol");
extern unsigned long old_strtoul(const char*, char**, int) __asm__("strtoul");
extern long long old_strtoll(const char*, char**, int) __asm__("strtoll");
extern unsigned long long old_strtoull(const char*, char**, int) __asm__("strtoull");
INNER long __isoc23_strtol(const char* text, char** end, int base) { return old_strtol(text, end, base); }
INNER unsigned long __isoc23_strtoul(const char* text, char** end, int base) { return old_strtoul(text, end, base); }
INNER long long __isoc23_strtoll(const char* text, char** end, int base) { return old_strtoll(text, end, base); }
INNER unsigned long long __isoc23_strtoull(const char* text, char** end, int base) {
  return old_strtoull(text, end, base);
}
