/* libFuzzer's door to the mutators: takes a case apart, changes one part of it, puts it together again. */
#include "mutate.h"

#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t most, unsigned seed);

static uint32_t state;

void choose_from(uint32_t seed) { state = seed * 2654435761u | 1; }

/* xorshift32 */
uint32_t choose(uint32_t below) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return below == 0 ? 0 : state % below;
}

bool bytes_insert(struct bytes *bytes, size_t at, const void *what, size_t size) {
  if (bytes->room - bytes->size < size || at > bytes->size) return false;
  memmove(bytes->at + at + size, bytes->at + at, bytes->size - at);
  memcpy(bytes->at + at, what, size);
  bytes->size += size;
  return true;
}

void bytes_remove(struct bytes *bytes, size_t at, size_t size) {
  memmove(bytes->at + at, bytes->at + at + size, bytes->size - at - size);
  bytes->size -= size;
}

bool bytes_put32(struct bytes *bytes, uint32_t value) {
  uint8_t word[4];
  case_store32(word, value);
  return bytes_insert(bytes, bytes->size, word, sizeof word);
}

uint32_t interesting_number(void) {
  static const uint32_t numbers[] = {
      0,          1,          2,          3,          4,          5,          6,          7,          8,          9,          10,         11,         12,
      16,         64,         255,        256,        1023,       1024,       4095,       4096,       8191,       8192,       65535,      0x7fffffff, 0x80000000,
      0xffffffff, 0xfffffffe, 0x20000,    0x2000000,  0x4000000,  0x8000000,  0x10000000, 0x20000000, 0x40000000, 0x80,       0x1000,     0x2000,     0x4000,
      0x6000,     0x8000,     0xa000,     0x40000,    0x80000,    0x100000,   0x84000,    0x44000,    0200000,    02000000,   0777,       01777,      06755,
      12345,      77,         1000,       41,         8388608,
  };
  return choose(8) == 0 ? choose(UINT32_MAX) : numbers[choose(sizeof numbers / sizeof *numbers)];
}

size_t interesting_text(uint8_t *to, size_t room) {
  static const char *const texts[] = {
      "", "/", ".", "..", "/proc", "/proc/self/fd/3", "/dev/null", "/dev/pts", "/dev/pts/ptmx", "/dev/console", "/etc/passwd", "/etc", "/bundle/rootfs",
      "/a/b/c", "/a/../b", "/../../etc", "/link/x", "link", "/a/link/..", "/absent/x", "absent", "//a///b//", "/a/", "tmpfs", "proc", "sysfs", "mqueue",
      "devpts", "cgroup2", "overlay", "mode=755", "size=64k", "ro", "nosuid", "context=\"a:b,c\"", "context=a:b:c:d,e", "lowerdir=/x:/y,upperdir=/z",
      "=", "key=", "=value", "kernel.shm_rmid_forced", "net/ipv4/ip_forward", "self/attr", "exec", "apparmor/exec", "PATH=/bin:/usr/bin", "HOME=/root",
      "A=b", "sh", "./sh", "/bin/sh", ":/bin::/usr/bin:", "poststop", "startContainer", "{\"ociVersion\":", "}", "-1", "3", "0", "user", "fifo", "dir",
  };
  if (choose(16) == 0) {
    static const size_t lengths[] = {15, 31, 32, 63, 107, 108, 127, 254, 255, 256, 257, 4094, 4095, 4096, 4097, 9300};
    size_t length = lengths[choose(sizeof lengths / sizeof *lengths)];
    if (length > room) length = room;
    memset(to, "a/.b"[choose(4)], length);
    // Components that are as long as they may be, and more.
    for (size_t i = choose(300); i < length; i += 1 + choose(300)) to[i] = '/';
    return length;
  }
  const char *text = texts[choose(sizeof texts / sizeof *texts)];
  size_t length = strlen(text);
  if (length > room) return 0;
  memcpy(to, text, length);
  return length;
}

