/* Answers of the calls that open, read, write and look at files. */
#include "kernel.h"

#include <string.h>

#define FILL_MOST (64u * 1024)

static const char PASSWD[] = "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n";
static const char MOUNTINFO[] =
    "21 1 0:20 / /proc rw,nosuid - proc proc rw\n22 1 0:21 / /sys ro shared:7 - sysfs sysfs ro\n"
    "23 1 8:1 / /bundles/a\\040b rw master:1 - ext4 /dev/sda1 rw\n";
/* Field 22, the time of the start, is 12345. */
static const char STAT[] = "77 (a) R b) S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 1 2\n";

long give_bytes(const struct answer *answer, void *to, size_t size, const char *usual, uint32_t *offset) {
  if (answers(answer, ACTION_DATA)) {
    size_t length = answer->rule->length < size ? answer->rule->length : size;
    memcpy(to, answer->rule->data, length);
    return (long)length;
  }
  if (answers(answer, ACTION_FILL)) {
    size_t length = size < FILL_MOST ? size : FILL_MOST;
    for (size_t i = 0; i < length; i++) ((uint8_t *)to)[i] = answer->rule->length == 0 ? 'x' : answer->rule->data[i % answer->rule->length];
    return (long)length;
  }
  size_t length = strlen(usual) - *offset;
  if (length > size) length = size;
  memcpy(to, usual + *offset, length);
  *offset += (uint32_t)length;
  return (long)length;
}

/* The kernel writes whole records: the number of the signal, and its sender three words later. Without a rule a child has ended. */
static long answer_signal(struct descriptor *file, uint8_t *to, size_t size, const struct answer *answer) {
  struct signalfd_siginfo signal;
  uint32_t offset = 0;
  memset(&signal, 0, sizeof signal);
  if (size < sizeof signal) return -EINVAL;
  if (answer->rule != NULL) {
    give_bytes(answer, &signal, 16, "", &offset);
  } else {
    file->offset ^= 1;
    if (file->offset == 0) return -EAGAIN;
    signal.ssi_signo = SIGCHLD;
  }
  memcpy(to, &signal, sizeof signal);
  return sizeof signal;
}

static long answer_read(int fd, uint8_t *to, size_t size, const struct answer *answer) {
  struct descriptor *file = descriptor_get(fd);
  if (answers(answer, ACTION_VALUE)) {
    size_t length = (uint32_t)answer->value % 65536;
    if (length > size) length = size;
    memset(to, 'v', length);
    return (long)length;
  }
  bool usual_only = answer->rule == NULL;
  if (file->kind == KIND_SIGNALS) return answer_signal(file, to, size, answer);
  if (file->kind == KIND_FILTER) {
    long length = size < 512 ? (long)size : 512;
    memset(to, 6, (size_t)length);
    return usual_only ? length : give_bytes(answer, to, size, "", &file->offset);
  }
  const char *usual = file->kind == KIND_PASSWD ? PASSWD : file->kind == KIND_MOUNTINFO ? MOUNTINFO : file->kind == KIND_STAT ? STAT : "";
  return give_bytes(answer, to, size, usual, &file->offset);
}

static uint32_t type_of(enum kind kind) {
  switch (kind) {
    case KIND_DIRECTORY:
    case KIND_PROC:
      return S_IFDIR | 0755;
    case KIND_LINK:
      return S_IFLNK | 0777;
    case KIND_NULL:
    case KIND_PTMX:
    case KIND_TERMINAL:
      return S_IFCHR | 0666;
    case KIND_PIPE:
      return S_IFIFO | 0600;
    case KIND_SOCKET:
      return S_IFSOCK | 0777;
    default:
      return S_IFREG | 0644;
  }
}

/* struct trace_area of native-bindings/init/run.h for 120 operations: those of longer plans behind it have no times. */
static const uint64_t TIMES[8 + 2 * 120] = {[4] = 120};

