/* Every operation goes through here (fuzz.mk renames what main.c calls): after one that succeeded, each descriptor has one owner. */
#include "../../native-bindings/init/run.h"
#include "kernel.h"

_Static_assert(OP_namespace_join == OPERATION_JOIN && OP_process_clone == OPERATION_CLONE, "numbers of operations");
_Static_assert(MESSAGE_FILTER == MESSAGE_FILTER_, "number of a message");

static uint8_t owners[DESCRIPTORS_MAX];

static void own(int fd) {
  if (fd < 0) return;
  if (fd >= DESCRIPTORS_MAX || !kernel.descriptors[fd].is_open) finding("a descriptor is kept that is not open", fd);
  if (owners[fd]++ > 0) finding("a descriptor has two owners", fd);
}

static void check_descriptors(const struct run *run) {
  for (int fd = 0; fd < kernel.used; fd++) owners[fd] = 0;
  for (uint32_t i = 0; i < run->plan.slot_count; i++) own(run->slots[i].fd);
  own(run->init.mask_directory);
  own(run->init.mask_file);
  own(run->socket);
  own(run->init.sources);
  for (int fd = 3; fd < kernel.used; fd++) {
    const struct descriptor *descriptor = &kernel.descriptors[fd];
    if (descriptor->is_open && !descriptor->is_exempt && owners[fd] == 0) finding("a descriptor is lost", fd);
  }
}

static void begin(uint32_t number, const void *op) {
  kernel.operation = number;
  // A plan may have many operations, and each the mounts of a whole table to go through.
  kernel.calls = 0;
  kernel.wanted_message = number == OP_sync_wait         ? ((const struct op_sync_wait *)op)->message
                          : number == OP_seccomp_receive ? MESSAGE_FILTER
                                                         : 0;
  kernel.wanted_namespace = number == OP_namespace_join ? ((const struct op_namespace_join *)op)->flag & 0x7fffffff : 0;
}

static long end(const struct run *run, long result) {
  if (result >= 0) check_descriptors(run);
  return result;
}

#define X(name, text, number, actors)                                         \
  long watched_op_##name(struct run *run, const struct op_##name *op);        \
  long watched_op_##name(struct run *run, const struct op_##name *op) {       \
    begin(number, op);                                                        \
    return end(run, op_##name(run, op));                                      \
  }
HELPER_OPS(X)
#undef X
