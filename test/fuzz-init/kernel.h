/* The fake kernel: answers every system call of the helper out of a case, and does nothing. */
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H
#include "../../native-bindings/shared/kernel.h"
#include "calls.h"
#include "case.h"

enum kind {
  KIND_DIRECTORY,
  KIND_FILE,
  KIND_LINK,
  KIND_PROC,
  KIND_PROC_FILE,
  KIND_NAMESPACE,
  KIND_NULL,
  KIND_PTMX,
  KIND_TERMINAL,
  KIND_PIPE,
  KIND_SOCKET,
  KIND_FILTER,
  KIND_PASSWD,
  KIND_MOUNTINFO,
  KIND_STAT,
  KIND_SIGNALS,
  KIND_PLAN,
  KIND_PROGRESS,
  KIND_TIMES,
  KIND_OTHER,
};

#define DESCRIPTORS_MAX 1024

struct descriptor {
  bool is_open, close_on_exec;
  /* Of namespace.join, which opens ahead of its own execution. */
  bool is_exempt;
  /* Stdio as the helper found it. */
  bool is_given;
  uint8_t kind;
  /* A number of the file behind it, as an inode is, and of the mount. */
  uint32_t object, mount;
  /* What has been read of its usual text. */
  uint32_t offset;
};

#define MAPPINGS_MAX 128

struct mapping {
  uint8_t *at;
  size_t size;
};

struct kernel {
  struct fuzz_case *input;
  unsigned skipped[RULES_MAX];
  bool spent[RULES_MAX];
  struct descriptor descriptors[DESCRIPTORS_MAX];
  /* One past the highest that was ever open. */
  int used;
  struct mapping mappings[MAPPINGS_MAX];
  unsigned mapping_count;
  size_t mapped;
  /* Where the plan is mapped, read-only. */
  const uint8_t *plan;
  uint32_t next_object, root_object, here_object;
  /* What mount(2) has bound somewhere, which the next lookup of a path finds; 0 = nothing. */
  uint32_t bound_object;
  unsigned calls;
  int64_t clock;
  uint64_t file_limit;
  uint32_t children;
  /* What watch.c knows of the operation under way. */
  uint32_t operation, wanted_message, wanted_namespace;
  bool is_replaced;
};

extern struct kernel kernel;

/* What the rules say of this call; `rule` is NULL where they say nothing. */
struct answer {
  const struct rule *rule;
  enum action action;
  int32_t value;
};
bool answers(const struct answer *answer, enum action action);

void kernel_begin(struct fuzz_case *input);
/* Frees what the helper has mapped. */
void kernel_end(void);
/* Leaves the helper: exit_group, or a successful execve. */
_Noreturn void kernel_leave(void);

/* Something the helper must never do. */
_Noreturn void finding(const char *what, long number);

/* ---- descriptors.c */
int descriptor_new(enum kind kind, uint32_t object, bool close_on_exec);
int descriptor_at(int fd, enum kind kind, uint32_t object, bool close_on_exec);
/* NULL for a negative number; a finding when the helper itself has closed it. */
struct descriptor *descriptor_get(long fd);
long descriptor_close(long fd);
uint32_t object_new(void);
/* A file opened by path below a directory: its kind and its object go by the name. */
int descriptor_open(long directory, const char *path, uint64_t flags);
bool is_link_name(const char *path);
/* mount(2) of "self/fd/N". */
void descriptor_bind(const char *source);

/* ---- memory.c: touch what the helper hands over, so that the sanitizer sees it. */
size_t check_string(const char *text);
void check_readable(const void *at, size_t size);
void check_writable(void *at, size_t size);
void check_vector(char *const *vector);
long map_memory(size_t size, const uint8_t *content, size_t content_size);
long unmap_memory(uint8_t *at, size_t size);
void unmap_all(void);

/* ---- the answers: files.c, messages.c, process.c */
long answer_files(enum call call, const long *arguments, const struct answer *answer);
long answer_messages(enum call call, const long *arguments, const struct answer *answer);
long answer_process(enum call call, const long *arguments, const struct answer *answer);
/* Bytes for the caller: those of the rule, or the usual text from an offset on. Returns how many. */
long give_bytes(const struct answer *answer, void *to, size_t size, const char *usual, uint32_t *offset);

/* What the answers know of src/shared/protocol/operations; watch.c holds them against the generated numbers. */
#define OPERATION_JOIN 34
#define OPERATION_CLONE 40
#define MESSAGE_FILTER_ 12

#define NOT_MINE (-1000000)
#endif
