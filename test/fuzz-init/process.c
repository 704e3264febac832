/* Answers of the calls about processes, descriptors, terminals and time. */
#include "kernel.h"

#include <string.h>

#define CHILD 77
#define LAST_CAPABILITY 40

static long duplicate(int fd, int lowest, bool close_on_exec) {
  const struct descriptor *file = descriptor_get(fd);
  if (file == NULL) return -EBADF;
  for (int other = lowest; other < DESCRIPTORS_MAX; other++)
    if (!kernel.descriptors[other].is_open) return descriptor_at(other, file->kind, file->object, close_on_exec);
  return -EMFILE;
}

static long answer_fcntl(const long *a) {
  int fd = (int)a[0];
  switch (a[1]) {
    case F_DUPFD_CLOEXEC:
      return duplicate(fd, (int)a[2], true);
    case F_SETFD:
      // The helper marks numbers that may be anything or nothing.
      if (fd < 0 || fd >= DESCRIPTORS_MAX || !kernel.descriptors[fd].is_open) return -EBADF;
      kernel.descriptors[fd].close_on_exec = (a[2] & FD_CLOEXEC) != 0;
      return 0;
    case F_GET_SEALS_:
      return F_SEAL_SHRINK_ | F_SEAL_GROW_ | F_SEAL_WRITE_;
    default:
      return descriptor_get(fd) == NULL ? -EBADF : 0;
  }
}

static long answer_dup3(const long *a) {
  const struct descriptor *file = descriptor_get(a[0]);
  if (a[0] == a[1]) return -EINVAL;
  if (a[1] < 0 || a[1] >= DESCRIPTORS_MAX) return -EBADF;
  return descriptor_at((int)a[1], file->kind, file->object, (a[2] & O_CLOEXEC) != 0);
}

static long answer_pipe(int *ends) {
  check_writable(ends, 2 * sizeof *ends);
  int first = descriptor_new(KIND_PIPE, object_new(), true);
  int second = first < 0 ? first : descriptor_new(KIND_PIPE, object_new(), true);
  if (first >= 0 && second < 0) descriptor_close(first);
  if (second < 0) return second;
  ends[0] = first;
  ends[1] = second;
  return 0;
}

static long answer_close_range(uint32_t first, uint32_t flags) {
  for (int fd = 0; fd < kernel.used; fd++)
    if ((uint32_t)fd >= first && (flags & CLOSE_RANGE_CLOEXEC) != 0) kernel.descriptors[fd].close_on_exec = true;
  return 0;
}

/* The program stands in the helper's place: nothing but stdio may have come with it. */
static long answer_execve(char *const *arguments, char *const *environment) {
  check_vector(arguments);
  check_vector(environment);
  for (int fd = 3; fd < kernel.used && kernel.input->mode == MODE_PLAN; fd++)
    if (kernel.descriptors[fd].is_open && !kernel.descriptors[fd].close_on_exec) finding("a descriptor survives execve", fd);
  kernel.is_replaced = true;
  kernel_leave();
}

static long answer_clone(const struct answer *answer) {
  if (answers(answer, ACTION_VALUE)) return answer->value & 0x7fffffff;
  // process.clone goes on as init, all others as the parent.
  return kernel.operation == OPERATION_CLONE ? 0 : CHILD;
}

/* A rule's bytes: pid (4), status (4). */
static long answer_wait(const long *a, const struct answer *answer) {
  int *status = (int *)a[1];
  int32_t pid = (int32_t)a[0], said = 0;
  if (status != NULL) check_writable(status, sizeof *status);
  if (answers(answer, ACTION_DATA)) {
    uint8_t bytes[8] = {0};
    memcpy(bytes, answer->rule->data, answer->rule->length < 8 ? answer->rule->length : 8);
    said = (int32_t)case_load32(bytes + 4);
    pid = (int32_t)(case_load32(bytes) & 0x7fffffff);
    if ((a[2] & WNOHANG) == 0 && pid == 0) pid = CHILD;
  } else if (answers(answer, ACTION_VALUE)) {
    said = answer->value;
    if (pid <= 0) pid = CHILD;
  } else if (pid <= 0) {
    if (kernel.children == 0) return -ECHILD;
    kernel.children--;
    pid = CHILD;
  }
  if (status != NULL && pid > 0) *status = said;
  return pid;
}

