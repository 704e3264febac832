/* secrets leave SECRET: puts it wherever one container might leave it for the next one. secrets look SECRET: prints each of these places where it is.
 * secrets stay SECRET: as leave, and does not end. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define KEY 0x5ec
#define SIZE 4096
#define USER_KEYRING -4
#define SEARCH 10
#define READ 11

struct message {
  long type;
  char text[64];
};

static void leave(const char *secret) {
  int segment = shmget(KEY, SIZE, IPC_CREAT | 0666);
  char *at = segment < 0 ? (char *)-1 : shmat(segment, NULL, 0);
  if (at != (char *)-1) strcpy(at, secret);
  struct message message = {1, ""};
  strncpy(message.text, secret, sizeof message.text - 1);
  msgsnd(msgget(KEY, IPC_CREAT | 0666), &message, sizeof message.text, IPC_NOWAIT);
  semctl(semget(KEY, 1, IPC_CREAT | 0666), 0, SETVAL, 77);
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  strncpy(name.sun_path + 1, secret, sizeof name.sun_path - 2);
  bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, sizeof name);
  syscall(SYS_add_key, "user", "box", secret, strlen(secret), USER_KEYRING);
}

static void look(const char *secret) {
  int segment = shmget(KEY, 0, 0);
  if (segment >= 0) puts("shared memory");
  struct message message;
  if (msgrcv(msgget(KEY, 0), &message, sizeof message.text, 0, IPC_NOWAIT) >= 0) puts("message queue");
  if (semctl(semget(KEY, 1, 0), 0, GETVAL) == 77) puts("semaphore");
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  strncpy(name.sun_path + 1, secret, sizeof name.sun_path - 2);
  if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, sizeof name) == 0) puts("abstract socket");
  char text[64] = "";
  long key = syscall(SYS_keyctl, SEARCH, USER_KEYRING, "user", "box", 0);
  if (key > 0 && syscall(SYS_keyctl, READ, key, text, sizeof text - 1) > 0) puts("keyring");
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  if (strcmp(arguments[1], "look") == 0) look(arguments[2]);
  else leave(arguments[2]);
  if (strcmp(arguments[1], "stay") == 0) pause();
  return 0;
}
