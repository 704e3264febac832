// Plays the runtime for a helper under test: drive [OPTION]... -- HELPER PLANFILE
// Starts HELPER with the plan in a sealed memfd (DRIVE_UNSEALED: one that it truncates when init exists), answers its messages, and writes what happened to descriptor 3, one JSON
// object a line. The program's own output goes where drive's goes.
//   --go --commit   answer `pid` with go, `ready` with commit
//   --die-at TYPE   end at once, without an answer, when a message of this type arrives
//   --start PATH    after commit, write one byte to this FIFO
//   --rlimit N      after `ready`, set RLIMIT_NOFILE of init to N
//   --soft N        soft RLIMIT_NOFILE of the helper
//   --console PATH  listen at this console socket and show what the terminal that arrives prints
//   --filter PATH   after `pid`, send a descriptor of this file as message `filter`
//   --page N        share a page, in which N cgroups are made (src/shared/protocol/page.ts)
//   --cgroup PATH   after `pid`, make this directory, then send `cgroup`
//   --map           after `pid`, map container ids 0-65535 to 100000 and up
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/messages.h"
#include "protocol/page.h"

static FILE *report;

static void die(const char *what) {
  perror(what);
  exit(99);
}

static int sealed_plan(const char *path) {
  int in = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (in < 0 || fstat(in, &info) < 0) die(path);
  int out = memfd_create("plan", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  char *bytes = malloc((size_t)info.st_size + 1);
  if (out < 0 || read(in, bytes, (size_t)info.st_size) != info.st_size) die("plan");
  if (write(out, bytes, (size_t)info.st_size) != info.st_size) die("memfd");
  if (getenv("DRIVE_UNSEALED") == NULL && fcntl(out, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0) die("seals");
  close(in);
  return out;
}

static int shared_page(uint32_t made) {
  int page = memfd_create("page", 0);
  if (page < 0 || ftruncate(page, PAGE_BYTES) < 0 || pwrite(page, &made, sizeof made, PAGE_CGROUPS * sizeof made) != sizeof made) die("page");
  return page;
}

static void put_string(const char *key, const char *text, uint32_t length) {
  fprintf(report, ",\"%s\":\"", key);
  for (uint32_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\' || c < 0x20) fprintf(report, "\\u%04x", c);
    else fputc(c, report);
  }
  fputc('"', report);
}

static void put_file(int pid, const char *name, const char *text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) die(path);
  close(fd);
}

static void answer(int socket, uint32_t type) {
  uint32_t message[6] = {type};
  if (send(socket, message, sizeof message, MSG_NOSIGNAL) < 0) die("send");
}

static void send_file(int socket, const char *path) {
  uint32_t message[6] = {MESSAGE_FILTER};
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {.bytes = {0}};
  struct iovec part = {message, sizeof message};
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  struct cmsghdr *item = CMSG_FIRSTHDR(&header);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die(path);
  *item = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(item), &fd, sizeof fd);
  if (sendmsg(socket, &header, MSG_NOSIGNAL) < 0) die("sendmsg");
  close(fd);
}

static void finish(const char *what, int pid, int status) {
  fprintf(report, "{\"type\":\"%s\",\"pid\":%d,\"status\":%d}\n", what, pid, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void read_terminal(int master) {
  char text[4096];
  ssize_t size;
  while ((size = read(master, text, sizeof text)) > 0)
    if (write(1, text, (size_t)size) != size) die("write");
}

// chdir first: sun_path is short, and the test wants a long path.
static int listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *slash = strrchr(path, '/');
  char directory[4096];
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), here = open(".", O_PATH | O_CLOEXEC);
  snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", slash + 1);
  if (chdir(directory) < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1) < 0 || fchdir(here) < 0) die(path);
  close(here);
  return fd;
}

