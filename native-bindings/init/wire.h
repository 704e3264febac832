/* What the generated operation structures are made of. */
#ifndef RUNT_WIRE_H
#define RUNT_WIRE_H
#include <stddef.h>
#include <stdint.h>

/* A NUL-terminated string inside the mapped plan. */
struct text {
  const char *at;
  uint32_t length;
};

/* `strs` or `u32s` inside the mapped plan, checked when the plan was decoded; read it with list_text and list_u32. */
struct list {
  const uint8_t *at;
  uint32_t count;
};

struct field {
  uint16_t type;
  uint16_t offset;
};
#endif
