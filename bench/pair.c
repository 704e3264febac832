/*
 * Time two commands against each other, round by round, so that both see the same machine.
 *
 * Input (stdin), one command a line:
 *     rounds N
 *     a.before CMD...   untimed, any number of lines
 *     a.run CMD...      timed; several of them: from the start of the first to the end of the last
 *     a.after CMD...    untimed, any number of lines
 *     b.before, b.run, b.after likewise
 * Output: one line a round: nanoseconds and peak RSS (KiB) of a, then of b. A failing command ends the run.
 */
#include "spawn.h"

enum { MAX_LINES = 256 };

static struct command {
  char side;
  char phase; /* b(efore), r(un), a(fter) */
  char text[LINE];
} commands[MAX_LINES];
static int count;

static struct sample side(char name, int round) {
  struct sample timed = {0, 0, 0};
  for (const char *phase = "bra"; *phase != 0; phase++)
    for (int i = 0; i < count; i++) {
      if (commands[i].side != name || commands[i].phase != *phase) continue;
      struct sample sample = run_command(commands[i].text, round);
      if (*phase != 'r') continue;
      if (timed.began == 0) timed.began = sample.began;
      timed.ended = sample.ended;
      if (sample.rss > timed.rss) timed.rss = sample.rss;
    }
  return timed;
}

int main(void) {
  char line[LINE];
  int rounds = 10;
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (sscanf(line, "rounds %d", &rounds) == 1 || line[0] == '\n') continue;
    const char *text = strchr(line, ' ');
    if (count == MAX_LINES || (line[0] != 'a' && line[0] != 'b') || line[1] != '.' || text == NULL) {
      fprintf(stderr, "pair: bad line: %s", line);
      return 2;
    }
    commands[count].side = line[0];
    commands[count].phase = line[2];
    snprintf(commands[count].text, LINE, "%s", text + 1);
    count++;
  }
  for (int round = 0; round < rounds; round++) {
    /* The first of a round may pay for a cold cache, so they take turns. */
    struct sample a, b;
    if (round % 2 == 0) {
      a = side('a', round);
      b = side('b', round);
    } else {
      b = side('b', round);
      a = side('a', round);
    }
    printf("%lld %ld %lld %ld\n", (long long)(a.ended - a.began), a.rss, (long long)(b.ended - b.began), b.rss);
    fflush(stdout);
  }
  return 0;
}
