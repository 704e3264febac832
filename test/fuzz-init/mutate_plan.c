/* Plans by the field tables that the decoder walks: operations come, go and change place, fields get values that mean something; now and then a
 * length lies. The counts in the header are set right afterwards. */
#include <string.h>

#define OPS_TABLES
#include "../../native-bindings/init/plan.h"
#include "mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

#define MAGIC 0x544e5552u
#define PLAN_HEADER 20
#define OP_HEADER 16
#define OPS_MAX 256

struct shape {
  uint32_t number, actors;
  const struct field *fields;
};

static const struct shape SHAPES[] = {
#define X(name, text, number, actors) {number, actors, FIELDS_##name},
    HELPER_OPS(X)
#undef X
};
#define SHAPE_COUNT (sizeof SHAPES / sizeof *SHAPES)

/* Offsets of the operations, and of the end. */
struct places {
  size_t at[OPS_MAX + 1];
  unsigned count;
};

static void find_operations(const struct bytes *plan, struct places *out) {
  size_t at = PLAN_HEADER;
  out->count = 0;
  while (at + OP_HEADER <= plan->size && out->count < OPS_MAX) {
    uint32_t length = case_load32(plan->at + at + 12);
    if (length > plan->size - at - OP_HEADER) break;
    out->at[out->count++] = at;
    at += OP_HEADER + length;
  }
  out->at[out->count] = at;
}

static const struct shape *shape_of(uint32_t number) {
  for (size_t i = 0; i < SHAPE_COUNT; i++)
    if (SHAPES[i].number == number) return &SHAPES[i];
  return NULL;
}

static void put_text_field(struct bytes *out) {
  uint8_t text[10240];
  size_t length = interesting_text(text, sizeof text);
  bytes_put32(out, (uint32_t)length);
  bytes_insert(out, out->size, text, length);
  bytes_insert(out, out->size, "", 1);
}

static void put_field(struct bytes *out, uint16_t type) {
  uint32_t count;
  switch (type) {
    case FIELD_BOOL:
      bytes_put32(out, choose(2));
      break;
    case FIELD_SLOT:
      bytes_put32(out, choose(12) == 0 ? NO_SLOT : choose(10));
      break;
    case FIELD_U64:
    case FIELD_I64:
      bytes_put32(out, choose(2) == 0 ? 1u << choose(32) : interesting_number());
      bytes_put32(out, choose(3) == 0 ? interesting_number() : 0);
      break;
    case FIELD_STR:
      put_text_field(out);
      break;
    case FIELD_STRS:
      bytes_put32(out, count = choose(4));
      while (count-- > 0) put_text_field(out);
      break;
    case FIELD_U32S:
      bytes_put32(out, count = choose(8) == 0 ? choose(600) : choose(7));
      while (count-- > 0) bytes_put32(out, interesting_number());
      break;
    default:
      bytes_put32(out, interesting_number());
  }
}

static size_t field_size(uint16_t type, const uint8_t *at, size_t left) {
  if (left < 4) return left;
  size_t size = 4, word = case_load32(at);
  switch (type) {
    case FIELD_U64:
    case FIELD_I64:
      size = 8;
      break;
    case FIELD_STR:
      size = 4 + word + 1;
      break;
    case FIELD_U32S:
      size = 4 + 4 * word;
      break;
    case FIELD_STRS:
      for (size_t i = 0; i < word && size + 4 <= left; i++) size += 4 + (size_t)case_load32(at + size) + 1;
      break;
  }
  return size < left ? size : left;
}

static uint8_t scratch[CASE_MAX];

/* An operation of an actor that may do it, in `scratch`. */
static struct bytes make_operation(bool after_clone) {
  struct bytes out = {scratch, 0, sizeof scratch};
  uint32_t actor = after_clone ? ACTOR_INIT : ACTOR_INTERMEDIATE;
  const struct shape *shape;
  do shape = &SHAPES[choose(SHAPE_COUNT)];
  while ((shape->actors >> actor & 1) == 0);
  bytes_put32(&out, shape->number);
  bytes_put32(&out, actor);
  bytes_put32(&out, choose(100));
  bytes_put32(&out, 0);
  for (const struct field *field = shape->fields; field->type != FIELD_END; field++) put_field(&out, field->type);
  case_store32(out.at + 12, (uint32_t)(out.size - OP_HEADER));
  return out;
}

static void fix_header(struct bytes *plan) {
  struct places places;
  find_operations(plan, &places);
  if (plan->size < PLAN_HEADER) return;
  case_store32(plan->at + 8, (uint32_t)plan->size);
  case_store32(plan->at + 12, places.count);
}

