#include "process_stat.h"

/* include/linux/sched.h */
#define PF_EXITING 0x4
/* A letter that no state has. */
#define EXITING 'x'
enum { FIELD_STATE = 3, FIELD_FLAGS = 9, FIELD_START_TIME = 22 };

/* The name in field 2 may hold anything, even ") R". */
bool process_stat_parse(char *line, struct process_stat *out) {
  char *at = NULL;
  for (char *next = line; *next != 0; next++)
    if (*next == ')') at = next;
  if (at == NULL || at[1] != ' ' || at[2] == 0) return false;
  at += 2;
  out->state = *at;
  unsigned long flags = 0;
  for (int field = FIELD_STATE; field < FIELD_START_TIME; field++) {
    while (*at != 0 && *at != ' ') at++;
    if (*at++ == 0) return false;
    if (field + 1 != FIELD_FLAGS) continue;
    for (; *at >= '0' && *at <= '9'; at++) flags = flags * 10 + (unsigned long)(*at - '0');
  }
  out->waits_as = flags & PF_EXITING ? EXITING : out->state;
  out->start_time = at;
  while (*at >= '0' && *at <= '9') at++;
  out->start_time_length = (size_t)(at - out->start_time);
  *at = 0;
  return out->start_time_length > 0;
}

bool process_is_dead(const struct process_stat *stat) { return stat->state == 'Z' || stat->state == 'X'; }
