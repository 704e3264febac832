/* The plan in memory: mapped read-only, every byte checked before the first operation runs. */
#ifndef RUNT_PLAN_H
#define RUNT_PLAN_H
#include <stdbool.h>

#include "protocol/operations.h"

struct plan {
  const uint8_t *at, *end;
  uint32_t op_count;
  uint32_t slot_count;
};

struct operation {
  uint32_t number;
  uint32_t actor;
  /* Position in the printed plan, for reports. */
  uint32_t index;
  union op_arguments arguments;
};

struct plan_cursor {
  const uint8_t *at, *end;
  uint32_t left;
};

/* Maps and checks the plan of a descriptor. -EBADMSG, -EPROTONOSUPPORT (version), -EPERM (not sealed) or another errno;
 * `reason` then says what is wrong. */
long plan_map(int fd, struct plan *out, const char **reason);

/* The same for a plan in memory of which all operations are init's, and nothing is cloned. */
long plan_check_claim(const void *at, size_t size, struct plan *out, const char **reason);

struct plan_cursor plan_begin(const struct plan *plan);
/* Decodes the next operation; false at the end. Only for a plan that plan_map has accepted. */
bool plan_next(const struct plan *plan, struct plan_cursor *cursor, struct operation *out);

/* Decodes the next operation with this number; false where there is none. */
bool plan_find(const struct plan *plan, struct plan_cursor *cursor, uint32_t number, struct operation *out);

/* The element at *at, which moves on to the next. */
struct text list_text(const uint8_t **at);
uint32_t list_u32(const struct list *list, uint32_t index);
#endif
