/* Compiled once for the host module and once, without a libc, for the helper (RUNT_TESTING_HELPER). */
#include "testing.h"

#include <stddef.h>
#include <stdint.h>

#ifdef RUNT_TESTING_HELPER
#include "../shared/sys.h"
#else
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#define sys(...) syscall(__VA_ARGS__)
#endif

/* Above what a plan's slots and a caller's descriptors (exec --preserve-fds) take. */
#define LOG_DESCRIPTOR_LEAST 900
#define LINE_MAX_BYTES 512
#define KILLED 137
#define STOP (-1)
#define DELAY (-2)
/* Longer than other processes need for all that they can do without this one, and than the runtime waits before it looks for what delays it. */
#define DELAY_NANOSECONDS 300000000

struct named_error {
  const char *name;
  int number;
};

static const struct named_error ERRORS[] = {
    {"EPERM", EPERM},   {"ENOENT", ENOENT}, {"EINTR", EINTR},   {"EIO", EIO},       {"EAGAIN", EAGAIN},
    {"ENOMEM", ENOMEM}, {"EACCES", EACCES}, {"EBUSY", EBUSY},   {"EINVAL", EINVAL}, {"EMFILE", EMFILE},
    {"ENOSPC", ENOSPC}, {"EROFS", EROFS},   {"ENOSYS", ENOSYS},
};

static const char *const DEFENCE_NAMES[] = {
#define X(name, text) text,
    DEFENCES(X)
#undef X
};

/* They are switched off in TypeScript alone. */
static const char *const DISABLED_NAMES[] = {"head-start", "schedule"};

static struct {
  const char *process;
  uint64_t passed;
  bool is_disabled[DEFENCE_COUNT];
  const char *disabled_defences;
  const char *disabled;
  /* RUNT_FAULT; NULL = none. */
  const char *at_process;
  size_t at_process_length;
  uint64_t at_point;
  /* 0 = kill, STOP, DELAY, or an errno. */
  int error;
  int log;
  /* RUNT_FAULT_UNCOUNTED; NULL = none. */
  const char *uncounted;
} testing = {.log = -1};

static size_t length_of(const char *text) {
  size_t length = 0;
  while (text[length] != 0) length++;
  return length;
}

static bool is_same(const char *text, size_t length, const char *name) {
  if (length_of(name) != length) return false;
  for (size_t i = 0; i < length; i++)
    if (text[i] != name[i]) return false;
  return true;
}

static size_t until(const char *text, char end) {
  size_t length = 0;
  while (text[length] != 0 && text[length] != end) length++;
  return length;
}

static void append(char *line, size_t *used, const char *text) {
  for (; *text != 0 && *used < LINE_MAX_BYTES - 1; text++) line[(*used)++] = *text == '\n' ? ' ' : *text;
}

static _Noreturn void refuse(const char *value) {
  char line[LINE_MAX_BYTES];
  size_t used = 0;
  append(line, &used, "runt for tests: cannot understand ");
  append(line, &used, value);
  line[used++] = '\n';
  (void)!sys(__NR_write, 2, line, used);
  for (;;) sys(__NR_exit_group, 2);
}

static const char *variable(char *const *environment, const char *name) {
  for (; *environment != NULL; environment++) {
    size_t length = until(*environment, '=');
    if ((*environment)[length] == '=' && is_same(*environment, length, name)) return *environment + length + 1;
  }
  return NULL;
}

static bool to_number(const char *text, size_t length, uint64_t *out) {
  *out = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    *out = *out * 10 + (uint64_t)(text[i] - '0');
  }
  return length > 0 && length < 10;
}

/* The place of the next of the names in a list; the list goes on behind it. */
static size_t next_name(const char **list, const char *const *names, size_t count) {
  size_t length = until(*list, ','), i = 0;
  while (i < count && !is_same(*list, length, names[i])) i++;
  if (i == count) refuse(*list);
  *list += length;
  if (**list == ',') (*list)++;
  return i;
}

static void read_defences(const char *value) {
  testing.disabled_defences = value;
  while (*value != 0) testing.is_disabled[next_name(&value, DEFENCE_NAMES, DEFENCE_COUNT)] = true;
}

static void read_disabled(const char *value) {
  testing.disabled = value;
  while (*value != 0) next_name(&value, DISABLED_NAMES, sizeof DISABLED_NAMES / sizeof *DISABLED_NAMES);
}

