/* The program says READY=1 on the container's own socket, and the host hears that and whose pid it is: everything else a service may
 * say there (MAINPID, FDSTORE, ...) would let a container speak for its runtime. */
#include "../testing/disabled_defences.h"
#include "notify.h"

#include "run.h"
#include "socket.h"
#include "../shared/sys.h"

/* sd_notify(3) messages are lines; none of a service's is longer. */
#define DATAGRAM_MAX 4096
/* More than a queue holds (net.unix.max_dgram_qlen): who goes on sending does not keep the monitor from its other work. */
#define DATAGRAMS_MOST 1024
/* systemd-notify waits as long. */
#define BARRIER_SECONDS 30

static bool says_ready(const char *text, size_t size) {
  static const char ready[] = "READY=1";
  const size_t length = sizeof ready - 1;
  for (size_t at = 0; at < size;) {
    size_t end = at;
    while (end < size && text[end] != '\n') end++;
    if (end - at == length && memcmp(text + at, ready, length) == 0) return true;
    at = end + 1;
  }
  return false;
}

static long tell(int socket, const char *text, int descriptor) {
  return socket_send(socket, &(struct iovec){(void *)text, strlen(text)}, 1, descriptor, MSG_DONTWAIT_);
}

static void tell_ready(struct notify *notify) {
  char line[64];
  struct buffer out = BUFFER(line);
  put_text(&out, "MAINPID=");
  put_u64(&out, (uint64_t)notify->main_pid);
  put_text(&out, "\nREADY=1\n");
  // -EAGAIN is tried again; after any other error the manager has ended.
  notify->is_ready = tell(notify->host, line, -1) != -EAGAIN;
  notify->is_pending = !notify->is_ready;
}

void notify_take(struct notify *notify) {
  char text[DATAGRAM_MAX];
  if (notify->is_pending) tell_ready(notify);
  for (int i = 0; i < DATAGRAMS_MOST; i++) {
    long size = sys(__NR_recvfrom, notify->container, text, sizeof text, MSG_DONTWAIT_, NULL, 0);
    if (size == -EINTR) continue;
    if (size < 0) return;
    if (DEFENCE_DISABLED(notify_filter)) sys(__NR_sendto, notify->host, text, size, MSG_NOSIGNAL_, NULL, 0);
    if (!notify->is_ready && !notify->is_pending && says_ready(text, (size_t)size)) tell_ready(notify);
  }
}

/* The manager finds out whose message it is while the sender lives, so it is waited for: it closes the descriptor when it has come this far. */
static void await_manager(int host) {
  int ends[2];
  if (sys(__NR_pipe2, ends, O_CLOEXEC) < 0) return;
  const struct __kernel_timespec most = {BARRIER_SECONDS, 0};
  struct pollfd room = {.fd = host, .events = POLLOUT}, row = {.fd = ends[0]};
  sys_poll(&room, 1, &most);
  long sent = tell(host, "BARRIER=1", ends[1]);
  sys_close(ends[1]);
  if (sent >= 0) sys_poll(&row, 1, &most);
  sys_close(ends[0]);
}

int notify_main(int count, char **arguments) {
  int numbers[4];
  if (count != 4) return 2;
  for (int i = 0; i < 4; i++)
    if (!text_to_int(arguments[i], &numbers[i])) return 2;
  struct notify notify = {.container = numbers[0], .host = numbers[1], .main_pid = numbers[3]};
  bool ended = false;
  while (!notify.is_ready && !ended) {
    struct pollfd rows[3] = {{.fd = notify.container, .events = POLLIN}, {.fd = numbers[2], .events = POLLIN}, {.fd = -1}};
    if (notify.is_pending) rows[2] = (struct pollfd){.fd = notify.host, .events = POLLOUT};
    if (sys_poll(rows, 3, NULL) < 0) continue;
    // The program may have said READY=1 just before it ended.
    ended = rows[1].revents != 0;
    notify_take(&notify);
  }
  if (notify.is_ready) await_manager(notify.host);
  return 0;
}
