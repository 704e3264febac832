/* Mapping and decoding of a plan. The decoder walks the generated field tables; nothing is trusted, nothing of a sealed plan is copied. */
#define OPS_TABLES
#include "plan.h"

#include "../shared/str.h"
#include "../shared/sys.h"

struct shape {
  uint32_t actors;
  const struct field *fields;
};

static const struct shape SHAPES[] = {
#define X(name, text, number, actors) {actors, FIELDS_##name},
    HELPER_OPS(X)
#undef X
};

enum shape_place {
#define X(name, text, number, actors) SHAPE_##name,
  HELPER_OPS(X)
#undef X
};

/* By the number of an operation: its place in SHAPES, and one more. A search takes a tenth of the instructions of the helper. */
static const uint8_t PLACES[] = {
#define X(name, text, number, actors) [number] = SHAPE_##name + 1,
    HELPER_OPS(X)
#undef X
};

struct reader {
  const uint8_t *at, *end;
};

static uint32_t load32(const uint8_t *at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24; }

static bool read32(struct reader *in, uint32_t *out) {
  if (in->end - in->at < 4) return false;
  *out = load32(in->at);
  in->at += 4;
  return true;
}

static bool read_head(struct reader *in, void *head, size_t size) {
  if ((size_t)(in->end - in->at) < size) return false;
  memcpy(head, in->at, size);
  in->at += size;
  return true;
}

static bool read64(struct reader *in, uint64_t *out) {
  uint32_t low, high;
  if (!read32(in, &low) || !read32(in, &high)) return false;
  *out = (uint64_t)high << 32 | low;
  return true;
}

static bool read_text(struct reader *in, struct text *out) {
  if (!read32(in, &out->length)) return false;
  if ((uint64_t)(in->end - in->at) < (uint64_t)out->length + 1) return false;
  out->at = (const char *)in->at;
  for (uint32_t i = 0; i < out->length; i++)
    if (out->at[i] == 0) return false;
  if (out->at[out->length] != 0) return false;
  in->at += (size_t)out->length + 1;
  return true;
}

static bool read_list(struct reader *in, bool of_text, struct list *out) {
  if (!read32(in, &out->count)) return false;
  out->at = in->at;
  if (!of_text) {
    if ((uint64_t)(in->end - in->at) < (uint64_t)out->count * 4) return false;
    in->at += (size_t)out->count * 4;
    return true;
  }
  struct text element;
  for (uint32_t i = 0; i < out->count; i++)
    if (!read_text(in, &element)) return false;
  return true;
}

static bool read_field(struct reader *in, const struct field *field, uint32_t slots, void *arguments) {
  void *out = (char *)arguments + field->offset;
  uint32_t *value = out;
  switch (field->type) {
  case FIELD_U32: return read32(in, value);
  case FIELD_BOOL: return read32(in, value) && *value <= 1;
  case FIELD_SLOT: return read32(in, value) && (*value < slots || *value == NO_SLOT);
  case FIELD_U64:
  case FIELD_I64: return read64(in, out);
  case FIELD_STR: return read_text(in, out);
  case FIELD_STRS: return read_list(in, true, out);
  case FIELD_U32S: return read_list(in, false, out);
  }
  return false;
}

static const struct shape *find_shape(uint32_t number) {
  return number < sizeof PLACES && PLACES[number] != 0 ? &SHAPES[PLACES[number] - 1] : NULL;
}

static bool read_operation(struct reader *in, uint32_t slots, struct operation *out) {
  struct operation_head head;
  if (!read_head(in, &head, sizeof head) || (uint64_t)(in->end - in->at) < head.bytes) return false;
  out->number = head.number;
  out->actor = head.actor;
  out->index = head.index;
  const struct shape *shape = find_shape(out->number);
  if (shape == NULL || out->actor > ACTOR_INIT || (shape->actors & 1u << out->actor) == 0) return false;
  struct reader payload = {in->at, in->at + head.bytes};
  for (const struct field *field = shape->fields; field->type != FIELD_END; field++)
    if (!read_field(&payload, field, slots, &out->arguments)) return false;
  in->at += head.bytes;
  return payload.at == payload.end;
}

