/* Entry of the fake kernel: checks the arguments by the table of calls, asks the rules, and answers. */
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this an operation is in a loop that no answer ends: root.move, with a table of 16 MB of the shortest lines, needs half. Marking 65,536
 * descriptors one by one does not count. */
#define CALLS_MOST 4000000

struct kernel kernel;

static const struct {
  long number;
  const char *arguments;
} SHAPES[] = {
#define X(name, arguments) {__NR_##name, arguments},
    CALLS(X)
#undef X
};

static uint8_t call_of[512];

void finding(const char *what, long number) {
  fprintf(stderr, "finding: %s (%ld), in operation %u\n", what, number, kernel.operation);
  abort();
}

static void number_calls(void) {
  memset(call_of, CALL_ANY, sizeof call_of);
  for (unsigned i = 0; i < CALL_COUNT; i++) call_of[SHAPES[i].number] = (uint8_t)i;
}

static void check_memory(char letter, const long *at) {
  const bool may_be_null = letter == 'S' || letter == 'R' || letter == 'W';
  void *pointer = (void *)at[0];
  if (pointer == NULL && may_be_null) return;
  if (letter == 's' || letter == 'S') check_string(pointer);
  else if (letter == 'r' || letter == 'R') check_readable(pointer, (size_t)at[1]);
  else if (letter == 'w' || letter == 'W') check_writable(pointer, (size_t)at[1]);
}

/* -EBADF or 0. */
static long check_arguments(const char *shape, const long *arguments) {
  for (unsigned i = 0; shape[i] != 0; i++) {
    bool directory = shape[i] == 'd';
    if (shape[i] == 'f' || (directory && (int)arguments[i] != AT_FDCWD)) {
      if (descriptor_get((int)arguments[i]) == NULL) return -EBADF;
    } else if (!directory) {
      check_memory(shape[i], arguments + i);
    }
  }
  return 0;
}

bool answers(const struct answer *answer, enum action action) { return answer->rule != NULL && answer->action == action; }

static uint32_t value_of(const struct rule *rule) {
  uint8_t bytes[4] = {0};
  memcpy(bytes, rule->data, rule->length < 4 ? rule->length : 4);
  return case_load32(bytes);
}

/* A call that is interrupted for ever, or a poll, a wait or a read that never works, is no kernel. */
static bool can_last(enum call call, int error) {
  return error != EINTR && error != EAGAIN && call != CALL_ppoll && call != CALL_wait4 && call != CALL_read;
}

static struct answer find_answer(enum call call) {
  struct fuzz_case *input = kernel.input;
  for (unsigned i = 0; i < input->rule_count; i++) {
    const struct rule *rule = &input->rules[i];
    if (kernel.spent[i] || (rule->call != call && rule->call != CALL_ANY)) continue;
    if (kernel.skipped[i] < rule->skip) {
      kernel.skipped[i]++;
      continue;
    }
    int32_t value = (int32_t)value_of(rule);
    bool fails = rule->action == ACTION_ERRNO || rule->action == ACTION_ALWAYS;
    if (fails) value = 1 + (int32_t)((uint32_t)value & 0xffff) % 133;
    kernel.spent[i] = rule->action != ACTION_ALWAYS || !can_last(call, value);
    return (struct answer){rule, rule->action, value};
  }
  return (struct answer){NULL, ACTION_COUNT, 0};
}

long raw_syscall(long number, long a, long b, long c, long d, long e, long f);

long raw_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const long arguments[] = {a, b, c, d, e, f};
  if (call_of[__NR_read] != CALL_read) number_calls();
  if (number < 0 || number >= (long)sizeof call_of || call_of[number] == CALL_ANY) finding("a system call that is not in calls.h", number);
  enum call call = call_of[number];
  if (!(call == CALL_fcntl && b == F_SETFD) && ++kernel.calls > CALLS_MOST) finding("no end", number);
  if (call == CALL_exit_group) kernel_leave();
  if (kernel.is_replaced) finding("a system call after execve", number);
  long bad = check_arguments(SHAPES[call].arguments, arguments);
  if (bad < 0) return bad;
  struct answer answer = find_answer(call);
  bool fails = answers(&answer, ACTION_ERRNO) || answers(&answer, ACTION_ALWAYS);
  // close(2) gives the number back whatever it says.
  if (call == CALL_close) {
    bad = descriptor_close(a);
    return bad < 0 ? bad : fails ? -answer.value : 0;
  }
  // F_SETFD of an open descriptor cannot fail.
  if (fails && !(call == CALL_fcntl && b == F_SETFD)) return -answer.value;
  long result = answer_files(call, arguments, &answer);
  if (result == NOT_MINE) result = answer_messages(call, arguments, &answer);
  if (result == NOT_MINE) result = answer_process(call, arguments, &answer);
  return result == NOT_MINE ? 0 : result;
}

void kernel_begin(struct fuzz_case *input) {
  int used = kernel.used;
  memset(kernel.descriptors, 0, (size_t)used * sizeof *kernel.descriptors);
  kernel.used = 0;
  kernel.input = input;
  memset(kernel.skipped, 0, sizeof kernel.skipped);
  memset(kernel.spent, 0, sizeof kernel.spent);
  kernel.mapped = 0;
  kernel.next_object = 16;
  kernel.root_object = 1;
  kernel.here_object = 2;
  kernel.bound_object = 0;
  kernel.calls = 0;
  kernel.clock = 1000000000;
  kernel.file_limit = 1024;
  kernel.children = 1;
  kernel.operation = kernel.wanted_message = kernel.wanted_namespace = 0;
  kernel.is_replaced = false;
  for (int fd = 0; fd < 3; fd++) {
    descriptor_at(fd, KIND_TERMINAL, object_new(), false);
    kernel.descriptors[fd].is_open = kernel.descriptors[fd].is_given = (input->closed >> fd & 1) == 0;
  }
}

void kernel_end(void) {
  if (kernel.plan != NULL && memcmp(kernel.plan, kernel.input->body, kernel.input->body_size) != 0) finding("the plan was written to", 0);
  kernel.plan = NULL;
  unmap_all();
}
