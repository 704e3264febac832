// How many instructions a command takes in user space, with all processes it starts, until it ends itself: by single
// steps. Slower than valgrind, which can neither follow a program started from a memfd nor into new namespaces, and needs no counters of
// the processor. A repeated string instruction counts once.
// Usage: steps RESULT COMMAND...; RESULT gets `instructions processes status`, then those of each process in a line, in the order of their appearance.
// What lives on is let go.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PROCESSES = 4096 };

static struct process {
  pid_t pid; /* 0: it has ended */
  unsigned long at, instructions;
} processes[MAX_PROCESSES];
static int known;

static void die(const char *what) {
  perror(what);
  exit(99);
}

static struct process *find(pid_t pid) {
  for (int i = 0; i < known; i++)
    if (processes[i].pid == pid) return &processes[i];
  if (known == MAX_PROCESSES) die("too many processes");
  processes[known].pid = pid;
  return &processes[known++];
}

static void go_on(pid_t pid, int signal) {
  // It may have been killed meanwhile.
  if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (long)signal) < 0 && errno != ESRCH) die("PTRACE_SINGLESTEP");
}

// After every step: a repeated string instruction stays where it is.
static void count(struct process *process) {
  unsigned long at = (unsigned long)ptrace(PTRACE_PEEKUSER, process->pid, offsetof(struct user_regs_struct, rip), NULL);
  if (at == process->at) return;
  process->at = at;
  process->instructions++;
}

static void let_go(void) {
  for (int i = 0; i < known; i++) {
    pid_t pid = processes[i].pid;
    int status;
    if (pid == 0 || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0) continue;
    if (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) ptrace(PTRACE_DETACH, pid, NULL, NULL);
  }
}

static int follow(pid_t first) {
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0) die("waitpid");
    struct process *process = find(pid);
    if (!WIFSTOPPED(status)) {
      process->pid = 0;
      if (pid == first) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      continue;
    }
    int signal = WSTOPSIG(status), event = status >> 16;
    if (event == 0 && signal == SIGTRAP) count(process);
    go_on(pid, event == 0 && signal != SIGTRAP ? signal : 0);
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int gate[2];
  char byte = 0;
  if (pipe(gate) < 0) die("pipe");
  pid_t first = fork();
  if (first == 0) {
    if (read(gate[0], &byte, 1) != 1) _exit(99);
    close(gate[0]);
    close(gate[1]);
    execvp(argv[2], argv + 2);
    die(argv[2]);
  }
  long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
  if (ptrace(PTRACE_SEIZE, first, NULL, options) < 0) die("PTRACE_SEIZE");
  if (ptrace(PTRACE_INTERRUPT, first, NULL, NULL) < 0) die("PTRACE_INTERRUPT");
  if (write(gate[1], &byte, 1) != 1) die("pipe");
  close(gate[0]);
  close(gate[1]);
  int status = follow(first);
  let_go();
  FILE *result = fopen(argv[1], "w");
  if (result == NULL) die(argv[1]);
  unsigned long all = 0;
  for (int i = 0; i < known; i++) all += processes[i].instructions;
  fprintf(result, "%lu %d %d\n", all, known, status);
  for (int i = 0; i < known; i++) fprintf(result, "%lu\n", processes[i].instructions);
  return fclose(result) == 0 ? 0 : 1;
}
