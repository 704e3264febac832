/* The kernel interface: UAPI headers, and what they leave to a libc. No libc header is ever included, so that the
 * freestanding and the hosted (sanitizer) build see the same structures. */
#ifndef RUNT_KERNEL_H
#define RUNT_KERNEL_H
#include <asm/ioctls.h>
#include <asm/poll.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/stat.h>
#include <asm/statfs.h>
#include <asm/termbits.h>
#include <asm/unistd.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/signalfd.h>
#include <linux/stat.h>
#include <linux/time_types.h>
#include <linux/uio.h>
#include <linux/un.h>
#include <linux/wait.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window_size {
  uint16_t rows, columns, x_pixels, y_pixels;
};

struct message_header {
  void *name;
  int name_length;
  struct iovec *parts;
  size_t part_count;
  void *control;
  size_t control_length;
  unsigned flags;
};

/* One control message that carries one descriptor. */
#define MSG_CMSG_CLOEXEC_ 0x40000000
struct descriptor_control {
  size_t length;
  int level, type;
  int descriptor;
  int padding;
};

/* sigaction of rt_sigaction(2); all zero is the default action. */
struct kernel_action {
  void *handler;
  unsigned long flags;
  void *restorer;
  uint64_t mask;
};

struct directory_entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

struct interface_request {
  char name[16];
  int16_t flags;
  char padding[22];
};

enum {
  AF_UNIX_ = 1,
  AF_INET_ = 2,
  SOCK_STREAM_ = 1,
  SOCK_DGRAM_ = 2,
  SOCK_SEQPACKET_ = 5,
  SOCK_CLOEXEC_ = 02000000,
  SOL_SOCKET_ = 1,
  SCM_RIGHTS_ = 1,
  MSG_DONTWAIT_ = 0x40,
  MSG_NOSIGNAL_ = 0x4000,
  SIOCGIFFLAGS_ = 0x8913,
  SIOCSIFFLAGS_ = 0x8914,
  IFF_UP_ = 1,
  F_GET_SEALS_ = 1034,
  F_SEAL_SHRINK_ = 2,
  F_SEAL_GROW_ = 4,
  F_SEAL_WRITE_ = 8,
  MNT_DETACH_ = 2,
  SEEK_END_ = 2,
  RENAME_EXCHANGE_ = 2,
};

#ifndef MS_NOSYMFOLLOW
#define MS_NOSYMFOLLOW 256
#endif

/* f_flags of statfs(2) (include/linux/statfs.h; glibc's ST_*). */
enum {
  STATFS_RDONLY = 1,
  STATFS_NOSUID = 2,
  STATFS_NODEV = 4,
  STATFS_NOEXEC = 8,
  STATFS_NOATIME = 1024,
  STATFS_NODIRATIME = 2048,
  STATFS_RELATIME = 4096,
  STATFS_NOSYMFOLLOW = 8192,
};

#define PROC_ROOT_INODE 1
#define DEVPTS_PTMX_INODE 2
#endif
