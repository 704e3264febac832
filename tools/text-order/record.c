/*
 * Print the functions of a program in the order of their first call, one a line: record FUNCTIONS OUTPUT PROGRAM [ARGUMENT...]
 * FUNCTIONS has an address and a name a line. Each function begins with a breakpoint until it is called. Processes that the program makes are
 * followed until they become another program. x86_64 only.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 16384
#define NAME_MOST 128
#define BREAKPOINT 0xcc
#define OPTIONS (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

static struct function {
  unsigned long at;
  unsigned char first_byte, is_called;
  char name[NAME_MOST];
} functions[MOST];
static int count;

static void read_functions(const char *path) {
  FILE *file = fopen(path, "r");
  while (file && count < MOST && fscanf(file, "%lx %127s", &functions[count].at, functions[count].name) == 2) count++;
  if (count == 0) exit(2);
  fclose(file);
}

/* What stood there. */
static unsigned char exchange(int memory, unsigned long at, unsigned char byte) {
  unsigned char before = 0;
  if (pread(memory, &before, 1, (off_t)at) != 1 || pwrite(memory, &byte, 1, (off_t)at) != 1) exit(3);
  return before;
}

static int open_memory(pid_t pid) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  return open(path, O_RDWR | O_CLOEXEC);
}

static void plant(pid_t pid) {
  int memory = open_memory(pid);
  for (int i = 0; i < count; i++) functions[i].first_byte = exchange(memory, functions[i].at, BREAKPOINT);
  close(memory);
}

/* A process that was copied from another has breakpoints of its own. */
static void call(pid_t pid, FILE *output) {
  unsigned long at = (unsigned long)ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, rip), 0) - 1;
  int memory = open_memory(pid);
  for (int i = 0; i < count; i++) {
    if (functions[i].at != at) continue;
    exchange(memory, at, functions[i].first_byte);
    if (!functions[i].is_called) fprintf(output, "%s\n", functions[i].name);
    functions[i].is_called = 1;
  }
  close(memory);
  ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rip), at);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  read_functions(argv[1]);
  FILE *output = fopen(argv[2], "w");
  if (!output) return 2;
  const pid_t program = fork();
  if (program == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execv(argv[3], argv + 3);
    _exit(127);
  }
  int status, result = 1, is_planted = 0;
  if (waitpid(program, &status, 0) != program) return 1;
  ptrace(PTRACE_SETOPTIONS, program, 0, OPTIONS);
  ptrace(PTRACE_CONT, program, 0, 0);
  for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      if (pid == program) result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      continue;
    }
    int signal = WSTOPSIG(status);
    if (status >> 16 == PTRACE_EVENT_EXEC) {
      if (is_planted) {
        ptrace(PTRACE_DETACH, pid, 0, 0);
        continue;
      }
      is_planted = 1;
      plant(pid);
    } else if (status >> 16 == 0 && signal == SIGTRAP) {
      call(pid, output);
    }
    // How a new process begins to be traced; the program itself sends no such signal.
    ptrace(PTRACE_CONT, pid, 0, signal == SIGTRAP || signal == SIGSTOP ? 0 : signal);
  }
  fclose(output);
  return result;
}
