/* The entry that libFuzzer (and replay.c) calls: one case, from a fresh helper to its end. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

int helper_main(int count, char **arguments, char **environment);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ARGUMENTS_MAX 64

/* The helper's own variables, which all begin as zero (fuzz.mk gives them a section of their own). */
extern uint64_t __start_helper_state[], __stop_helper_state[];

static jmp_buf end_of_helper;

_Noreturn void kernel_leave(void) { longjmp(end_of_helper, 1); }

/* Not seen by the sanitizer, which has poisoned places between the variables. The last word, if it is not whole, is padding. */
__attribute__((no_sanitize("address"))) static void forget(void) {
  for (volatile uint64_t *at = __start_helper_state; at < __stop_helper_state; at++) *at = 0;
}

/* socket, plan, progress page and the memory for times of `runt-init plan 3 4 5 [6]`; a monitor's and a notifier's descriptors. */
static void give_descriptors(enum mode mode, bool is_traced) {
  static const enum kind of_plan[] = {KIND_SOCKET, KIND_PLAN, KIND_PROGRESS, KIND_TIMES};
  for (int i = 0; i < (mode == MODE_PLAN ? 3 + is_traced : 7); i++)
    descriptor_at(3 + i, mode == MODE_PLAN ? of_plan[i] : i == 2 ? KIND_TERMINAL : KIND_SOCKET, object_new(), false);
}

/* The body's strings, each in memory of its own. */
static int take_arguments(const struct fuzz_case *input, char **out) {
  int count = 0;
  size_t at = 0;
  while (at < input->body_size && count < ARGUMENTS_MAX) {
    size_t length = strnlen((const char *)input->body + at, input->body_size - at);
    out[count] = malloc(length + 1);
    memcpy(out[count], input->body + at, length);
    out[count++][length] = 0;
    at += length + 1;
  }
  return count;
}

static void start_helper(const struct fuzz_case *input) {
  static char name[] = "runt-init", plan[] = "plan", three[] = "3", four[] = "4", five[] = "5", six[] = "6", monitor[] = "monitor", notify[] = "notify";
  static char variable[] = "PATH=/bin", *environment[] = {variable, NULL};
  char *arguments[ARGUMENTS_MAX + 3] = {name};
  // Written between setjmp and longjmp.
  volatile int own = 0, first = 1;
  if (input->mode == MODE_MONITOR) arguments[first++] = monitor;
  if (input->mode == MODE_NOTIFY) arguments[first++] = notify;
  if (input->mode == MODE_PLAN) {
    char *const fixed[] = {plan, three, four, five, six};
    memcpy(arguments + first, fixed, sizeof fixed);
    first += 4 + input->is_traced;
  } else {
    own = take_arguments(input, arguments + first);
  }
  if (setjmp(end_of_helper) == 0) helper_main(first + own, arguments, environment);
  for (int i = 0; i < own; i++) free(arguments[first + i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct fuzz_case input;
  if (!case_read(data, size, &input)) return 0;
  forget();
  kernel_begin(&input);
  give_descriptors(input.mode, input.is_traced);
  start_helper(&input);
  kernel_end();
  return 0;
}