static long answer_poll(struct pollfd *rows, size_t count, const struct __kernel_timespec *timeout, const struct answer *answer) {
  check_writable(rows, count * sizeof *rows);
  if (timeout != NULL) {
    check_readable(timeout, sizeof *timeout);
    if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= 1000000000) finding("a time that is none", timeout->tv_nsec);
  }
  long ready = 0;
  bool watches = false;
  for (size_t i = 0; i < count; i++) {
    rows[i].revents = 0;
    if (rows[i].fd < 0) continue;
    watches = true;
    if (answers(answer, ACTION_VALUE)) continue;
    if (answers(answer, ACTION_DATA)) rows[i].revents = i < answer->rule->length ? (short)(answer->rule->data[i] & (rows[i].events | POLLHUP | POLLERR)) : 0;
    else rows[i].revents = rows[i].events == 0 ? POLLHUP : rows[i].events;
    ready += rows[i].revents != 0;
  }
  if (ready > 0 || timeout != NULL) return ready;
  if (!watches) finding("waits for nothing, for ever", (long)count);
  // Something happens in the end, if only a signal.
  return -EINTR;
}

static long answer_prctl(const long *a, const struct answer *answer) {
  if (a[0] != PR_CAPBSET_READ) return 0;
  if (answers(answer, ACTION_VALUE)) return answer->value & 1;
  return a[1] <= LAST_CAPABILITY ? 1 : -EINVAL;
}

static long answer_capget(const long *a, const struct answer *answer) {
  struct __user_cap_data_struct *data = (struct __user_cap_data_struct *)a[1];
  check_readable((void *)a[0], sizeof(struct __user_cap_header_struct));
  check_writable(data, 2 * sizeof *data);
  memset(data, 0xff, 2 * sizeof *data);
  if (answers(answer, ACTION_DATA)) memcpy(data, answer->rule->data, answer->rule->length < 2 * sizeof *data ? answer->rule->length : 2 * sizeof *data);
  return 0;
}

/* A rule's bytes: soft (4), hard (4). */
static long answer_prlimit(const long *a, const struct answer *answer) {
  struct rlimit64 *old = (struct rlimit64 *)a[3];
  if (a[2] != 0) {
    check_readable((void *)a[2], sizeof *old);
    if (a[1] == RLIMIT_NOFILE) kernel.file_limit = ((const struct rlimit64 *)a[2])->rlim_cur;
  }
  if (old == NULL) return 0;
  check_writable(old, sizeof *old);
  *old = (struct rlimit64){kernel.file_limit, 1048576};
  if (answers(answer, ACTION_VALUE)) old->rlim_cur = (uint32_t)answer->value;
  return 0;
}

static long answer_clock(struct __kernel_timespec *out, const struct answer *answer) {
  check_writable(out, sizeof *out);
  kernel.clock += answers(answer, ACTION_VALUE) ? (int64_t)((uint32_t)answer->value & 0xfffff) * 1000000000 : 1000000;
  *out = (struct __kernel_timespec){kernel.clock / 1000000000, kernel.clock % 1000000000};
  return 0;
}

