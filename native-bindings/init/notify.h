/* Readiness of a container (sd_notify(3)) on its way to the service manager of the host. */
#ifndef RUNT_NOTIFY_H
#define RUNT_NOTIFY_H
#include <stdbool.h>

struct notify {
  /* The container's datagram socket, and the connected one of the host; -1 = none. */
  int container, host;
  /* What MAINPID tells. */
  long main_pid;
  /* The program has said READY=1, but the queue of the manager was full; then `host` is polled for POLLOUT. */
  bool is_pending;
  /* The manager has been told. */
  bool is_ready;
};

/* Reads what has arrived, without blocking. Only the first READY=1 is told to the host. */
void notify_take(struct notify *notify);
/* CONTAINER HOST INIT_PIDFD INIT_PID: until the container is ready or its init has ended. */
int notify_main(int count, char **arguments);
#endif
