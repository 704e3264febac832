/* How the kernel treats this process: CPU scheduling, I/O priority, NUMA placement, execution domain. All of it survives execve. */
#include "run.h"
#include "../shared/sys.h"
#include <linux/ioprio.h>
#include <linux/sched/types.h>

#define WORD_BITS (8 * sizeof(unsigned long))

/* A bit for every number; false when one is not below `limit`. */
static bool set_bits(unsigned long *mask, uint32_t limit, const struct list *numbers) {
  for (uint32_t i = 0; i < numbers->count; i++) {
    uint32_t number = list_u32(numbers, i);
    if (number >= limit) return false;
    mask[number / WORD_BITS] |= 1ul << number % WORD_BITS;
  }
  return true;
}

#define CPU_LIMIT 8192

void affinity_reset(void) {
  unsigned long mask[CPU_LIMIT / WORD_BITS];
  memset(mask, 0xff, sizeof mask);
  sys(__NR_sched_setaffinity, 0, sizeof mask, mask);
}

long op_process_affinity(struct run *run, const struct op_process_affinity *op) {
  unsigned long mask[CPU_LIMIT / WORD_BITS] = {0};
  if (!set_bits(mask, CPU_LIMIT, &op->cpus)) return fail(run, -EINVAL, NULL, "sched_setaffinity");
  return finish(run, sys(__NR_sched_setaffinity, 0, sizeof mask, mask), NULL, "sched_setaffinity");
}

long op_process_scheduler(struct run *run, const struct op_process_scheduler *op) {
  // The utilisation hints have no field in the configuration: a clamp flag sets its bound to 0, as with runc.
  const struct sched_attr attributes = {
      .size = sizeof attributes,
      .sched_policy = op->policy,
      .sched_flags = op->flags,
      .sched_nice = (int32_t)op->nice,
      .sched_priority = op->priority,
      .sched_runtime = op->runtime,
      .sched_deadline = op->deadline,
      .sched_period = op->period,
  };
  return finish(run, sys(__NR_sched_setattr, 0, &attributes, 0), NULL, "sched_setattr");
}

long op_process_io_priority(struct run *run, const struct op_process_io_priority *op) {
  // session.create has made a process group of its own.
  return finish(run, sys(__NR_ioprio_set, IOPRIO_WHO_PGRP, 0, op->class << IOPRIO_CLASS_SHIFT | op->priority), NULL, "ioprio_set");
}

/* The most that NODES_SHIFT allows on any architecture. */
#define NODE_LIMIT 1024

long op_process_memory_policy(struct run *run, const struct op_process_memory_policy *op) {
  unsigned long mask[NODE_LIMIT / WORD_BITS] = {0};
  if (!set_bits(mask, NODE_LIMIT, &op->nodes)) return fail(run, -EINVAL, NULL, "set_mempolicy");
  // The kernel counts one bit less than it is told (mm/mempolicy.c, get_nodes).
  bool some = op->nodes.count > 0;
  return finish(run, sys(__NR_set_mempolicy, op->mode | op->flags, some ? mask : NULL, some ? NODE_LIMIT + 1 : 0), NULL, "set_mempolicy");
}

long op_process_personality(struct run *run, const struct op_process_personality *op) {
  return finish(run, sys(__NR_personality, op->domain), NULL, "personality");
}
