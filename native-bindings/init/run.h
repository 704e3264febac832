/* One execution of a plan: its state, and what every operation can use. */
#ifndef RUNT_RUN_H
#define RUNT_RUN_H
#include "../shared/kernel.h"
#include "plan.h"
#include "protocol/messages.h"
#include "protocol/page.h"
#include "protocol/prepared.h"
#include "protocol/trace_area.h"
#include "../shared/str.h"

/* A hook's failure carries 4 KiB of stdout and of stderr; everything else is a line. */
#define FAILED_TEXT_MAX 9216

struct slot {
  /* -1 = empty. */
  int fd;
  /* mount.open: where open_tree is refused, `fd` is only an O_PATH descriptor and the bind goes by this path. */
  const char *source;
  bool recursive, is_detached;
  /* Opened by the intermediate, in the host's mount namespace. */
  bool is_foreign;
  /* No path leads to the same: it was made, mapped, or is a link that a bind by path would follow. */
  bool is_unique;
  /* mount.openLink: `fd` is the symlink itself, and mount.bind copies it. */
  bool is_link;
};

/* What the intermediate does before the clone. Init inherits all of it. */
struct intermediate_run {
  /* plan_await: the namespaces (CLONE_NEW*) that it is in already, and that init is not to get anew. */
  uint64_t made_early;
  /* Of a network namespace that was made early. */
  bool loopback_is_up;
  /* namespace.join: files opened ahead of the first join. */
  int *joins;
  uint32_t join_count;
  /* source.serve: the process that stays for init. */
  long source_server;
};

/* What init has made, and has to know of it later. */
struct init_run {
  /* The plan waits for `start`: only stderr can carry an error that happens after `commit`. */
  bool waits_for_start;
  /* The message `cgroup` has come: all of the container's cgroups are made and limited. */
  bool has_cgroups;
  /* root.open, root.propagation: what later operations need to know of them. */
  const char *rootfs;
  uint32_t propagation;
  /* source.serve: its end of the socket, which the intermediate holds up to the clone, -1 = none; whether the server is in init's mounts. */
  int sources;
  bool has_entered_sources;
  /* path.mask: the mounts already attached, which later ones are clones of; -1 = none. */
  int mask_directory, mask_file;
  /* What mount_table_read has read; NULL = nothing yet. */
  char *mount_table;
  /* clone_early: the flags that it was cloned with before there was a plan; 0 = it was not. */
  uint64_t cloned_early;
  /* File systems that wait for their operation, each as the descriptor of its context + 1; 0 = none (prepare.c). */
  int prepared[PREPARED_COUNT];
  /* process.deathSignal, armed again after changes of identity clear it. */
  uint32_t death_signal;
};

/* The program that init becomes. */
struct program_run {
  uint32_t saved_umask;
  char path[PATH_MAX];
  char home[PATH_MAX];
  char **environment;
  /* seccomp.receive: what seccomp.load loads; NULL = none. */
  struct sock_filter *filter;
  uint16_t filter_length;
  /* A filter of the container's is loaded, or about to be. */
  bool is_filtered;
  /* process.claim: the plan whose process.exec takes the place of the plan's own; at = NULL: there is none. */
  struct plan claim;
  /* exec_prepare: the vectors of process.exec; NULL until then. */
  char **exec_arguments, **exec_environment;
};

/* The state of one process that carries a plan out: the intermediate, then the init that is cloned from it, and the server of sources. */
struct run {
  struct plan plan;
  /* -1 after the runtime has closed its end. */
  int socket;
  bool is_init;
  /* Operation being executed, for reports; UINT32_MAX before the first. */
  uint32_t index;
  /* Page shared with the runtime, where whoever asks reads what init and the intermediate are doing (src/shared/protocol/page.ts); NULL = none. */
  volatile uint32_t *progress;
  /* Memory shared with the runtime for the times of a trace (trace.c); NULL = none. */
  volatile struct trace_area *trace;
  /* Messages that have been waited for. */
  uint32_t heard;
  /* reset_signals has been called, by this process or by the intermediate before the clone. */
  bool has_plain_signals;
  uint64_t saved_soft_limit, raised_soft_limit;
  struct slot *slots;
  /* Details of a failure that is about to be reported: the path is borrowed, the text is a copy. */
  const char *failed_path;
  char failed_text[FAILED_TEXT_MAX];

  struct intermediate_run intermediate;
  struct init_run init;
  struct program_run program;
};

int helper_main(int count, char **arguments, char **environment);
/* Work before there is a plan: waits for the hint, makes the namespaces that are expensive, and init if nothing has to be
 * done before it, and waits for the plan's descriptor. */