/* A rule's bytes: mode (2), device (4), inode (4), size (4), uid (4). */
static long fill_stat(struct stat *out, enum kind kind, uint32_t object, const struct answer *answer) {
  memset(out, 0, sizeof *out);
  uint32_t device = kind == KIND_NULL ? 1 << 8 | 3 : kind == KIND_PTMX ? 5 << 8 | 2 : 0;
  uint32_t inode = kind == KIND_PROC ? PROC_ROOT_INODE : kind == KIND_PTMX ? DEVPTS_PTMX_INODE : object;
  uint32_t size = kind == KIND_PLAN ? (uint32_t)kernel.input->body_size : kind == KIND_PASSWD ? sizeof PASSWD - 1 : kind == KIND_FILTER ? 64 : kind == KIND_TIMES ? sizeof TIMES : 0;
  uint8_t bytes[18];
  const uint32_t mode = type_of(kind);
  bytes[0] = (uint8_t)mode;
  bytes[1] = (uint8_t)(mode >> 8);
  case_store32(bytes + 2, device);
  case_store32(bytes + 6, inode);
  case_store32(bytes + 10, size);
  case_store32(bytes + 14, 0);
  bool given = answers(answer, ACTION_DATA) || answers(answer, ACTION_FILL);
  if (given) memcpy(bytes, answer->rule->data, answer->rule->length < sizeof bytes ? answer->rule->length : sizeof bytes);
  out->st_mode = bytes[0] | (uint32_t)bytes[1] << 8;
  out->st_rdev = case_load32(bytes + 2);
  out->st_ino = case_load32(bytes + 6);
  out->st_size = case_load32(bytes + 10);
  out->st_uid = case_load32(bytes + 14);
  // The plan is what it is: a memfd's size cannot be told otherwise.
  if (kind == KIND_PLAN) out->st_size = (long)kernel.input->body_size;
  return 0;
}

static enum kind kind_by_name(const char *path) {
  if (is_link_name(path)) return KIND_LINK;
  if (strncmp(path, "dir", 3) == 0 || path[0] == '/') return KIND_DIRECTORY;
  return strncmp(path, "fifo", 4) == 0 ? KIND_PIPE : KIND_FILE;
}

static long answer_newfstatat(const char *path, struct stat *out, const struct answer *answer) {
  check_writable(out, sizeof *out);
  // A path is a program, an entry of a directory is named for what it is.
  return fill_stat(out, path[0] == '/' ? KIND_FILE : kind_by_name(path), object_new(), answer);
}

/* A rule's bytes: type (4), flags (4), number of the file system (4). */
static long answer_fstatfs(enum kind kind, struct statfs *out, const struct answer *answer) {
  check_writable(out, sizeof *out);
  memset(out, 0, sizeof *out);
  uint8_t bytes[12] = {0};
  uint32_t type = kind == KIND_PROC || kind == KIND_PROC_FILE || kind == KIND_MOUNTINFO || kind == KIND_STAT ? PROC_SUPER_MAGIC
                  : kind == KIND_NAMESPACE                                                                   ? NSFS_MAGIC
                  : kind == KIND_PTMX                                                                        ? DEVPTS_SUPER_MAGIC
                                                                                                             : TMPFS_MAGIC;
  case_store32(bytes, type);
  case_store32(bytes + 4, STATFS_RELATIME);
  if (answers(answer, ACTION_DATA)) memcpy(bytes, answer->rule->data, answer->rule->length < sizeof bytes ? answer->rule->length : sizeof bytes);
  out->f_type = case_load32(bytes);
  out->f_flags = case_load32(bytes + 4);
  memcpy(&out->f_fsid, bytes + 8, 4);
  return 0;
}

static long answer_statx(int fd, struct statx *out, const struct answer *answer) {
  check_writable(out, sizeof *out);
  memset(out, 0, sizeof *out);
  const struct descriptor *file = fd < 0 ? NULL : descriptor_get(fd);
  out->stx_ino = file == NULL ? kernel.root_object : file->object;
  out->stx_mnt_id = file == NULL ? 0 : file->mount;
  if (answers(answer, ACTION_VALUE)) out->stx_ino = (uint32_t)answer->value;
  return 0;
}

/* Names of a rule end with NUL; the entries are well formed, as the kernel's are. */
static long answer_getdents(uint8_t *to, size_t size, const struct answer *answer) {
  if (!answers(answer, ACTION_DATA) && !answers(answer, ACTION_FILL)) return 0;
  const uint8_t *at = answer->rule->data, *end = at + answer->rule->length;
  size_t used = 0;
  while (at < end) {
    size_t length = 0;
    while (at + length < end && at[length] != 0 && at[length] != '/') length++;
    size_t whole = (offsetof(struct directory_entry, name) + length + 1 + 7) & ~(size_t)7;
    if (used + whole > size) break;
    struct directory_entry *entry = (struct directory_entry *)(void *)(to + used);
    memset(entry, 0, whole);
    entry->length = (uint16_t)whole;
    memcpy(entry->name, at, length);
    used += whole;
    at += length + 1;
  }
  return (long)used;
}

static long answer_readlink(uint8_t *to, size_t size, const struct answer *answer) {
  uint32_t offset = 0;
  long length = give_bytes(answer, to, size, "target", &offset);
  // A link's text has no NUL.
  for (long i = 0; i < length; i++)
    if (to[i] == 0) return i;
  return length;
}

static long answer_getcwd(uint8_t *to, size_t size, const struct answer *answer) {
  uint32_t offset = 0;
  long length = give_bytes(answer, to, size - 1, "/", &offset);
  to[length] = 0;
  return (long)strlen((char *)to) + 1;
}

