/* HOME, which the configuration leaves out: of the user's line in the container's /etc/passwd. */
#include "../testing/disabled_defences.h"
#include "../shared/inroot.h"
#include "run.h"
#include "../shared/sys.h"

#define PASSWD_MAX (1024 * 1024)
/* The kernel follows as many links (path_resolution(7)). */
#define LINKS_MAX 40

/* The sixth field of the line whose third is uid; false if this is another line. */
static bool home_of_line(char *line, uint32_t uid, char **home) {
  char *fields[7];
  unsigned count = 0;
  fields[count++] = line;
  for (; *line != 0 && count < 7; line++) {
    if (*line != ':') continue;
    *line = 0;
    fields[count++] = line + 1;
  }
  uint64_t number;
  if (count < 6 || !text_to_u64(fields[2], &number) || number != uid || fields[5][0] != '/') return false;
  *home = fields[5];
  return true;
}

static bool find_home(char *text, uint32_t uid, char **home) {
  for (char *line = text; *line != 0;) {
    char *end = line;
    while (*end != 0 && *end != '\n') end++;
    bool more = *end != 0;
    *end = 0;
    if (home_of_line(line, uid, home)) return true;
    line = more ? end + 1 : end;
  }
  return false;
}

/* The text of a link in `directory` takes the place of the last component of `path`; false where that is no link, or too long. */
static bool follow(int directory, const char *name, char *path) {
  char text[PATH_MAX];
  struct buffer out = {path, PATH_MAX, (size_t)(name - path), false};
  long length = sys(__NR_readlinkat, directory, name, text, sizeof text);
  if (length <= 0 || length >= (long)sizeof text) return false;
  if (text[0] == '/') out.used = 0;
  put_bytes(&out, text, (size_t)length);
  return !out.truncated;
}

/* O_NONBLOCK: a FIFO of this name must not hold the container up. Behind a link there are devices to be had that mean something when they are
 * opened, so there it is looked first. */
static int open_regular(int directory, const char *name, bool look) {
  if (look) {
    struct stat info;
    int found = sys_openat(directory, name, O_PATH | O_NOFOLLOW, 0);
    long error = found < 0 ? found : sys_fstat(found, &info);
    if (found >= 0) sys_close(found);
    if (error < 0) return (int)error;
    if ((info.st_mode & S_IFMT) == S_IFLNK) return -ELOOP;
    if ((info.st_mode & S_IFMT) != S_IFREG) return -EINVAL;
  }
  return sys_openat(directory, name, O_RDONLY | (DEFENCE_DISABLED(passwd) ? 0 : O_NONBLOCK) | O_NOFOLLOW | O_NOCTTY, 0);
}

/* A link is followed by its text, so that it leads to a path in the root, whatever it is a link to. */
static int open_passwd(struct run *run) {
  char path[PATH_MAX] = "/etc/passwd", above[PATH_MAX];
  int root = slot_get(run, SLOT_ROOT), fd = root < 0 ? root : -ELOOP;
  for (int links = 0; fd == -ELOOP && links <= LINKS_MAX; links++) {
    const char *name = path + strlen(path);
    while (name[-1] != '/') name--;
    struct buffer out = BUFFER(above);
    put_bytes(&out, path, (size_t)(name - path));
    int directory = inroot_open(root, above, 0);
    if (directory < 0) return directory;
    fd = open_regular(directory, name, links > 0);
    bool goes_on = fd == -ELOOP && follow(directory, name, path);
    sys_close(directory);
    if (fd == -ELOOP && !goes_on) return fd;
  }
  return fd;
}

long op_process_home(struct run *run, const struct op_process_home *op) {
  struct buffer out = BUFFER(run->program.home);
  put_text(&out, "/");
  int fd = open_passwd(run);
  if (fd < 0) return 0;
  struct stat info;
  long size = PASSWD_MAX + 1;
  if (sys_fstat(fd, &info) >= 0 && (info.st_mode & S_IFMT) == S_IFREG && info.st_size <= PASSWD_MAX) size = info.st_size;
  long address = size > PASSWD_MAX ? -EFBIG : sys(__NR_mmap, 0, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address > 0) {
    char *text = (char *)address, *home;
    long used = sys_read(fd, text, (size_t)size);
    text[used < 0 ? 0 : used] = 0;
    if (find_home(text, op->uid, &home)) {
      out.used = 0;
      put_text(&out, home);
    }
    sys(__NR_munmap, address, size + 1);
  }
  sys_close(fd);
  return 0;
}
