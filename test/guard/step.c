/*
 * Instructions of the helper, counted one by one: step COMMAND...
 * The command itself runs freely; a process that replaces itself by the helper is single-stepped, and with it what it clones, until it ends,
 * becomes another program, or does nothing any more. Prints "intermediate N" and "init N" on stderr.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 16
#define IDLE_LOOKS 50
#define IDLE_MICROSECONDS 10000
#define OPTIONS \
  (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

struct tracee {
  pid_t pid;
  /* Steps so far; -1 = not counted. */
  long steps;
  const char *name;
  /* Stopped before its parent's event told whose it is. */
  bool is_held, is_known;
};

static struct tracee tracees[MOST];
static int count;

static struct tracee *find(pid_t pid) {
  for (int i = 0; i < count; i++)
    if (tracees[i].pid == pid) return &tracees[i];
  if (count == MOST) exit(2);
  tracees[count] = (struct tracee){.pid = pid, .steps = -1, .name = "intermediate"};
  return &tracees[count++];
}

static bool is_helper(pid_t pid) {
  char path[64], name[32] = {0};
  snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  size_t size = fread(name, 1, sizeof name - 1, file);
  fclose(file);
  return size > 0 && strncmp(name, "runt-init", 9) == 0;
}

static void resume(struct tracee *tracee, int signal) {
  ptrace(tracee->steps < 0 ? PTRACE_CONT : PTRACE_SINGLESTEP, tracee->pid, 0, signal);
}

/* Handles the stop of a tracee. */
static void take(struct tracee *tracee, int status) {
  if (!tracee->is_known) {
    tracee->is_held = true;
    return;
  }
  int event = status >> 16, signal = WSTOPSIG(status);
  if (event == PTRACE_EVENT_EXEC) {
    if (tracee->steps < 0 && is_helper(tracee->pid)) tracee->steps = 0;
    else if (tracee->steps >= 0) {
      ptrace(PTRACE_DETACH, tracee->pid, 0, 0);
      return;
    }
  } else if (event != 0) {
    unsigned long child = 0;
    ptrace(PTRACE_GETEVENTMSG, tracee->pid, 0, &child);
    struct tracee *new = find((pid_t)child);
    new->is_known = true;
    if (tracee->steps >= 0) new->steps = 0, new->name = "init";
    if (new->is_held) resume(new, 0);
  } else if (signal == SIGTRAP) {
    if (tracee->steps >= 0) tracee->steps++;
  } else if (signal != SIGSTOP) {
    return resume(tracee, signal);
  }
  resume(tracee, 0);
}

/* Tell its count, and let it go on in what it waits for. */
static void release(const struct tracee *tracee) {
  int status;
  fprintf(stderr, "%s %ld\n", tracee->name, tracee->steps);
  if (kill(tracee->pid, SIGSTOP) < 0) return;
  if (waitpid(tracee->pid, &status, __WALL) == tracee->pid && WIFSTOPPED(status)) ptrace(PTRACE_DETACH, tracee->pid, 0, 0);
  kill(tracee->pid, SIGCONT);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const pid_t command = fork();
  if (command == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  int status, result = 1;
  bool ended = false;
  if (waitpid(command, &status, 0) != command) return 1;
  ptrace(PTRACE_SETOPTIONS, command, 0, OPTIONS);
  find(command)->is_known = true;
  ptrace(PTRACE_CONT, command, 0, 0);
  // init may wait for start long after the command has ended: then it is counted until nothing happens any more.
  for (int left = IDLE_LOOKS; left > 0;) {
    pid_t pid = waitpid(-1, &status, __WALL | (ended ? WNOHANG : 0));
    if (pid < 0 && errno != EINTR) break;
    if (pid <= 0) {
      usleep(IDLE_MICROSECONDS);
      left--;
      continue;
    }
    left = IDLE_LOOKS;
    if (WIFSTOPPED(status)) take(find(pid), status);
    else if (pid == command) {
      ended = true;
      result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
  }
  for (int i = 0; i < count; i++)
    if (tracees[i].steps > 0) release(&tracees[i]);
  return result;
}
