/*
 * Time two commands against each other, round by round, so that both see the same machine.
 *
 * Input (stdin), one command a line, words split at blanks, `@` in a word replaced by the round number:
 *     rounds N
 *     a.before CMD...   untimed, any number of lines
 *     a.run CMD...      timed
 *     a.after CMD...    untimed, any number of lines
 *     b.before, b.run, b.after likewise
 * Output: one line a round: nanoseconds and peak RSS (KiB) of a, then of b. A failing command ends the run with its status.
 */
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

enum { MAX_LINES = 64, MAX_WORDS = 64, LINE = 4096 };

struct command {
	char side;
	char phase; /* b(efore), r(un), a(fter) */
	char text[LINE];
};

static struct command commands[MAX_LINES];
static int count;
extern char **environ;

struct sample {
	int64_t ns;
	long rss;
};

static struct sample execute(const struct command *command, int round)
{
	static char words[MAX_WORDS][512];
	char *argv[MAX_WORDS + 1];
	char copy[LINE];
	int argc = 0;
	char *save = NULL;

	memcpy(copy, command->text, sizeof(copy));
	for (char *word = strtok_r(copy, " \n", &save); word && argc < MAX_WORDS; word = strtok_r(NULL, " \n", &save)) {
		char *at = strchr(word, '@');
		if (at)
			snprintf(words[argc], sizeof(words[0]), "%.*s%d%s", (int)(at - word), word, round, at + 1);
		else
			snprintf(words[argc], sizeof(words[0]), "%s", word);
		argv[argc] = words[argc];
		argc++;
	}
	argv[argc] = NULL;

	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);

	struct timespec start, end;
	struct rusage usage;
	pid_t pid;
	int status;
	clock_gettime(CLOCK_MONOTONIC, &start);
	int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (error) {
		fprintf(stderr, "pair: %s: %s\n", argv[0], strerror(error));
		exit(1);
	}
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	clock_gettime(CLOCK_MONOTONIC, &end);
	posix_spawn_file_actions_destroy(&actions);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "pair: round %d: %s: status %d\n", round, command->text, status);
		exit(1);
	}
	struct sample sample = {(end.tv_sec - start.tv_sec) * 1000000000LL + (end.tv_nsec - start.tv_nsec), usage.ru_maxrss};
	return sample;
}

static struct sample side(char name, int round)
{
	struct sample timed = {0, 0};
	static const char phases[] = "bra";
	for (const char *phase = phases; *phase; phase++)
		for (int i = 0; i < count; i++)
			if (commands[i].side == name && commands[i].phase == *phase) {
				struct sample sample = execute(&commands[i], round);
				if (*phase == 'r')
					timed = sample;
			}
	return timed;
}

int main(void)
{
	char line[LINE];
	int rounds = 10;
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "rounds %d", &rounds) == 1 || line[0] == '\n')
			continue;
		if (count == MAX_LINES || line[1] != '.' || !strchr(line, ' ')) {
			fprintf(stderr, "pair: bad line: %s", line);
			return 2;
		}
		commands[count].side = line[0];
		commands[count].phase = line[2];
		snprintf(commands[count].text, LINE, "%s", strchr(line, ' ') + 1);
		count++;
	}
	for (int round = 0; round < rounds; round++) {
		/* Whoever goes first may pay for a cold cache: take turns. */
		struct sample a, b;
		if (round % 2 == 0) {
			a = side('a', round);
			b = side('b', round);
		} else {
			b = side('b', round);
			a = side('a', round);
		}
		printf("%lld %ld %lld %ld\n", (long long)a.ns, a.rss, (long long)b.ns, b.rss);
		fflush(stdout);
	}
	return 0;
}
