#include "ending.h"

#include "run.h"
#include "../shared/sys.h"

#define SECOND 1000000000ull
/* A signal that has ended the container may reach the monitor after that end (a service manager signals every process of a service at once):
 * one that comes so soon does not mean the waiting. */
#define GRACE (2 * SECOND)

uint64_t ending_waited(const struct ending *ending) { return ending->began == 0 ? 0 : trace_now() - ending->began; }

static bool is_end(const struct signalfd_siginfo *signal) {
  return signal->ssi_signo == SIGTERM || signal->ssi_signo == SIGINT || signal->ssi_signo == SIGHUP || signal->ssi_signo == SIGQUIT;
}

bool ending_wait(struct ending *ending, struct pollfd row, uint64_t most) {
  if (ending->began == 0) ending->began = trace_now();
  struct pollfd rows[2] = {row, {.fd = ending->signals, .events = POLLIN}};
  const struct __kernel_timespec pause = {(long)(most / SECOND), (long)(most % SECOND)};
  if (sys_poll(rows, 2, most == 0 ? NULL : &pause) <= 0 || rows[1].revents == 0) return true;
  struct signalfd_siginfo signal;
  bool goes_on = true;
  while (sys_read(ending->signals, &signal, sizeof signal) == sizeof signal)
    if (is_end(&signal) && ending_waited(ending) >= GRACE) goes_on = false;
  return goes_on;
}