static long answer_mmap(const long *arguments) {
  size_t size = (size_t)arguments[1];
  int fd = (int)arguments[4];
  if ((arguments[3] & MAP_ANONYMOUS) != 0) return map_memory(size, NULL, 0);
  const struct descriptor *file = descriptor_get(fd);
  if (file == NULL) return -EBADF;
  // As src/runtime/trace makes it; another size comes from a rule, which the helper has to mistrust.
  if (file->kind == KIND_TIMES) {
    long times = map_memory(size, NULL, 0);
    if (times > 0) memcpy((void *)times, TIMES, size < sizeof TIMES ? size : sizeof TIMES);
    return times;
  }
  if (file->kind != KIND_PLAN) return map_memory(size, NULL, 0);
  if (size != kernel.input->body_size) finding("the plan is mapped with another length", (long)size);
  long address = map_memory(size, kernel.input->body, size);
  if (address > 0) kernel.plan = (const uint8_t *)address;
  return address;
}

/* Of a plan that is not sealed, into memory that then has its place. */
static long answer_pread(int fd, uint8_t *to, size_t size, size_t offset) {
  const struct descriptor *file = descriptor_get(fd);
  if (file->kind != KIND_PLAN) finding("pread64 of what is no plan", (long)file->kind);
  size_t whole = kernel.input->body_size;
  size_t length = offset >= whole ? 0 : whole - offset < size ? whole - offset : size;
  memcpy(to, kernel.input->body + offset, length);
  kernel.plan = to - offset;
  return (long)length;
}

static long answer_write(size_t size, const struct answer *answer) {
  if (!answers(answer, ACTION_VALUE) || size == 0) return (long)size;
  size_t written = (uint32_t)answer->value;
  return written < size ? (long)(written == 0 ? 1 : written) : (long)size;
}

static long answer_move(void) {
  kernel.root_object = kernel.here_object;
  return 0;
}

long answer_files(enum call call, const long *a, const struct answer *answer) {
  switch (call) {
    case CALL_read:
      return answer_read((int)a[0], (uint8_t *)a[1], (size_t)a[2], answer);
    case CALL_pread64:
      return answer_pread((int)a[0], (uint8_t *)a[1], (size_t)a[2], (size_t)a[3]);
    case CALL_mprotect:
      return 0;
    case CALL_write:
      return answer_write((size_t)a[2], answer);
    case CALL_openat:
      return descriptor_open((int)a[0], (const char *)a[1], (uint64_t)a[2]);
    case CALL_openat2:
      if (a[3] != sizeof(struct open_how)) finding("openat2 with another structure", a[3]);
      return descriptor_open((int)a[0], (const char *)a[1], ((const struct open_how *)a[2])->flags);
    case CALL_open_tree:
      return descriptor_open((int)a[0], (const char *)a[1], O_PATH | (uint64_t)a[2]);
    case CALL_fsopen:
    case CALL_fspick:
      return descriptor_new(KIND_OTHER, object_new(), true);
    case CALL_fsmount:
      return descriptor_new(KIND_DIRECTORY, object_new(), (a[1] & FSMOUNT_CLOEXEC) != 0);
    case CALL_fstat:
      check_writable((void *)a[1], sizeof(struct stat));
      return fill_stat((struct stat *)a[1], descriptor_get(a[0])->kind, descriptor_get(a[0])->object, answer);
    case CALL_newfstatat:
      return answer_newfstatat((const char *)a[1], (struct stat *)a[2], answer);
    case CALL_fstatfs:
      return answer_fstatfs(descriptor_get(a[0])->kind, (struct statfs *)a[1], answer);
    case CALL_statx:
      return answer_statx((int)a[0], (struct statx *)a[4], answer);
    case CALL_getdents64:
      return answer_getdents((uint8_t *)a[1], (size_t)a[2], answer);
    case CALL_readlinkat:
      return answer_readlink((uint8_t *)a[2], (size_t)a[3], answer);
    case CALL_getcwd:
      return answer_getcwd((uint8_t *)a[0], (size_t)a[1], answer);
    case CALL_fchdir:
      kernel.here_object = descriptor_get(a[0])->object;
      return 0;
    case CALL_chroot:
    case CALL_pivot_root:
      return answer_move();
    case CALL_mount:
      if ((a[3] & MS_BIND) != 0 && (a[3] & MS_REMOUNT) == 0 && a[0] != 0) descriptor_bind((const char *)a[0]);
      return 0;
    case CALL_sendfile:
      return answers(answer, ACTION_VALUE) ? (uint32_t)answer->value % (1024 * 1024) : 0;
    case CALL_mmap:
      return answer_mmap(a);
    case CALL_munmap:
      return unmap_memory((uint8_t *)a[0], (size_t)a[1]);
    default:
      return NOT_MINE;
  }
}