static void read_fault(const char *value) {
  testing.at_process = value;
  testing.at_process_length = until(value, ':');
  const char *at = value + testing.at_process_length;
  size_t length = *at == ':' ? until(++at, ':') : 0;
  if (!to_number(at, length, &testing.at_point) || at[length] != ':') refuse(value);
  at += length + 1;
  length = length_of(at);
  uint64_t number;
  if (is_same(at, length, "kill")) testing.error = 0;
  else if (is_same(at, length, "stop")) testing.error = STOP;
  else if (is_same(at, length, "delay")) testing.error = DELAY;
  else if (to_number(at, length, &number) && number > 0 && number < 4096) testing.error = (int)number;
  else {
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
      if (is_same(at, length, ERRORS[i].name)) testing.error = ERRORS[i].number;
    if (testing.error == 0) refuse(value);
  }
}

/* Opened once: later this process has another root, or none of the rights it takes. */
static void open_log(const char *path) {
  long fd = sys(__NR_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) refuse(path);
  long high = sys(__NR_fcntl, fd, F_DUPFD_CLOEXEC, LOG_DESCRIPTOR_LEAST);
  testing.log = (int)(high < 0 ? fd : high);
  if (high >= 0) sys(__NR_close, fd);
}

void testing_become(const char *process) {
  testing.process = process;
  testing.passed = 0;
}

void testing_begin(char *const *environment, const char *process) {
  testing_become(process);
  const char *disabled_defences = variable(environment, "RUNT_DISABLE_DEFENCES");
  const char *disabled = variable(environment, "RUNT_DISABLE");
  const char *fault = variable(environment, "RUNT_FAULT");
  const char *log = variable(environment, "RUNT_FAULT_LOG");
  if (disabled_defences != NULL) read_defences(disabled_defences);
  if (disabled != NULL) read_disabled(disabled);
  if (fault != NULL) read_fault(fault);
  if (log != NULL) open_log(log);
  testing.uncounted = variable(environment, "RUNT_FAULT_UNCOUNTED");
}

static bool is_uncounted(const char *what) {
  for (const char *at = testing.uncounted; at != NULL && *at != 0;) {
    size_t length = until(at, ',');
    if (is_same(at, length, what)) return true;
    at += length + (at[length] == ',');
  }
  return false;
}

bool testing_defence_disabled(enum defence defence) { return testing.is_disabled[defence]; }

const char *testing_disabled_defences(void) { return testing.disabled_defences; }

const char *testing_disabled(void) { return testing.disabled; }

static void log_point(const char *when, const char *what, const char *which) {
  char line[LINE_MAX_BYTES], digits[20];
  size_t used = 0, count = sizeof digits - 1;
  digits[count] = 0;
  for (uint64_t left = testing.passed; left > 0; left /= 10) digits[--count] = (char)('0' + left % 10);
  const char *const words[] = {testing.process, digits + count, when, what, which};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (words[i] == NULL) continue;
    if (i > 0) append(line, &used, " ");
    append(line, &used, words[i]);
  }
  line[used++] = '\n';
  (void)!sys(__NR_write, testing.log, line, used);
}

/* The first process of a PID namespace cannot send itself a deadly signal, so that init just ends: as sudden, but for its wait status. */
static _Noreturn void die(void) {
  sys(__NR_kill, sys(__NR_getpid), SIGKILL);
  for (;;) sys(__NR_exit_group, KILLED);
}

long testing_point(const char *when, const char *what, const char *which) {
  if (testing.process == NULL || is_uncounted(what)) return 0;
  testing.passed++;
  if (testing.log >= 0) log_point(when, what, which);
  if (testing.at_process == NULL || testing.passed != testing.at_point ||
      !is_same(testing.at_process, testing.at_process_length, testing.process))
    return 0;
  if (testing.error == 0) die();
  if (testing.error == STOP) {
    sys(__NR_kill, sys(__NR_getpid), SIGSTOP);
    return 0;
  }
  if (testing.error == DELAY) {
    const struct timespec delay = {.tv_nsec = DELAY_NANOSECONDS};
    sys(__NR_nanosleep, &delay, NULL);
    return 0;
  }
  /* What has been done cannot fail any more: this run took another way to the same number. */
  return is_same(when, length_of(when), "after") ? 0 : -testing.error;
}