// One message: the name of the terminal and its master.
static int accept_console(int listener) {
  char name[256];
  union {
    char bytes[CMSG_SPACE(4 * sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec part = {name, sizeof name};
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), master = -1;
  ssize_t size = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
  struct cmsghdr *item = CMSG_FIRSTHDR(&header);
  if (size <= 0 || item == NULL) die("console socket");
  memcpy(&master, CMSG_DATA(item), sizeof master);
  fprintf(report, "{\"type\":\"console-socket\",\"fds\":%d,\"rest\":%d", (int)((item->cmsg_len - CMSG_LEN(0)) / sizeof(int)),
          (int)read(fd, name + size, 1));
  put_string("text", name, (uint32_t)size);
  fprintf(report, "}\n");
  close(fd);
  return master;
}

int main(int count, char **arguments) {
  bool go = false, commit = false, map = false;
  uint32_t die_at = 0;
  const char *start = NULL, *filter = NULL, *cgroup = NULL;
  int listener = -1, page = -1;
  rlim_t limit = 0, soft = 0;
  int at = 1, pair[2], init = -1, status, master = -1;
  for (; at < count && strcmp(arguments[at], "--") != 0; at++) {
    if (!strcmp(arguments[at], "--go")) go = true;
    else if (!strcmp(arguments[at], "--commit")) commit = true;
    else if (!strcmp(arguments[at], "--map")) map = true;
    else if (!strcmp(arguments[at], "--start")) start = arguments[++at];
    else if (!strcmp(arguments[at], "--page")) page = shared_page((uint32_t)atoi(arguments[++at]));
    else if (!strcmp(arguments[at], "--cgroup")) cgroup = arguments[++at];
    else if (!strcmp(arguments[at], "--filter")) filter = arguments[++at];
    else if (!strcmp(arguments[at], "--die-at")) die_at = (uint32_t)atoi(arguments[++at]);
    else if (!strcmp(arguments[at], "--console")) listener = listen_at(arguments[++at]);
    else if (!strcmp(arguments[at], "--soft")) soft = (rlim_t)atoll(arguments[++at]);
    else if (!strcmp(arguments[at], "--rlimit")) limit = (rlim_t)atoll(arguments[++at]);
    else die(arguments[at]);
  }
  if (at + 2 >= count) die("usage");
  report = fdopen(3, "w");
  if (report == NULL) die("descriptor 3");
  setlinebuf(report);
  fcntl(3, F_SETFD, FD_CLOEXEC);
  // What the helper leaves behind is a child of drive: the runtime's caller plays subreaper.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) die("socketpair");
  int plan = sealed_plan(arguments[count - 1]);

  pid_t intermediate = fork();
  if (intermediate == 0) {
    char socket_text[16], plan_text[16], page_text[16];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (soft != 0) {
      struct rlimit both;
      getrlimit(RLIMIT_NOFILE, &both);
      both.rlim_cur = soft;
      setrlimit(RLIMIT_NOFILE, &both);
    }
    fcntl(pair[1], F_SETFD, 0);
    fcntl(plan, F_SETFD, 0);
    snprintf(socket_text, sizeof socket_text, "%d", pair[1]);
    snprintf(plan_text, sizeof plan_text, "%d", plan);
    char *command[32];
    int words = 0;
    for (int i = at + 1; i < count - 1 && words < 28; i++) command[words++] = arguments[i];
    command[words++] = "plan";
    command[words++] = socket_text;
    command[words++] = plan_text;
    snprintf(page_text, sizeof page_text, "%d", page);
    if (page >= 0) command[words++] = page_text;
    command[words] = NULL;
    execv(command[0], command);
    die(command[0]);
  }
  close(pair[1]);

  bool is_ready = false;
  for (;;) {
    struct {
      uint32_t type, op;
      int32_t error, value;
      uint32_t path_length, text_length;
      char bytes[40000];
    } message;
    union {
      char bytes[CMSG_SPACE(sizeof(int))];
      struct cmsghdr align;
    } control;
    struct iovec part = {&message, sizeof message};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t size = recvmsg(pair[0], &header, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 24) break;
    fprintf(report, "{\"type\":%u,\"op\":%d,\"errno\":%d,\"value\":%d", message.type, (int)message.op, message.error, message.value);
    put_string("path", message.bytes, message.path_length);
    put_string("text", message.bytes + message.path_length, message.text_length);
    fprintf(report, "}\n");
    if (message.type == die_at) _exit(0);
    // init stays until it has been looked at.
    if (message.type == MESSAGE_ERROR) shutdown(pair[0], SHUT_RDWR);
    if (message.type == MESSAGE_PID) {
      init = message.value;
      if (getenv("DRIVE_UNSEALED") != NULL && ftruncate(plan, 0) < 0) die("truncate");
      if (map) {
        put_file(init, "gid_map", "0 100000 65536\n");
        put_file(init, "uid_map", "0 100000 65536\n");
      }
      if (go) answer(pair[0], MESSAGE_GO);
      if (filter != NULL) send_file(pair[0], filter);
      if (cgroup != NULL) {
        if (mkdir(cgroup, 0755) < 0) die(cgroup);
        answer(pair[0], MESSAGE_CGROUP);
      }
    }
    // The intermediate's `pid` and init's `ready` race.
    if (message.type == MESSAGE_READY) is_ready = true;
    if (is_ready && init > 0) {
      is_ready = false;
      if (listener >= 0) master = accept_console(listener);
      if (limit != 0) {
        struct rlimit both = {limit, limit};
        if (prlimit(init, RLIMIT_NOFILE, &both, NULL) < 0) die("prlimit");
      }
      if (commit) answer(pair[0], MESSAGE_COMMIT);
      if (start != NULL) {
        int fifo = open(start, O_WRONLY | O_CLOEXEC);
        if (fifo < 0 || write(fifo, "0", 1) != 1) die(start);
        close(fifo);
      }
    }
    if (message.type == MESSAGE_CONSOLE) {
      struct cmsghdr *item = CMSG_FIRSTHDR(&header);
      if (item != NULL) memcpy(&master, CMSG_DATA(item), sizeof master);
    }
  }
  if (master >= 0) read_terminal(master);
  pid_t ended;
  while ((ended = waitpid(-1, &status, __WALL)) > 0) finish(ended == intermediate ? "intermediate" : ended == init ? "init" : "orphan", ended, status);
  return 0;
}
