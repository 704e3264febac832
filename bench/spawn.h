/* One command of a benchmark: started, waited for, timed. Words are split at blanks, `@` in a word is replaced by a number. */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WORDS = 64, WORD = 512, LINE = 8192 };

extern char **environ;

struct sample {
  int64_t began; /* CLOCK_MONOTONIC, nanoseconds */
  int64_t ended;
  long rss; /* peak, KiB */
};

static inline int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* A failing command ends the benchmark: its time would mean nothing. */
static inline struct sample run_command(const char *text, int number) {
  static char words[MAX_WORDS][WORD];
  char *argv[MAX_WORDS + 1], copy[LINE], *save = NULL;
  int argc = 0;
  snprintf(copy, sizeof copy, "%s", text);
  for (char *word = strtok_r(copy, " \n", &save); word != NULL && argc < MAX_WORDS; word = strtok_r(NULL, " \n", &save)) {
    char *at = strchr(word, '@');
    if (at != NULL) snprintf(words[argc], WORD, "%.*s%d%s", (int)(at - word), word, number, at + 1);
    else snprintf(words[argc], WORD, "%s", word);
    argv[argc] = words[argc];
    argc++;
  }
  argv[argc] = NULL;

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  struct sample sample;
  struct rusage usage;
  pid_t pid;
  int status;
  sample.began = now();
  int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", argv[0], strerror(error));
    exit(1);
  }
  while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  sample.ended = now();
  sample.rss = usage.ru_maxrss;
  posix_spawn_file_actions_destroy(&actions);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "number %d: %s: status %d\n", number, text, status);
    exit(1);
  }
  return sample;
}
