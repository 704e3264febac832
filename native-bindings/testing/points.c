#include "points.h"

#include "../init/run.h"
#include "../shared/sys.h"

static const char *operation_name(uint32_t operation) {
  switch (operation) {
#define X(name, text, number, actors) \
  case OP_##name: return text;
    HELPER_OPS(X)
#undef X
  }
  return "operation";
}

static const char *message_name(uint32_t type) {
  static const char *const names[] = {
      [MESSAGE_PID] = "pid",
      [MESSAGE_GO] = "go",
      [MESSAGE_READY] = "ready",
      [MESSAGE_ERROR] = "error",
      [MESSAGE_WARNING] = "warning",
      [MESSAGE_COMMIT] = "commit",
      [MESSAGE_CONSOLE] = "console",
      [MESSAGE_HOOKS] = "hooks",
      [MESSAGE_RESUME] = "resume",
      [MESSAGE_LISTENER] = "listener",
      [MESSAGE_CGROUP] = "cgroup",
      [MESSAGE_FILTER] = "filter",
      [MESSAGE_BIRTHPLACE] = "birthplace",
      [MESSAGE_PLAN] = "plan",
      [MESSAGE_NAMESPACES] = "namespaces",
  };
  return type < sizeof names / sizeof *names && names[type] != NULL ? names[type] : "unknown";
}

long point_operation(struct run *run, const char *when, uint32_t operation) {
  long error = testing_point(when, operation_name(operation), NULL);
  return error < 0 ? fail(run, error, NULL, "fault for tests") : 0;
}

long point_message(const char *when, uint32_t type) { return testing_point(when, message_name(type), NULL); }
