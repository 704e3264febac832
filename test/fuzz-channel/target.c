/* libFuzzer's entry for the host's side of a machine's channel: the engine of runt, with the script that RUNT_CHANNEL names (subject.ts). */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions beside the one for UTF-8 are never called, and what they need stays unresolved. */
#include "../../native-bindings/host/text.c"

#define COUNTERS 1024
/* Frames under AddressSanitizer are some times as large. */
#define STACK_SIZE (4 << 20)
#define CASE_MOST (1 << 20)

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* What libFuzzer takes for feedback beside that of compiled code. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t counters[COUNTERS];

static JSContext *engine;
static JSValue execute, mutate, decode;

/* A string of the exception. */
static _Noreturn void tell(const char *what) {
    JSValue error = JS_GetException(engine);
    const char *text = JS_ToCString(engine, error);
    JSValue stack = JS_GetPropertyStr(engine, error, "stack");
    const char *place = JS_ToCString(engine, stack);
    fprintf(stderr, "%s: %s\n%s\n", what, text ? text : "?", place ? place : "");
    abort();
}

static JSValue decode_utf8(JSContext *ctx, JSValueConst self, int count, JSValueConst *values) {
    (void)self;
    (void)count;
    size_t offset, length, size;
    JSValue buffer = JS_GetTypedArrayBuffer(ctx, values[0], &offset, &length, NULL);
    if (JS_IsException(buffer)) return buffer;
    const uint8_t *bytes = JS_GetArrayBuffer(ctx, &size, buffer);
    JS_FreeValue(ctx, buffer);
    if (!bytes || host_utf8_prefix(bytes + offset, length) != length) return JS_ThrowTypeError(ctx, "not UTF-8");
    return JS_NewStringLen(ctx, (const char *)bytes + offset, length);
}

/* Takes the buffer. The engine reads an offset and a length, too, however many values it is told of. */
static JSValue bytes_in(JSValue buffer) {
    JSValue values[] = { buffer, JS_UNDEFINED, JS_UNDEFINED };
    JSValue bytes = JS_NewTypedArray(engine, 3, values, JS_TYPED_ARRAY_UINT8);
    JS_FreeValue(engine, buffer);
    return bytes;
}

static JSValue bytes_of(const uint8_t *data, size_t size) { return bytes_in(JS_NewArrayBufferCopy(engine, data, size)); }

static char *read_script(const char *path, size_t *size) {
    FILE *file = path ? fopen(path, "rb") : NULL;
    char *text = malloc(CASE_MOST);
    if (!file || !text) {
        fprintf(stderr, "RUNT_CHANNEL names no script\n");
        exit(1);
    }
    *size = fread(text, 1, CASE_MOST - 1, file);
    text[*size] = 0;
    fclose(file);
    return text;
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count;
    (void)arguments;
    JSRuntime *runtime = JS_NewRuntime();
    JS_SetMaxStackSize(runtime, STACK_SIZE);
    engine = JS_NewContext(runtime);
    JSValue global = JS_GetGlobalObject(engine);
    JS_SetPropertyStr(engine, global, "__hit", bytes_in(JS_NewArrayBuffer(engine, counters, sizeof(counters), NULL, NULL, false)));
    size_t size;
    char *script = read_script(getenv("RUNT_CHANNEL"), &size);
    JSValue done = JS_Eval(engine, script, size, "subject", JS_EVAL_TYPE_GLOBAL);
    if (JS_IsException(done)) tell("the script does not run");
    JS_FreeValue(engine, done);
    free(script);
    JSValue subject = JS_GetPropertyStr(engine, global, "subject");
    execute = JS_GetPropertyStr(engine, subject, "execute");
    mutate = JS_GetPropertyStr(engine, subject, "mutate");
    decode = JS_NewCFunction(engine, decode_utf8, "decode", 1);
    JS_FreeValue(engine, subject);
    JS_FreeValue(engine, global);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    JSValue values[] = { bytes_of(data, size), decode };
    JSValue result = JS_Call(engine, execute, JS_UNDEFINED, 2, values);
    if (JS_IsException(result)) tell("finding");
    JS_FreeValue(engine, result);
    JS_FreeValue(engine, values[0]);
    return 0;
}

/* Every other time one thing that means something is made wrong. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    if (seed & 1) return LLVMFuzzerMutate(data, size, most);
    JSValue values[] = { bytes_of(data, size), JS_NewUint32(engine, seed) };
    JSValue result = JS_Call(engine, mutate, JS_UNDEFINED, 2, values);
    if (JS_IsException(result)) tell("the mutator fails");
    size_t offset, length, whole;
    JSValue buffer = JS_GetTypedArrayBuffer(engine, result, &offset, &length, NULL);
    const uint8_t *bytes = JS_GetArrayBuffer(engine, &whole, buffer);
    if (!bytes || length > most) length = size;
    else memcpy(data, bytes + offset, length);
    JS_FreeValue(engine, buffer);
    JS_FreeValue(engine, result);
    JS_FreeValue(engine, values[0]);
    return length;
}