long plan_await(struct run *run, int *plan_fd);
/* The clone with these flags (CLONE_NEW*): returns in init, and in the intermediate where it failed. */
void clone_early(struct run *run, uint64_t flags);
/* Checks that an early clone was the only work that the plan has for the intermediate. */
long plan_check_clone(struct run *run);
/* Sets IFF_UP on lo of the caller's network namespace, if it is not set (namespace.c). */
long loopback_raise(void);
int monitor_main(int count, char **arguments, char **environment);

/* ---- reports (report.c) */
/* Notes what failed and returns `error`: an operation ends with `return fail(...)`. Both texts may be NULL. */
long fail(struct run *run, long error, const char *path, const char *text);
/* The end of an operation: 0, or where `result` is an error what `fail` returns. */
long finish(struct run *run, long result, const char *path, const char *text);
/* Like fail, with the system call and a second text: "fsconfig: Unknown parameter 'x'". */
long fail_detail(struct run *run, long error, const char *path, const char *text, const char *detail);
long send_message(struct run *run, uint32_t type, int32_t error, int32_t value, const char *path, const char *text, int descriptor);
void warn(struct run *run, long error, const char *path, const char *text);
/* The next message must be of this type; ends the process when the runtime is gone. */
long wait_message(struct run *run, uint32_t type);
/* For the message `cgroup`, once. */
long cgroups_await(struct run *run);
/* The same with a descriptor, which the caller owns. */
long receive_message(struct run *run, uint32_t type, int *descriptor);
/* Text of an errno in lower case, as Go prints it. */
void put_error(struct buffer *out, long error);

/* ---- times for --trace (trace.c): nothing where run->trace is NULL */
uint64_t trace_now(void);
void trace_map(struct run *run, int fd);
void trace_begin(struct run *run, const struct operation *operation);
void trace_end(struct run *run, uint32_t index);
/* The clone of an init that comes before the plan. */
void trace_clone(struct run *run);
/* Notes the time at which init was cloned. */
void trace_birth(struct run *run);

/* ---- descriptors (slots.c) */
long slots_make(struct run *run);
/* Takes the descriptor over; closes what the slot held. */
long slot_put(struct run *run, uint32_t slot, int fd);
/* The same with what is known of it. */
long slot_fill(struct run *run, uint32_t slot, const struct slot *content);
/* The descriptor or -EBADF. */
int slot_get(struct run *run, uint32_t slot);
void slot_close(struct run *run, uint32_t slot);
/* Descriptor of the host's procfs, opened and verified when it is not there yet. */
int proc_get(struct run *run);
/* Writes into a file of it. Failures are reported by `name`, which has to outlive the operation. */
long proc_write(struct run *run, const char *path, const char *name, const struct buffer *text);
/* Raises RLIMIT_NOFILE to its hard limit while the plan runs, and sets it back before a program or the runtime sees it. */
void limit_raise(struct run *run);
void limit_restore(struct run *run);
/* Marks every descriptor from `first` up close-on-exec. */
long close_on_exec_from(struct run *run, uint32_t first);

/* Memory of zeros. 0 and *out, a pointer, or what `fail` returns. */
long memory_map(struct run *run, size_t size, void *out);
/* Waits for one child; its status as of wait4(2). */
int wait_child(long pid);

void rearm_death_signal(struct run *run);

/* ---- what an execve needs (program.c) */
/* A NULL-terminated vector of a list, with one element more if not NULL; NULL when there is no memory. Never freed. */
char **make_vector(const struct list *list, const char *extra);
/* Resets what would survive execve but is not meant for the program: ignored signals, the mask, the limit, the umask. */
void reset_process(struct run *run);
/* The container may use all processors that its cpusets allow, whatever the caller may use, now and later (a mask that is set also limits
 * what later cpusets give). Where that is refused it has those of the caller (policy.c). */
void affinity_reset(void);
/* The part of it that may be done at any time: no signal is ignored any more. */
void reset_signals(struct run *run);
/* Makes a capability of the permitted set effective (capability.c). */
long capability_raise(unsigned capability);
/* Loads the filter of seccomp.receive into this process alone, a child of init: without exec_prepare, without a listener (seccomp.c). */
long seccomp_load_alone(struct run *run, uint32_t flags, bool raise);
/* Everything process.exec does before execve(2), once (program.c). */
long exec_prepare(struct run *run);
bool is_own_user_namespace(int fd);

/* ---- the operations, one function each */
#define X(name, text, number, actors) long op_##name(struct run *run, const struct op_##name *op);
HELPER_OPS(X)
#undef X
#endif