static long answer_ioctl(const long *a, const struct answer *answer) {
  switch ((unsigned)a[1]) {
    case TCGETS:
      check_writable((void *)a[2], sizeof(struct termios));
      memset((void *)a[2], 0xff, sizeof(struct termios));
      return descriptor_get(a[0])->kind == KIND_TERMINAL ? 0 : -ENOTTY;
    case TCSETS:
      check_readable((void *)a[2], sizeof(struct termios));
      return 0;
    case TIOCGWINSZ:
      check_writable((void *)a[2], sizeof(struct window_size));
      memset((void *)a[2], 1, sizeof(struct window_size));
      return 0;
    case TIOCSWINSZ:
      check_readable((void *)a[2], sizeof(struct window_size));
      return 0;
    case TIOCSPTLCK:
      check_readable((void *)a[2], sizeof(int));
      return 0;
    case TIOCGPTN:
      check_writable((void *)a[2], sizeof(int));
      *(int *)a[2] = answers(answer, ACTION_VALUE) ? answer->value : 3;
      return 0;
    case TIOCGPTPEER:
      return descriptor_new(KIND_TERMINAL, object_new(), (a[2] & O_CLOEXEC) != 0);
    case SIOCGIFFLAGS_:
      check_writable((void *)a[2], sizeof(struct interface_request));
      return 0;
    case SIOCSIFFLAGS_:
      check_readable((void *)a[2], sizeof(struct interface_request));
      return 0;
    case NS_GET_NSTYPE:
      return answers(answer, ACTION_VALUE) ? answer->value & 0x7fffffff : (long)kernel.wanted_namespace;
    default:
      return 0;
  }
}

static long answer_seccomp(uint32_t flags, const uint8_t *program) {
  struct {
    uint16_t length;
    const void *filter;
  } shape;
  check_readable(program, sizeof shape);
  memcpy(&shape, program, sizeof shape);
  check_readable(shape.filter, shape.length * sizeof(struct sock_filter));
  return flags & SECCOMP_FILTER_FLAG_NEW_LISTENER ? descriptor_new(KIND_OTHER, object_new(), true) : 0;
}

static long answer_setgroups(size_t count, const void *groups) {
  if (count > 65536) return -EINVAL;
  check_readable(groups, count * sizeof(uint32_t));
  return 0;
}

static long answer_set_mempolicy(const void *mask, size_t bits) {
  // One bit less than it is told (mm/mempolicy.c).
  if (mask != NULL && bits > 1) check_readable(mask, (bits - 1 + 63) / 64 * 8);
  return 0;
}

long answer_process(enum call call, const long *a, const struct answer *answer) {
  switch (call) {
    case CALL_fcntl:
      return answer_fcntl(a);
    case CALL_dup3:
      return answer_dup3(a);
    case CALL_pipe2:
      return answer_pipe((int *)a[0]);
    case CALL_socketpair:
      return answer_pipe((int *)a[3]);
    case CALL_close_range:
      return answer_close_range((uint32_t)a[0], (uint32_t)a[2]);
    case CALL_execve:
      return answer_execve((char *const *)a[1], (char *const *)a[2]);
    case CALL_execveat:
      return answer_execve((char *const *)a[2], (char *const *)a[3]);
    case CALL_clone:
    case CALL_clone3:
      return answer_clone(answer);
    case CALL_wait4:
      return answer_wait(a, answer);
    case CALL_ppoll:
      return answer_poll((struct pollfd *)a[0], (size_t)a[1], (const struct __kernel_timespec *)a[2], answer);
    case CALL_prctl:
      return answer_prctl(a, answer);
    case CALL_capget:
      return answer_capget(a, answer);
    case CALL_capset:
      check_readable((void *)a[1], 2 * sizeof(struct __user_cap_data_struct));
      return 0;
    case CALL_prlimit64:
      return answer_prlimit(a, answer);
    case CALL_clock_gettime:
      return answer_clock((struct __kernel_timespec *)a[1], answer);
    case CALL_ioctl:
      return answer_ioctl(a, answer);
    case CALL_seccomp:
      return answer_seccomp((uint32_t)a[1], (const uint8_t *)a[2]);
    case CALL_setgroups:
      return answer_setgroups((size_t)a[0], (const void *)a[1]);
    case CALL_set_mempolicy:
      return answer_set_mempolicy((const void *)a[1], (size_t)a[2]);
    case CALL_getgroups:
      return answers(answer, ACTION_VALUE) ? answer->value & 0xffff : 0;
    case CALL_pidfd_open:
      return descriptor_new(KIND_OTHER, object_new(), true);
    case CALL_signalfd4:
      check_readable((void *)a[1], (size_t)a[2]);
      return descriptor_new(KIND_SIGNALS, object_new(), true);
    case CALL_getpid:
      return 42;
    case CALL_umask:
      return 022;
    default:
      return NOT_MINE;
  }
}
