/* Rules of the fake kernel: which call, how many of its kind go by before, what it answers then. */
#include "../../native-bindings/shared/kernel.h"

#include <string.h>

#include "calls.h"
#include "mutate.h"

static size_t rule_size(const struct bytes *rules, size_t at) {
  if (rules->size - at < 4) return rules->size - at;
  size_t size = 4u + rules->at[at + 3];
  return size < rules->size - at ? size : rules->size - at;
}

/* The beginning of a rule, or the end. */
static size_t choose_place(const struct bytes *rules) {
  size_t count = 0, at = 0;
  for (; at < rules->size; at += rule_size(rules, at)) count++;
  size_t chosen = choose((uint32_t)count + 1);
  for (at = 0; at < rules->size && chosen > 0; chosen--) at += rule_size(rules, at);
  return at;
}

static uint32_t choose_errno(void) {
  static const uint16_t usual[] = {EPERM, ENOENT, EINTR, EAGAIN, EACCES, EEXIST, ENOTDIR, EINVAL, ELOOP, ENOSYS, EBUSY, EPIPE, ECONNRESET, EMFILE, EXDEV, EIO, ESRCH, ENOTEMPTY};
  uint32_t number = choose(10) == 0 ? 1 + choose(133) : usual[choose(sizeof usual / sizeof *usual)];
  // The kernel takes one off to stay in the table of errnos.
  return number - 1;
}

static size_t stat_bytes(uint8_t *to) {
  static const uint32_t modes[] = {S_IFREG | 0644, S_IFDIR | 0755, S_IFLNK | 0777, S_IFCHR | 0666, S_IFIFO | 0600, S_IFSOCK | 0777};
  uint32_t mode = modes[choose(6)];
  to[0] = (uint8_t)mode;
  to[1] = (uint8_t)(mode >> 8);
  case_store32(to + 2, choose(2) == 0 ? 1 << 8 | 3 : interesting_number());
  case_store32(to + 6, choose(2) == 0 ? choose(4) : interesting_number());
  case_store32(to + 10, choose(2) == 0 ? choose(64) * 8 : interesting_number());
  case_store32(to + 14, interesting_number());
  static const uint8_t lengths[] = {2, 6, 10, 14, 18};
  return lengths[choose(5)];
}

static size_t words(uint8_t *to) {
  size_t count = 1 + choose(6);
  for (size_t i = 0; i < count; i++) case_store32(to + 4 * i, interesting_number());
  return 4 * count;
}

/* A message of the rendezvous, as the monitor reads it: six words, then two texts. */
static size_t message_bytes(uint8_t *to) {
  case_store32(to, choose(3) == 0 ? choose(14) : 4);
  for (size_t i = 1; i < 6; i++) case_store32(to + 4 * i, i == 4 ? choose(80) : interesting_number());
  size_t length = choose(80);
  memset(to + 24, 'p', length);
  return 24 + length;
}

#define CONTENT(text) {text, sizeof text - 1}

/* Of files, logs, datagrams, signals and directories. */
static size_t file_bytes(uint8_t *to) {
  static const struct {
    const char *text;
    size_t length;
  } contents[] = {
      CONTENT("root:x:0:0:root:/root:/bin/sh\n"), CONTENT("a:b:c\n:::::\n0:0:0:0:0:/x"), CONTENT("u:x:1000:1000::relative:\nv:x:1000::/home/v:/bin/sh:more\n"),
      CONTENT("x:x:18446744073709551616:0::/h:\n"), CONTENT("21 1 0:20 / /proc rw - proc proc rw\n"), CONTENT("1 2 3 4 /sys\\040x a b - sysfs s"),
      CONTENT("- - - - - - - -\n"), CONTENT("7 1 0:1 / /a\\ rw - proc p\n 8 \\0 \\777777\n"), CONTENT("77 (a) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 12345 1"),
      CONTENT("77 (a) Z 1"), CONTENT(")"), CONTENT("77 () S"), CONTENT("e tmpfs: Unknown parameter 'x'\n"), CONTENT("w warning\n"), CONTENT("e \n"), CONTENT("READY=1\n"),
      CONTENT("STATUS=x\nREADY=1"), CONTENT("READY=1READY=1"), CONTENT("READY=11\nREADY=1\n"), CONTENT("link\0file\0dir\0fifo\0.\0..\0"), CONTENT("dir\0"),
      CONTENT("3\0004\0005\000999\000x\000"),
      // Signals: HUP, CHLD, PIPE of itself, WINCH, URG.
      CONTENT("\1"), CONTENT("\21"), CONTENT("\15\0\0\0\0\0\0\0\0\0\0\0\52"), CONTENT("\34"), CONTENT("\27"),
      // What a hook's child says: an errno.
      CONTENT("\xfe\xff\xff\xff"),
  };
  uint32_t chosen = choose(sizeof contents / sizeof *contents);
  memcpy(to, contents[chosen].text, contents[chosen].length);
  return contents[chosen].length;
}

