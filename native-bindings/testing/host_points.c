#include "host_points.h"

#include "../host/arguments.h"
#include "../host/error.h"

#include <string.h>
#include <unistd.h>

#define EXPORTS_MOST 256

// clang-format off
/* No system call, or one that says something of this process and cannot fail: no point. close(2) never fails for what is closed here,
   and a wait is no more than the time that it takes. */
static const char *const WITHOUT[] = {
    "argv", "getenv", "resource", "utf8Encode", "utf8Decode", "sha256", "needsExactParser", "findNext", "close", "cwd", "isatty",
    "fdIsOpen", "windowSize", "getpid", "getppid", "geteuid", "getegid", "now", "monotonic", "sleep", "strerror", "errnoName",
    "effectiveCapabilities", "kernelRelease", "seccompCompile", "addRow", "poll", "umask", "clock", "usage", "replaceExports",
};

/* May fail, but changes nothing: one point, in front. */
static const char *const READING[] = {
    "readFile", "readFd", "readBytes", "readOwn", "pread", "stat", "lstat", "fstat", "statfsType", "access", "readdir", "readlink", "realpath",
    "getxattr", "standardStreams", "procStat", "runningState", "addContainers", "readMembers", "readLine", "userName", "bpfQueryDevice", "drain",
};
// clang-format on

static struct {
  const JSCFunctionListEntry *plain;
  JSCFunctionListEntry table[EXPORTS_MOST];
  bool reads[EXPORTS_MOST];
} points;

static bool is_among(const char *const *names, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

static JSValue pass(JSContext *ctx, const char *when, const char *name, JSValueConst first, JSValue result) {
  const char *which = JS_IsString(first) ? JS_ToCString(ctx, first) : NULL;
  long error = testing_point(when, name, which);
  if (error < 0) {
    JS_FreeValue(ctx, result);
    result = host_throw(ctx, (int)-error, name, which);
  }
  if (which) JS_FreeCString(ctx, which);
  return result;
}

static JSValue call(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int index) {
  const JSCFunctionListEntry *plain = &points.plain[index];
  JSValueConst first = host_arg(argc, argv, 0);
  JSValue result = pass(ctx, "before", plain->name, first, JS_UNDEFINED);
  if (JS_IsException(result)) return result;
  result = plain->u.func.cfunc.generic(ctx, this_value, argc, argv);
  return points.reads[index] || JS_IsException(result) ? result : pass(ctx, "after", plain->name, first, result);
}

const JSCFunctionListEntry *host_points(const JSCFunctionListEntry *exports, int count) {
  if (count > EXPORTS_MOST) _exit(1);
  points.plain = exports;
  for (int i = 0; i < count; i++) {
    points.table[i] = exports[i];
    if (exports[i].def_type != JS_DEF_CFUNC || is_among(WITHOUT, ARRAY_LENGTH(WITHOUT), exports[i].name)) continue;
    points.reads[i] = is_among(READING, ARRAY_LENGTH(READING), exports[i].name);
    points.table[i].magic = (int16_t)i;
    points.table[i].u.func.cproto = JS_CFUNC_generic_magic;
    points.table[i].u.func.cfunc.generic_magic = call;
  }
  return points.table;
}

void host_testing_begin(JSContext *ctx) {
  testing_begin(environ, "runtime");
  const char *disabled_defences = testing_disabled_defences();
  const char *disabled = testing_disabled();
  JSValue global = JS_GetGlobalObject(ctx);
  JS_SetPropertyStr(ctx, global, "RUNT_DISABLED_DEFENCES", JS_NewString(ctx, disabled_defences ? disabled_defences : ""));
  JS_SetPropertyStr(ctx, global, "RUNT_DISABLED", JS_NewString(ctx, disabled ? disabled : ""));
  JS_FreeValue(ctx, global);
}

char **host_testing_environment(void) {
  static char *kept[8];
  static const char prefix[] = "RUNT_";
  size_t count = 0;
  for (char **at = environ; *at && count + 1 < ARRAY_LENGTH(kept); at++)
    if (strncmp(*at, prefix, sizeof(prefix) - 1) == 0) kept[count++] = *at;
  kept[count] = NULL;
  return kept;
}
