#include "child.h"

#include "sys.h"

/* How long to sleep between two looks where pidfd_open(2) is refused. */
#define STEP_NANOSECONDS 5000000

static void close_fd(int *fd) {
  if (*fd >= 0) sys_close(*fd);
  *fd = -1;
}

void child_close(struct child *child) {
  close_fd(&child->pidfd);
  close_fd(&child->input);
  for (int i = 0; i < 2; i++) close_fd(&child->output[i].fd);
}

long child_pipes(struct child *child, int theirs[CHILD_STDIO]) {
  int *ours[CHILD_STDIO] = {&child->input, &child->output[0].fd, &child->output[1].fd};
  child->pidfd = -1;
  for (int i = 0; i < CHILD_STDIO; i++) *ours[i] = theirs[i] = -1;
  for (int i = 0; i < CHILD_STDIO; i++) {
    int ends[2];
    long error = sys(__NR_pipe2, ends, O_CLOEXEC);
    if (error < 0) {
      child_close(child);
      for (int k = 0; k < i; k++) close_fd(&theirs[k]);
      return error;
    }
    bool is_input = i == 0;
    theirs[i] = ends[is_input ? 0 : 1];
    *ours[i] = ends[is_input ? 1 : 0];
    sys(__NR_fcntl, *ours[i], F_SETFL, O_NONBLOCK);
  }
  return 0;
}

long child_place_stdio(const int stdio[CHILD_STDIO]) {
  int source[CHILD_STDIO];
  for (int i = 0; i < CHILD_STDIO; i++) {
    // Out of the way first, so that no dup overwrites a source that is still needed.
    source[i] = (int)sys(__NR_fcntl, stdio[i], F_DUPFD_CLOEXEC, CHILD_STDIO);
    if (source[i] < 0) return source[i];
  }
  for (int i = 0; i < CHILD_STDIO; i++) {
    long error = sys(__NR_dup3, source[i], i, 0);
    if (error < 0) return error;
  }
  return 0;
}

static void write_input(struct child *child) {
  for (int i = 0; i < CHILD_PARTS && child->input >= 0; i++) {
    struct child_part *part = &child->parts[i];
    while (part->length > 0) {
      long size = sys_write(child->input, part->at, part->length);
      if (size == -EINTR || size == -EAGAIN) return;
      // A program that does not read its input (EPIPE) is no error.
      if (size < 0) return close_fd(&child->input);
      part->at += size;
      part->length -= (size_t)size;
    }
  }
  close_fd(&child->input);
}

/* False when there is nothing more to read now. */
static bool read_output(struct child_output *output) {
  char thrown_away[1024];
  bool full = output->used == output->limit;
  long size = full ? sys_read(output->fd, thrown_away, sizeof thrown_away)
                   : sys_read(output->fd, output->text + output->used, output->limit - output->used);
  if (size == -EINTR && output->interruptions++ < INTERRUPTIONS_MOST) return true;
  if (size == 0) close_fd(&output->fd);
  if (size <= 0) return false;
  if (!full) output->used += (size_t)size;
  return true;
}

/* A filter may refuse to wait for more than one thing: then it is the program's end only, and its pipes hold what they can. */
enum child_end child_serve(struct child *child, int64_t timeout, int *status) {
  int64_t end = timeout < 0 ? INT64_MAX : child->now() + timeout;
  enum child_end outcome = CHILD_ENDED;
  bool refused = false;
  *status = 0;
  write_input(child);
  for (;;) {
    long ended;
    sys_again(ended, __NR_wait4, child->pid, status, (refused ? 0 : WNOHANG) | __WALL, NULL);
    if (ended != 0 || refused) break;
    int64_t left = end == INT64_MAX ? -1 : end - child->now();
    if (end != INT64_MAX && left <= 0) {
      sys_kill(child->pid, SIGKILL);
      outcome = CHILD_TIMED_OUT;
      left = -1;
      end = INT64_MAX;
    }
    if (child->pidfd < 0 && (left < 0 || left > STEP_NANOSECONDS)) left = STEP_NANOSECONDS;
    struct pollfd fds[] = {
        {.fd = child->input, .events = POLLOUT},
        {.fd = child->output[0].fd, .events = POLLIN},
        {.fd = child->output[1].fd, .events = POLLIN},
        {.fd = child->pidfd, .events = POLLIN},
    };
    int ready = child->poll(fds, sizeof fds / sizeof *fds, left);
    if (ready == -EINTR) {
      sys_kill(child->pid, SIGKILL);
      outcome = CHILD_INTERRUPTED;
      end = INT64_MAX;
    } else if (ready < 0 || (ready == 0 && left < 0)) {
      refused = true;
      write_input(child);
    }
    if (ready <= 0) continue;
    if (fds[0].revents != 0) write_input(child);
    for (int i = 0; i < 2; i++)
      if (fds[i + 1].revents != 0) read_output(&child->output[i]);
  }
  for (int i = 0; i < 2; i++) {
    struct child_output *output = &child->output[i];
    while (output->fd >= 0 && output->used < output->limit && read_output(output)) continue;
  }
  return outcome;
}
