/* Answers of the calls that send and receive messages. */
#include "kernel.h"

#include <string.h>

static void check_message(struct message_header *message, bool out) {
  check_writable(message, sizeof *message);
  check_readable(message->parts, message->part_count * sizeof *message->parts);
  for (size_t i = 0; i < message->part_count; i++) {
    if (out) check_readable(message->parts[i].iov_base, message->parts[i].iov_len);
    else check_writable(message->parts[i].iov_base, message->parts[i].iov_len);
  }
  if (message->control_length == 0) return;
  if (message->control_length < sizeof(struct descriptor_control)) finding("room for control messages is too small", (long)message->control_length);
  check_writable(message->control, message->control_length);
}

static long answer_sendmsg(struct message_header *message) {
  check_message(message, true);
  size_t size = 0;
  for (size_t i = 0; i < message->part_count; i++) size += message->parts[i].iov_len;
  if (message->control_length > 0) {
    const struct descriptor_control *control = message->control;
    if (control->level != SOL_SOCKET_ || control->type != SCM_RIGHTS_ || control->length != offsetof(struct descriptor_control, padding))
      finding("a malformed control message", (long)control->length);
    if (descriptor_get(control->descriptor) == NULL) return -EBADF;
  }
  return (long)size;
}

/* Without a rule it is what the operation waits for. Of a rule's bytes bit 0 of the first says whether a descriptor comes, the rest is the message. */
static long answer_recvmsg(struct message_header *message, const struct answer *answer) {
  check_message(message, false);
  uint8_t *to = message->parts[0].iov_base;
  size_t room = message->parts[0].iov_len, size = room < 24 ? room : 24;
  bool brings = kernel.wanted_message == MESSAGE_FILTER_;
  memset(to, 0, size);
  case_store32(to, kernel.wanted_message);
  if (answers(answer, ACTION_VALUE)) return answer->value & 1 ? 0 : -ECONNRESET;
  if (answers(answer, ACTION_DATA) && answer->rule->length > 0) {
    size = answer->rule->length - 1u < room ? answer->rule->length - 1u : room;
    memcpy(to, answer->rule->data + 1, size);
    brings = (answer->rule->data[0] & 1) != 0;
  }
  if (!brings || message->control == NULL) return (long)size;
  int fd = descriptor_new(KIND_FILTER, object_new(), true);
  if (fd < 0) return fd;
  *(struct descriptor_control *)message->control = (struct descriptor_control){offsetof(struct descriptor_control, padding), SOL_SOCKET_, SCM_RIGHTS_, fd, 0};
  return (long)size;
}

static long answer_recvfrom(uint8_t *to, size_t size, const struct answer *answer) {
  uint32_t offset = 0;
  if (answers(answer, ACTION_VALUE)) return 0;
  return answer->rule == NULL ? -EAGAIN : give_bytes(answer, to, size, "", &offset);
}

long answer_messages(enum call call, const long *a, const struct answer *answer) {
  switch (call) {
    case CALL_sendmsg:
      return answer_sendmsg((struct message_header *)a[1]);
    case CALL_recvmsg:
      return answer_recvmsg((struct message_header *)a[1], answer);
    case CALL_recvfrom:
      return answer_recvfrom((uint8_t *)a[1], (size_t)a[2], answer);
    case CALL_socket:
      return descriptor_new(KIND_SOCKET, object_new(), true);
    default:
      return NOT_MINE;
  }
}
