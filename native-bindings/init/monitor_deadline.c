#include "monitor_deadline.h"

#include "run.h"
#include "../shared/sys.h"

#define MILLISECOND 1000000ull
/* Thirty years: no overflow, also in nanoseconds. */
#define MOST_DIGITS 12

static void take_character(struct deadline *deadline, char character) {
  if (character == '\n') {
    if (!deadline->is_bad && deadline->digits > 0) deadline->at = deadline->number == 0 ? 0 : trace_now() + deadline->number * MILLISECOND;
    deadline->number = 0;
    deadline->digits = 0;
    deadline->is_bad = false;
  } else if (character >= '0' && character <= '9' && deadline->digits < MOST_DIGITS) {
    deadline->number = deadline->number * 10 + (uint64_t)(character - '0');
    deadline->digits++;
  } else {
    deadline->is_bad = true;
  }
}

void deadline_take(struct deadline *deadline) {
  char bytes[256];
  long count = sys_read(deadline->fd, bytes, sizeof bytes);
  for (long i = 0; i < count; i++) take_character(deadline, bytes[i]);
}

uint64_t deadline_left(const struct deadline *deadline) {
  if (deadline->at == 0) return UINT64_MAX;
  uint64_t now = trace_now();
  return now < deadline->at ? deadline->at - now : 0;
}
