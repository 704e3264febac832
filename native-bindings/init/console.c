/* The container's terminal: a pty of its own devpts, whose master goes to the caller. */
#include "../testing/disabled_defences.h"
#include "../shared/inroot.h"
#include "mount.h"
#include "socket.h"
#include "../shared/sys.h"

#define PTMX_DEVICE (5 << 8 | 2)

/* Connecting by /proc/self/fd has no limit on the length of the path (sun_path has 108 bytes). */
long op_console_connect(struct run *run, const struct op_console_connect *op) {
  struct sockaddr_un address = {.sun_family = AF_UNIX_};
  struct buffer out = BUFFER(address.sun_path);
  const char *path = op->path.at;
  int target = sys_openat(AT_FDCWD, path, O_PATH, 0);
  if (target < 0) return fail(run, target, path, "console socket");
  put_text(&out, "/proc/self/fd/");
  put_u64(&out, (uint64_t)target);
  int fd = (int)sys(__NR_socket, AF_UNIX_, SOCK_STREAM_ | SOCK_CLOEXEC_, 0);
  long error = fd < 0 ? fd : sys(__NR_connect, fd, &address, offsetof(struct sockaddr_un, sun_path) + out.used + 1);
  sys_close(target);
  if (error >= 0) return slot_put(run, SLOT_CONSOLE, fd);
  if (fd >= 0) sys_close(fd);
  return fail(run, error, path, "connecting to the console socket");
}

/* Checks that it is the multiplexer of a real devpts, and no file of the image. */
static long open_ptmx(int root) {
  if (DEFENCE_DISABLED(verify_terminal)) return sys_openat(root, "dev/pts/ptmx", O_RDWR | O_NOCTTY, 0);
  int directory = inroot_open(root, "/dev/pts", INROOT_NO_LINKS);
  if (directory < 0) return directory;
  int fd = sys_openat(directory, "ptmx", O_RDWR | O_NOFOLLOW | O_NOCTTY, 0);
  sys_close(directory);
  if (fd < 0) return fd;
  struct statfs filesystem;
  struct stat info;
  if (sys_fstatfs(fd, &filesystem) >= 0 && filesystem.f_type == DEVPTS_SUPER_MAGIC && sys_fstat(fd, &info) >= 0 &&
      info.st_ino == DEVPTS_PTMX_INODE && (info.st_mode & S_IFMT) == S_IFCHR && info.st_rdev == PTMX_DEVICE)
    return fd;
  sys_close(fd);
  return -ENODEV;
}

static long bind_console(struct run *run, int slave) {
  static const char *const path = "/dev/console";
  static const struct list none = {NULL, 0};
  static const struct attributes unchanged = {0, 0, 0, 0, &none, 0};
  bool was_missing;
  int target = mount_target(run, path, CREATE_FILE, false, device_how(path), &was_missing);
  if (target < 0) return target;
  bool attached = false;
  int clone = mount_clone(slave, false);
  long error = clone < 0 ? fail(run, clone, path, "open_tree") : mount_attach(run, clone, target, path, &unchanged, &attached);
  if (clone >= 0) sys_close(clone);
  if (is_refused(error) && !attached) {
    error = mount_old_bind(run, slave, target, false);
    if (error < 0) fail(run, error, path, "mount");
  }
  sys_close(target);
  return error;
}

static long send_master(struct run *run, uint32_t slot, const char *name, int master) {
  if (slot == NO_SLOT) {
    long error = send_message(run, MESSAGE_CONSOLE, 0, 0, NULL, name, master);
    return finish(run, error, name, "sending the terminal");
  }
  int socket = slot_get(run, slot);
  if (socket < 0) return socket;
  long error = socket_send(socket, &(struct iovec){(void *)name, strlen(name)}, 1, master, 0);
  slot_close(run, slot);
  return finish(run, error, name, "sending the terminal to the console socket");
}

/* The monitor shows an own terminal on the caller's, which adds the carriage returns. */
static long leave_newlines(int slave) {
  struct termios mode;
  long error = sys_ioctl(slave, TCGETS, &mode);
  mode.c_oflag &= ~(unsigned)ONLCR;
  return error < 0 ? error : sys_ioctl(slave, TCSETS, &mode);
}

static long set_up_slave(struct run *run, const struct op_console_open *op, int slave, const char *name) {
  struct window_size size = {(uint16_t)op->rows, (uint16_t)op->columns, 0, 0};
  long error = 0;
  if (op->rows != 0 || op->columns != 0) error = sys_ioctl(slave, TIOCSWINSZ, &size);
  if (error < 0) return fail(run, error, name, "TIOCSWINSZ");
  if (op->slot == NO_SLOT && (error = leave_newlines(slave)) < 0) return fail(run, error, name, "TCSETS");
  // Group, mode and the owner for root are those that the devpts was mounted with. Another user could not open its own terminal.
  if (op->uid == 0) return 0;
  error = sys(__NR_fchown, slave, op->uid, -1);
  return finish(run, error, name, "owner of the terminal");
}

static long make_stdio(struct run *run, int slave, const char *name) {
  long error = sys_ioctl(slave, TIOCSCTTY, NULL);
  if (error < 0) return fail(run, error, name, "TIOCSCTTY");
  for (int fd = 0; fd <= 2 && error >= 0; fd++)
    if (fd != slave) error = sys(__NR_dup3, slave, fd, 0);
  return finish(run, error, name, "dup3");
}

static long open_slave(struct run *run, const struct op_console_open *op, int master) {
  // A failure is reported by this name when the operation has returned.
  static char name[32];
  int unlocked = 0, number = 0;
  struct buffer out = BUFFER(name);
  long error = sys_ioctl(master, TIOCSPTLCK, &unlocked);
  if (error >= 0) error = sys_ioctl(master, TIOCGPTN, &number);
  if (error < 0) return fail(run, error, "/dev/pts/ptmx", "unlocking the terminal");
  put_text(&out, "/dev/pts/");
  put_u64(&out, (uint64_t)number);
  int slave = (int)sys_ioctl(master, TIOCGPTPEER, (void *)(long)(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (slave < 0) return fail(run, slave, name, "TIOCGPTPEER");
  error = set_up_slave(run, op, slave, name);
  if (error >= 0 && op->bind_console) error = bind_console(run, slave);
  if (error >= 0) error = send_master(run, op->slot, name, master);
  if (error >= 0) error = make_stdio(run, slave, name);
  if (slave > 2) sys_close(slave);
  return error;
}

long op_console_size(struct run *run, const struct op_console_size *op) {
  struct window_size size = {(uint16_t)op->rows, (uint16_t)op->columns, 0, 0};
  return finish(run, sys_ioctl(0, TIOCSWINSZ, &size), NULL, "TIOCSWINSZ of stdin");
}

long op_console_open(struct run *run, const struct op_console_open *op) {
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  int master = (int)open_ptmx(root);
  if (master < 0) return fail(run, master, "/dev/pts/ptmx", "not the multiplexer of a devpts");
  long error = open_slave(run, op, master);
  sys_close(master);
  return error;
}