static void insert_operation(struct bytes *plan, const struct places *places) {
  unsigned place = choose(places->count + 1);
  bool after_clone = false;
  for (unsigned i = 0; i < place; i++) after_clone |= case_load32(plan->at + places->at[i]) == OP_process_clone;
  struct bytes operation = make_operation(after_clone);
  bytes_insert(plan, places->at[place], operation.at, operation.size);
}

static void move_operation(struct bytes *plan, const struct places *places, bool copy) {
  unsigned from = choose(places->count), to = choose(places->count + 1);
  size_t size = places->at[from + 1] - places->at[from];
  if (size > sizeof scratch) return;
  memcpy(scratch, plan->at + places->at[from], size);
  if (!bytes_insert(plan, places->at[to], scratch, size) || copy) return;
  bytes_remove(plan, places->at[from] + (to <= from ? size : 0), size);
}

struct found_field {
  uint16_t type;
  size_t place, size;
};

/* One of the fields of the operation at an offset; false if it has none. */
static bool choose_field(const struct bytes *plan, size_t at, struct found_field *out) {
  const struct shape *shape = shape_of(case_load32(plan->at + at));
  if (shape == NULL || shape->fields->type == FIELD_END) return false;
  unsigned count = 0;
  while (shape->fields[count].type != FIELD_END) count++;
  unsigned chosen = choose(count);
  size_t place = at + OP_HEADER, end = place + case_load32(plan->at + at + 12);
  for (unsigned i = 0; i < chosen; i++) place += field_size(shape->fields[i].type, plan->at + place, end - place);
  uint16_t type = shape->fields[chosen].type;
  *out = (struct found_field){type, place, field_size(type, plan->at + place, end - place)};
  return true;
}

static void change_field(struct bytes *plan, size_t at) {
  struct found_field found;
  if (!choose_field(plan, at, &found)) return;
  struct bytes field = {scratch, 0, sizeof scratch};
  if (found.type == FIELD_STR && found.size > 5 && choose(2) == 0) {
    // Its text, by libFuzzer's own means.
    memcpy(scratch, plan->at + found.place, found.size);
    size_t text = LLVMFuzzerMutate(scratch + 4, found.size - 5, found.size + 60);
    for (size_t i = 0; i < text; i++)
      if (scratch[4 + i] == 0) scratch[4 + i] = '/';
    case_store32(scratch, (uint32_t)text);
    scratch[4 + text] = 0;
    field.size = 4 + text + 1;
  } else {
    put_field(&field, found.type);
  }
  if (plan->room - plan->size < field.size) return;
  size_t length = case_load32(plan->at + at + 12);
  bytes_remove(plan, found.place, found.size);
  bytes_insert(plan, found.place, field.at, field.size);
  case_store32(plan->at + at + 12, (uint32_t)(length - found.size + field.size));
}

/* A word of the plan's header, of an operation's, or the length of a field, that is not what it should be. */
static void lie(struct bytes *plan, const struct places *places) {
  struct found_field found;
  size_t operation = places->at[choose(2) == 0 ? places->count - 1 : choose(places->count)], at = 4 * choose(5);
  uint32_t where = choose(4);
  if (where == 1) at = operation + 4 * choose(4);
  else if (where > 1 && choose_field(plan, operation, &found)) at = found.place;
  if (at + 4 > plan->size) return;
  uint32_t word = case_load32(plan->at + at);
  case_store32(plan->at + at, choose(3) == 0 ? interesting_number() : word + choose(5) - 2);
}

static void begin_plan(struct bytes *plan) {
  plan->size = 0;
  bytes_put32(plan, MAGIC);
  bytes_put32(plan, PLAN_VERSION);
  bytes_put32(plan, PLAN_HEADER);
  bytes_put32(plan, 0);
  bytes_put32(plan, 10);
}

void mutate_plan(struct bytes *plan) {
  struct places places;
  if (plan->size < PLAN_HEADER) begin_plan(plan);
  find_operations(plan, &places);
  uint32_t what = choose(40);
  unsigned chosen = choose(places.count);
  if (places.count == 0 || what < 10) insert_operation(plan, &places);
  else if (what < 16) bytes_remove(plan, places.at[chosen], places.at[chosen + 1] - places.at[chosen]);
  else if (what < 18) move_operation(plan, &places, what == 16);
  else if (what == 18) case_store32(plan->at + 16, choose(4) == 0 ? interesting_number() : choose(16));
  else if (what > 20) change_field(plan, places.at[chosen]);
  else return lie(plan, &places);
  fix_header(plan);
}
