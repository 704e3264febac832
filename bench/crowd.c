/*
 * Run many commands at once: each worker takes the next number and runs the commands with it, until there is none left.
 * Usage: crowd WORKERS FIRST COUNT, with one command a line on stdin.
 * Output: one line a number, in order: number and nanoseconds of each command; then "total N", in nanoseconds.
 */
#include "spawn.h"
#include <sys/mman.h>

enum { MAX_LINES = 4, MAX_COUNT = 100000 };

static char lines[MAX_LINES][LINE];
static int count;

struct shared {
  int next;
  int64_t ns[MAX_COUNT][MAX_LINES];
};

static void work(struct shared *shared, int first, int many) {
  for (;;) {
    int index = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
    if (index >= many) _exit(0);
    for (int i = 0; i < count; i++) {
      struct sample sample = run_command(lines[i], first + index);
      shared->ns[index][i] = sample.ended - sample.began;
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int workers = atoi(argv[1]), first = atoi(argv[2]), many = atoi(argv[3]), failed = 0;
  while (count < MAX_LINES && fgets(lines[count], LINE, stdin) != NULL)
    if (lines[count][0] != '\n') count++;
  struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || many > MAX_COUNT) return 2;
  int64_t began = now();
  for (int i = 0; i < workers; i++)
    if (fork() == 0) work(shared, first, many);
  int status;
  while (wait(&status) > 0) failed |= status;
  int64_t ended = now();
  if (failed != 0) return 1;
  for (int index = 0; index < many; index++) {
    printf("%d", first + index);
    for (int i = 0; i < count; i++) printf(" %lld", (long long)shared->ns[index][i]);
    printf("\n");
  }
  printf("total %lld\n", (long long)(ended - began));
  return 0;
}
