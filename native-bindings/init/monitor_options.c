#include "monitor_options.h"

#include "../shared/str.h"
#include "../shared/sys.h"

static bool take_number(const char *text, int *out) { return text_to_int(text, out); }

static bool take_descriptor(const char *text, int *out) {
  if (!take_number(text, out)) return false;
  sys(__NR_fcntl, *out, F_SETFD, FD_CLOEXEC);
  return true;
}

static bool take_count(const char *text, uint64_t *out) { return text_to_u64(text, out); }

static bool take_text(const char *text, const char **out) {
  *out = text;
  return true;
}

#define NONE_number -1
#define NONE_descriptor -1
#define NONE_count 0
#define NONE_text NULL

bool monitor_options_take(struct monitor_options *options, char **arguments, int count, int *at) {
#define X(member, option, kind) .member = NONE_##kind,
  *options = (struct monitor_options){MONITOR_OPTIONS(X)};
#undef X
  for (; *at + 1 < count; *at += 2) {
    const char *name = arguments[*at], *value = arguments[*at + 1];
#define X(member, option, kind) \
  if (text_equal(name, option)) { \
    if (!take_##kind(value, &options->member)) return false; \
    continue; \
  }
    MONITOR_OPTIONS(X)
#undef X
    break;
  }
  return options->init >= 0;
}