/* `claim`: operations of init alone, without a clone. */
static bool check_operations(const struct plan *plan, bool claim) {
  struct reader in = {plan->at, plan->end};
  struct operation operation;
  bool cloned = false, has_init = false;
  for (uint32_t i = 0; i < plan->op_count; i++) {
    if (!read_operation(&in, plan->slot_count, &operation)) return false;
    // The intermediate ends with the clone, so nothing of it may stand behind.
    if (operation.actor == ACTOR_INTERMEDIATE && cloned) return false;
    cloned |= operation.number == OP_process_clone;
    has_init |= operation.actor == ACTOR_INIT;
  }
  return in.at == in.end && (claim ? !cloned : cloned || !has_init);
}

/* A sealed memfd cannot change under the decoder, which reads the plan a second time when it executes it. */
static bool is_sealed(int fd) {
  long wanted = F_SEAL_SHRINK_ | F_SEAL_GROW_ | F_SEAL_WRITE_;
  long seals = sys(__NR_fcntl, fd, F_GET_SEALS_, 0);
  return seals >= 0 && (seals & wanted) == wanted;
}

/* Copy a plan that can still change: where memfd_create(2) is refused, it is in a file without a name. */
static long copy_plan(int fd, size_t size) {
  long address = sys(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address < 0 && address > -4096) return address;
  for (size_t done = 0; done < size;) {
    long got;
    sys_again(got, __NR_pread64, fd, address + (long)done, size - done, done);
    if (got <= 0) {
      sys(__NR_munmap, address, size);
      return got < 0 ? got : -EBADMSG;
    }
    done += (size_t)got;
  }
  long error = sys(__NR_mprotect, address, size, PROT_READ);
  return error < 0 ? error : address;
}

static long check_plan(struct plan *plan, uint64_t size, bool claim, const char **reason) {
  struct reader in = {plan->at, plan->end};
  struct plan_head head;
  *reason = "plan is shorter than its header";
  if (!read_head(&in, &head, sizeof head)) return -EBADMSG;
  plan->op_count = head.operations;
  plan->slot_count = head.slots;
  plan->at = in.at;
  *reason = "plan has the wrong magic number";
  if (head.magic != PLAN_MAGIC) return -EBADMSG;
  *reason = "plan is of another version";
  if (head.version != PLAN_VERSION) return -EPROTONOSUPPORT;
  *reason = "plan has the wrong length";
  if (head.bytes != size) return -EBADMSG;
  *reason = "plan has more slots than operations could fill";
  if (plan->slot_count > SLOT_FIRST_FREE + head.bytes / 4) return -EBADMSG;
  *reason = "plan has a malformed operation";
  return check_operations(plan, claim) ? 0 : -EBADMSG;
}

long plan_check_claim(const void *at, size_t size, struct plan *out, const char **reason) {
  out->at = at;
  out->end = out->at + size;
  return check_plan(out, size, true, reason);
}

long plan_map(int fd, struct plan *out, const char **reason) {
  struct stat info;
  *reason = "plan";
  long error = sys_fstat(fd, &info);
  if (error < 0) return error;
  *reason = "plan is shorter than its header or longer than 4 GiB";
  if (info.st_size < (long)sizeof(struct plan_head) || info.st_size > UINT32_MAX) return -EBADMSG;
  *reason = "mmap of the plan";
  long address = is_sealed(fd) ? sys(__NR_mmap, 0, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : copy_plan(fd, (size_t)info.st_size);
  if (address < 0 && address > -4096) return address;
  out->at = (const uint8_t *)address;
  out->end = out->at + info.st_size;
  error = check_plan(out, (uint64_t)info.st_size, false, reason);
  if (error < 0) sys(__NR_munmap, address, info.st_size);
  return error;
}

struct plan_cursor plan_begin(const struct plan *plan) {
  return (struct plan_cursor){plan->at, plan->end, plan->op_count};
}

bool plan_next(const struct plan *plan, struct plan_cursor *cursor, struct operation *out) {
  if (cursor->left == 0) return false;
  struct reader in = {cursor->at, cursor->end};
  if (!read_operation(&in, plan->slot_count, out)) return false;
  cursor->at = in.at;
  cursor->left--;
  return true;
}

bool plan_find(const struct plan *plan, struct plan_cursor *cursor, uint32_t number, struct operation *out) {
  while (plan_next(plan, cursor, out))
    if (out->number == number) return true;
  return false;
}

struct text list_text(const uint8_t **at) {
  struct text element = {(const char *)*at + 4, load32(*at)};
  *at += (size_t)element.length + 5;
  return element;
}

uint32_t list_u32(const struct list *list, uint32_t index) { return load32(list->at + (size_t)index * 4); }