static size_t make_data(uint8_t *to, enum call call) {
  if (choose(12) == 0) return words(to);
  switch (call) {
    case CALL_fstat:
    case CALL_newfstatat:
      return stat_bytes(to);
    case CALL_fstatfs:
      return words(to);
    case CALL_recvmsg:
      to[0] = (uint8_t)choose(2);
      return 1 + message_bytes(to + 1);
    case CALL_recvfrom:
      return choose(2) == 0 ? message_bytes(to) : file_bytes(to);
    case CALL_ppoll:
      for (uint32_t i = 0; i < 8; i++) to[i] = (uint8_t)(choose(2) == 0 ? 0 : 1 << choose(5));
      return choose(9);
    case CALL_readlinkat:
    case CALL_getcwd:
      return interesting_text(to, 200);
    case CALL_wait4:
    case CALL_capget:
      return words(to);
    default:
      return file_bytes(to);
  }
}

/* The calls that hand something out or decide something come more often than those that only succeed. */
static enum call choose_call(void) {
  static const uint8_t telling[] = {CALL_fstat, CALL_newfstatat, CALL_fstatfs, CALL_statx, CALL_read, CALL_recvmsg, CALL_recvfrom, CALL_ppoll, CALL_readlinkat, CALL_getdents64,
                                    CALL_wait4, CALL_clone, CALL_clone3, CALL_openat, CALL_openat2, CALL_open_tree, CALL_mount_setattr, CALL_move_mount, CALL_mount, CALL_fsopen, CALL_fsconfig,
                                    CALL_fsmount, CALL_getcwd, CALL_ioctl, CALL_prctl, CALL_clock_gettime, CALL_sendfile, CALL_write, CALL_setns, CALL_pidfd_open, CALL_capget, CALL_close_range};
  return choose(4) == 0 ? choose(CALL_COUNT) : telling[choose(sizeof telling)];
}

static void insert_rule(struct bytes *rules) {
  uint8_t rule[4 + 256];
  enum call call = choose_call();
  uint32_t skip = choose(2) == 0 ? 0 : choose(choose(4) == 0 ? 64 : 6);
  static const uint8_t actions[] = {ACTION_ERRNO, ACTION_ERRNO, ACTION_ALWAYS, ACTION_VALUE, ACTION_DATA, ACTION_DATA, ACTION_DATA, ACTION_FILL};
  uint8_t action = actions[choose(sizeof actions)];
  size_t length;
  if (action <= ACTION_ALWAYS) {
    uint32_t number = action == ACTION_ALWAYS && choose(4) != 0 ? (choose(2) == 0 ? EPERM : ENOSYS) - 1 : choose_errno();
    rule[4] = (uint8_t)number;
    rule[5] = 0;
    length = 2;
  } else if (action == ACTION_VALUE) {
    case_store32(rule + 4, interesting_number());
    length = 4;
  } else {
    length = make_data(rule + 4, call);
  }
  if (length > 255) length = 255;
  rule[0] = choose(64) == 0 ? CALL_ANY : (uint8_t)call;
  rule[1] = (uint8_t)skip;
  rule[2] = action;
  rule[3] = (uint8_t)length;
  bytes_insert(rules, choose_place(rules), rule, 4 + length);
}

void mutate_rules(struct bytes *rules) {
  size_t at = choose_place(rules);
  size_t size = at < rules->size ? rule_size(rules, at) : 0;
  uint32_t what = choose(10);
  if (size < 4 || what < 4) {
    insert_rule(rules);
  } else if (what < 6) {
    bytes_remove(rules, at, size);
  } else if (what == 6) {
    rules->at[at + 1] = (uint8_t)(choose(2) == 0 ? rules->at[at + 1] + 1 : choose(16));
  } else if (what == 7) {
    rules->at[at] = (uint8_t)choose_call();
  } else if (what == 8) {
    rules->at[at + 2] = (uint8_t)choose(ACTION_COUNT);
  } else if (size > 4) {
    rules->at[at + 4 + choose((uint32_t)size - 4)] = (uint8_t)choose(256);
  }
}