/* Arguments: strings with a NUL after each. */
static void mutate_arguments(struct bytes *body) {
  static const char *const words[] = {"3", "4", "5", "6", "-1", "77", "--", "--init", "--pidfd", "--console", "--executable", "--notify", "--notify-host", "--trace", "--rmdir", "--unlink", "--try-rmdir", "/x", "plan", "monitor",
                                      "notify", "", "0", "2147483647", "2147483648", "18446744073709551616", "delete"};
  size_t at = choose((uint32_t)body->size + 1);
  while (at > 0 && at < body->size && body->at[at - 1] != 0) at--;
  if (choose(3) == 0 && at < body->size) {
    size_t length = strnlen((const char *)body->at + at, body->size - at);
    bytes_remove(body, at, length < body->size - at ? length + 1 : length);
  }
  const char *word = words[choose(sizeof words / sizeof *words)];
  if (choose(4) != 0) bytes_insert(body, at, word, strlen(word) + 1);
}

static void mutate_part(struct bytes *part, bool is_rules, uint8_t mode) {
  // Without any grammar: what checks the grammar must be reached as well.
  if (choose(24) == 0 && part->size > 0) part->size = LLVMFuzzerMutate(part->at, part->size, part->room);
  else if (is_rules) mutate_rules(part);
  else if (mode == MODE_PLAN) mutate_plan(part);
  else mutate_arguments(part);
}

static size_t assemble(uint8_t mode, uint8_t closed, const struct bytes *body, const struct bytes *rules, uint8_t *out, size_t most) {
  size_t size = CASE_HEADER + body->size + rules->size;
  if (size > most) return 0;
  out[0] = mode;
  out[1] = closed;
  case_store32(out + 2, (uint32_t)body->size);
  memcpy(out + CASE_HEADER, body->at, body->size);
  memcpy(out + CASE_HEADER + body->size, rules->at, rules->size);
  return size;
}

static uint8_t body_memory[CASE_MAX], rules_memory[CASE_MAX];

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  static struct fuzz_case input;
  choose_from(seed);
  if (!case_read(data, size, &input)) return LLVMFuzzerMutate(data, size, most);
  size_t limit = most > CASE_MAX ? CASE_MAX : most;
  struct bytes body = {body_memory, input.body_size, limit}, rules = {rules_memory, size - CASE_HEADER - input.body_size, limit};
  memcpy(body.at, input.body, input.body_size);
  memcpy(rules.at, input.body + input.body_size, rules.size);
  uint8_t mode = data[0], closed = data[1];
  for (uint32_t changes = 1 + choose(4); changes > 0; changes--) {
    uint32_t what = choose(64);
    if (what == 0) closed = (uint8_t)choose(2 * CASE_TRACED);
    else if (what == 1 && choose(16) == 0) mode = (uint8_t)choose(MODE_COUNT);
    else if (what < 36) mutate_part(&body, false, mode % MODE_COUNT);
    else mutate_part(&rules, true, mode % MODE_COUNT);
  }
  size_t result = assemble(mode, closed, &body, &rules, data, limit);
  return result > 0 ? result : LLVMFuzzerMutate(data, size, most);
}

/* The plan of one with the kernel of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t most, unsigned seed) {
  static struct fuzz_case one, other;
  choose_from(seed);
  if (!case_read(a, a_size, &one) || !case_read(b, b_size, &other)) return 0;
  struct bytes body = {(uint8_t *)one.body, one.body_size, one.body_size};
  size_t from = CASE_HEADER + other.body_size, own = a_size - CASE_HEADER - one.body_size;
  struct bytes rules = {rules_memory, b_size - from, CASE_MAX};
  memcpy(rules.at, b + from, rules.size);
  if (choose(2) == 0) bytes_insert(&rules, 0, a + CASE_HEADER + one.body_size, own);
  return assemble(a[0], a[1], &body, &rules, out, most > CASE_MAX ? CASE_MAX : most);
}
