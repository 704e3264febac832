/*
 * The floor of `run`: this program executes a plan that was made before. It makes only the system calls that the runtime cannot avoid: it puts
 * the plan into a memfd, makes the socket pair and the cgroups, writes their values, answers the helper and waits for the end. It has no
 * JavaScript engine, configuration, state or monitor.
 * Usage: floor HELPER PLAN SCRIPT. SCRIPT has one operation of the runtime a line, in the order of the plan:
 *     mkdir PATH | write PATH VALUE | devices PATH PROGRAM | spawn | send TYPE [FILE] | wait TYPE
 * FILE goes with the message, as a descriptor.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SCRIPT_MAX = 1 << 20, MESSAGE_MAX = 40000, MAX_MADE = 64, MAX_EARLY = 8, MESSAGE_PID = 1, MESSAGE_ERROR = 4 };

extern char **environ;

static char script[SCRIPT_MAX];
static const char *made[MAX_MADE];
static int made_count, sock = -1;
static pid_t intermediate = -1, init = -1;
static uint32_t early[MAX_EARLY];
static int early_count;

static void die(const char *what) {
  perror(what);
  exit(99);
}

static int sealed_plan(const char *path) {
  static char bytes[SCRIPT_MAX];
  int in = open(path, O_RDONLY | O_CLOEXEC), out = memfd_create("plan", MFD_ALLOW_SEALING);
  if (in < 0 || out < 0) die(path);
  ssize_t size = read(in, bytes, sizeof bytes);
  if (size <= 0 || write(out, bytes, (size_t)size) != size) die("plan");
  if (fcntl(out, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0) die("seals");
  close(in);
  return out;
}

static void spawn_helper(char *helper, const char *plan_path) {
  int pair[2], plan = sealed_plan(plan_path);
  char socket_text[16], plan_text[16];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) die("socketpair");
  if (fcntl(pair[1], F_SETFD, 0) < 0) die("fcntl");
  snprintf(socket_text, sizeof socket_text, "%d", pair[1]);
  snprintf(plan_text, sizeof plan_text, "%d", plan);
  char plan_word[] = "plan";
  char *argv[] = {helper, plan_word, socket_text, plan_text, NULL};
  if (posix_spawn(&intermediate, helper, NULL, NULL, argv, environ) != 0) die(helper);
  close(pair[1]);
  close(plan);
  sock = pair[0];
}

static void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) die(path);
  close(fd);
}

/* Attach the BPF program in a file as the device policy of a v2 cgroup. */
static void attach_devices(const char *cgroup, const char *program_path) {
  static struct bpf_insn instructions[1 << 12];
  int file = open(program_path, O_RDONLY | O_CLOEXEC), directory = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ssize_t size = read(file, instructions, sizeof instructions);
  if (file < 0 || directory < 0 || size <= 0) die(program_path);
  union bpf_attr load = {
      .prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
      .insn_cnt = (uint32_t)((size_t)size / sizeof *instructions),
      .insns = (uintptr_t)instructions,
      .license = (uintptr_t) "Apache-2.0",
  };
  int program = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof load);
  if (program < 0) die("BPF_PROG_LOAD");
  union bpf_attr attach = {.target_fd = (uint32_t)directory, .attach_bpf_fd = (uint32_t)program, .attach_type = BPF_CGROUP_DEVICE,
                           .attach_flags = BPF_F_ALLOW_MULTI};
  if (syscall(SYS_bpf, BPF_PROG_ATTACH, &attach, sizeof attach) < 0) die("BPF_PROG_ATTACH");
  close(program);
  close(directory);
  close(file);
}

static void wait_for(uint32_t wanted) {
  for (int i = 0; i < early_count; i++)
    if (early[i] == wanted) {
      early[i] = early[--early_count];
      return;
    }
  for (;;) {
    static struct {
      uint32_t type, op;
      int32_t error, value;
      uint32_t path_length, text_length;
      char bytes[MESSAGE_MAX];
    } message;
    if (recv(sock, &message, sizeof message, 0) < 24) die("the helper has ended");
    if (message.type == MESSAGE_ERROR) {
      fprintf(stderr, "floor: operation %u: %s: %.*s\n", message.op, strerror(message.error), (int)message.path_length, message.bytes);
      exit(1);
    }
    if (message.type == MESSAGE_PID) {
      init = message.value;
      waitpid(intermediate, NULL, 0);
    }
    if (message.type == wanted) return;
    if (early_count < MAX_EARLY) early[early_count++] = message.type;
  }
}

/* A message of this type, with a descriptor of the file if there is one. */
static void send_message(uint32_t type, const char *file) {
  uint32_t message[6] = {type};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  struct iovec text = {message, sizeof message};
  struct msghdr whole = {.msg_iov = &text, .msg_iovlen = 1};
  int fd = -1;
  if (file != NULL) {
    if ((fd = open(file, O_RDONLY | O_CLOEXEC)) < 0) die(file);
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    whole.msg_control = &control;
    whole.msg_controllen = sizeof control;
  }
  if (sendmsg(sock, &whole, MSG_NOSIGNAL) < 0) die("send");
  if (fd >= 0) close(fd);
}

static void operate(char *line, char **argv) {
  char *word = strtok(line, " "), *path = strtok(NULL, " "), *rest = strtok(NULL, "");
  if (strcmp(word, "spawn") == 0) {
    spawn_helper(argv[1], argv[2]);
  } else if (strcmp(word, "mkdir") == 0) {
    if (mkdir(path, 0755) < 0 || made_count == MAX_MADE) die(path);
    made[made_count++] = path;
  } else if (strcmp(word, "write") == 0) {
    write_file(path, rest == NULL ? "" : rest);
  } else if (strcmp(word, "devices") == 0) {
    attach_devices(path, rest);
  } else if (strcmp(word, "send") == 0) {
    send_message((uint32_t)atoi(path), rest);
  } else if (strcmp(word, "wait") == 0) {
    wait_for((uint32_t)atoi(path));
  } else {
    die(word);
  }
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int fd = open(argv[3], O_RDONLY | O_CLOEXEC), status = 0;
  if (fd < 0 || read(fd, script, sizeof script - 1) < 0) die(argv[3]);
  close(fd);
  for (char *line = script, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    *end = 0;
    operate(line, argv);
  }
  if (waitpid(init, &status, __WALL) < 0) die("init");
  while (made_count > 0)
    if (rmdir(made[--made_count]) < 0) die(made[made_count]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
