#include "case.h"

uint32_t case_load32(const uint8_t *at) { return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24; }

void case_store32(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> 8 * i);
}

bool case_read(const uint8_t *data, size_t size, struct fuzz_case *out) {
  if (size < CASE_HEADER || size > CASE_MAX) return false;
  out->mode = data[0] % MODE_COUNT;
  out->closed = data[1];
  out->is_traced = (data[1] & CASE_TRACED) != 0;
  out->body = data + CASE_HEADER;
  out->body_size = case_load32(data + 2);
  if (out->body_size > size - CASE_HEADER) return false;
  out->rule_count = 0;
  for (size_t at = CASE_HEADER + out->body_size; size - at >= 4 && out->rule_count < RULES_MAX;) {
    struct rule *rule = &out->rules[out->rule_count++];
    *rule = (struct rule){data[at], data[at + 1], data[at + 2] % ACTION_COUNT, data[at + 3], data + at + 4};
    at += 4;
    if (rule->length > size - at) rule->length = (uint8_t)(size - at);
    at += rule->length;
  }
  return true;
}
