/* File systems that are made before the plan asks for them (prepare.c). */
#ifndef RUNT_PREPARE_H
#define RUNT_PREPARE_H
#include "plan.h"
#include "protocol/prepared.h"

struct run;

struct option {
  const char *key, *value;
};

/* A file system with options that are known beforehand. */
struct standard {
  const char *fstype, *source; /* source: NULL = none */
  struct option options[PREPARED_OPTIONS_MAX];
  uint64_t super_flags, attributes;
};
/* A detached mount of a new one, or the error. */
int standard_make(const struct standard *standard);

/* A new file system, detached. */
struct instance {
  const char *fstype, *source;
  const struct list *data;
  uint64_t super_flags, attributes;
};

/* `wanted`: a bit for each (enum prepared_bit). */
void prepare_filesystems(struct run *run, uint32_t wanted);
/* One that is just so, or -1. The caller owns it. */
int prepared_take(struct run *run, const struct instance *wanted);
/* Closes those that were not taken, before there is a working directory to which /proc/self/fd could lead. */
void prepared_close(struct run *run);
#endif
