/* The rendezvous with the runtime: messages out, messages in, and the last message on stderr. */
#include "../testing/points.h"
#include "../shared/spin_wait.h"
#include "protocol/errors.h"
#include "run.h"
#include "socket.h"
#include "../shared/sys.h"

/* A SOCK_SEQPACKET message must fit the socket's buffer. */
#define TEXT_MAX 16384u

void put_error(struct buffer *out, long error) {
  switch (-error) {
#define CASE(number, text) \
  case number: return put_text(out, text);
    HELPER_ERRORS(CASE)
  }
  put_text(out, "errno ");
  put_i64(out, -error);
}

long fail_detail(struct run *run, long error, const char *path, const char *text, const char *detail) {
  struct buffer out = BUFFER(run->failed_text);
  put_text(&out, text != NULL ? text : "");
  if (detail != NULL && *detail != 0) {
    put_text(&out, ": ");
    put_text(&out, detail);
  }
  run->failed_path = path;
  return error;
}

long fail(struct run *run, long error, const char *path, const char *text) { return fail_detail(run, error, path, text, NULL); }

long finish(struct run *run, long result, const char *path, const char *text) { return result < 0 ? fail(run, result, path, text) : 0; }

long send_message(struct run *run, uint32_t type, int32_t error, int32_t value, const char *path, const char *text, int descriptor) {
  size_t path_length = path == NULL ? 0 : strlen(path), text_length = text == NULL ? 0 : strlen(text);
  if (path_length > TEXT_MAX) path_length = TEXT_MAX;
  if (text_length > TEXT_MAX) text_length = TEXT_MAX;
  struct message_head head = {type, run->index, error, value, (uint32_t)path_length, (uint32_t)text_length};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)path, path_length}, {(void *)text, text_length}};
  long result = POINT_MESSAGE("before sending", type);
  if (result < 0) return result;
  result = socket_send(run->socket, parts, 3, descriptor, 0);
  spin_notify(run->progress, PAGE_SENT_TO_RUNTIME);
  return result < 0 ? result : POINT_MESSAGE("after sending", type);
}

void warn(struct run *run, long error, const char *path, const char *text) {
  send_message(run, MESSAGE_WARNING, (int32_t)-error, 0, path, text, -1);
}

void spin_yield(void) { sys(__NR_sched_yield); }

long receive_message(struct run *run, uint32_t type, int *descriptor) {
  struct message_head head;
  int got;
  long size = POINT_MESSAGE("before receiving", type);
  if (size < 0) return fail(run, size, NULL, "read of a rendezvous message");
  spin_wait(run->progress, PAGE_SENT_TO_HELPER, run->heard++);
  size = socket_receive(run->socket, &head, sizeof head, &got);
  // The runtime is gone: what it began is undone by `delete --force`, and nobody is left to tell.
  if (size == 0 || size == -ECONNRESET) sys_exit(1);
  if (size < 0) return fail(run, size, NULL, "read of a rendezvous message");
  if (size < (long)sizeof head.type || head.type != type) return fail(run, -EPROTO, NULL, "unexpected rendezvous message");
  // The kernel drops a descriptor for which there is no number (unix(7)).
  if (descriptor != NULL && got < 0) return fail(run, -EMFILE, NULL, "read of a rendezvous message");
  if (descriptor != NULL) *descriptor = got;
  // No descriptor was expected, so nobody would close it.
  else if (got >= 0) sys_close(got);
  size = POINT_MESSAGE("after receiving", type);
  return finish(run, size, NULL, "read of a rendezvous message");
}

long wait_message(struct run *run, uint32_t type) { return receive_message(run, type, NULL); }
