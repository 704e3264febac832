#include "socket.h"

#include "../shared/sys.h"

long socket_send(int socket, struct iovec *parts, unsigned count, int descriptor, unsigned flags) {
  struct descriptor_control control = {offsetof(struct descriptor_control, padding), SOL_SOCKET_, SCM_RIGHTS_, descriptor, 0};
  struct message_header message = {.parts = parts, .part_count = count};
  if (descriptor >= 0) {
    message.control = &control;
    message.control_length = sizeof control;
  }
  long sent;
  sys_again(sent, __NR_sendmsg, socket, &message, MSG_NOSIGNAL_ | flags);
  return sent;
}

long socket_receive(int socket, void *bytes, size_t size, int *descriptor) {
  struct iovec part = {bytes, size};
  struct descriptor_control control = {.descriptor = -1};
  struct message_header message = {.parts = &part, .part_count = 1, .control = &control, .control_length = sizeof control};
  long received;
  sys_again(received, __NR_recvmsg, socket, &message, MSG_CMSG_CLOEXEC_);
  *descriptor = control.descriptor;
  return received;
}
