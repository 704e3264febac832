/*
 * File systems that are made, and not yet mounted, while the plan is not there yet: those that nearly every configuration mounts, with the options that
 * it gives them. An init that waits for its plan makes them, or a helper that is in the namespaces of the init to come. The plan decides:
 * a file system with other options is made anew, and unused ones are closed before the root is entered (prepared_close).
 */
#include "prepare.h"

#include "run.h"
#include "../shared/sys.h"

struct prepared {
  /* CLONE_NEW*: shows a namespace that init must have anew. */
  uint64_t shows;
  struct standard standard;
};

static const struct prepared STANDARD[PREPARED_COUNT] = {
#define X(bit, shows, fstype, source, super_flags, attributes, ...) \
  [bit] = {shows, {fstype, source, {__VA_ARGS__}, super_flags, attributes}},
    PREPARED_FILE_SYSTEMS(X)
#undef X
};

/* A context whose file system is made, and not mounted yet. */
static int open_context(const struct standard *standard) {
  int context = (int)sys(__NR_fsopen, standard->fstype, FSOPEN_CLOEXEC);
  if (context < 0) return context;
  long error = standard->source == NULL ? 0 : sys(__NR_fsconfig, context, FSCONFIG_SET_STRING, "source", standard->source, 0);
  if (error >= 0 && (standard->super_flags & MS_RDONLY) != 0) error = sys(__NR_fsconfig, context, FSCONFIG_SET_FLAG, "ro", NULL, 0);
  for (unsigned i = 0; i < PREPARED_OPTIONS_MAX && standard->options[i].key != NULL && error >= 0; i++) {
    const struct option *option = &standard->options[i];
    error = sys(__NR_fsconfig, context, option->value == NULL ? FSCONFIG_SET_FLAG : FSCONFIG_SET_STRING, option->key, option->value, 0);
  }
  if (error >= 0) error = sys(__NR_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
  if (error >= 0) return context;
  sys_close(context);
  return (int)error;
}

static int mount_context(int context, const struct standard *standard) {
  int mount = (int)sys(__NR_fsmount, context, FSMOUNT_CLOEXEC, standard->attributes);
  sys_close(context);
  return mount;
}

int standard_make(const struct standard *standard) {
  int context = open_context(standard);
  return context < 0 ? context : mount_context(context, standard);
}

void prepare_filesystems(struct run *run, uint32_t wanted) {
  // unshare(2) moves only children into a new pid namespace, and a procfs shows the pid namespace of the process that makes it.
  const uint64_t inside = run->init.cloned_early | (run->intermediate.made_early & ~(uint64_t)CLONE_NEWPID);
  for (unsigned i = 0; i < PREPARED_COUNT; i++) {
    if ((wanted >> i & 1) == 0 || (STANDARD[i].shows & ~inside) != 0) continue;
    // A failure is not reported here: the operation that needs the file system tries again, and reports.
    int context = open_context(&STANDARD[i].standard);
    run->init.prepared[i] = context < 0 ? 0 : context + 1;
  }
}

static bool has_options(const struct list *data, const struct option options[PREPARED_OPTIONS_MAX]) {
  const uint8_t *at = data->at;
  unsigned i = 0;
  for (; i < data->count && i < PREPARED_OPTIONS_MAX && options[i].key != NULL; i++) {
    const char *text = list_text(&at).at, *value = options[i].value;
    const size_t length = strlen(options[i].key);
    if (!text_starts_with(text, options[i].key)) return false;
    if (value == NULL ? text[length] != 0 : text[length] != '=' || !text_equal(text + length + 1, value)) return false;
  }
  return i == data->count && (i == PREPARED_OPTIONS_MAX || options[i].key == NULL);
}

int prepared_take(struct run *run, const struct instance *wanted) {
  for (unsigned i = 0; i < PREPARED_COUNT; i++) {
    const struct standard *standard = &STANDARD[i].standard;
    if (run->init.prepared[i] == 0) continue;
    if (!text_equal(wanted->fstype, standard->fstype) || !text_equal(wanted->source, standard->source)) continue;
    if (wanted->super_flags != standard->super_flags || wanted->attributes != standard->attributes) continue;
    if (!has_options(wanted->data, standard->options)) continue;
    int context = run->init.prepared[i] - 1;
    run->init.prepared[i] = 0;
    // Only now: the kernel lists mounts in the order of their making, which is to be that of the configuration.
    int mount = mount_context(context, standard);
    return mount < 0 ? -1 : mount;
  }
  return -1;
}

void prepared_close(struct run *run) {
  for (unsigned i = 0; i < PREPARED_COUNT; i++) {
    if (run->init.prepared[i] != 0) sys_close(run->init.prepared[i] - 1);
    run->init.prepared[i] = 0;
  }
}
