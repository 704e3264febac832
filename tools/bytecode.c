/*
 * ES modules -> QuickJS bytecode, many in one run.
 * Usage: bytecode [-g] OUTPUT-DIRECTORY SOURCE-DIRECTORY NAME...   (NAME.js -> NAME.bin; -g keeps names, lines and source)
 */
#include <quickjs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int nothing(JSContext *ctx, JSModuleDef *module) {
    (void)ctx;
    (void)module;
    return 0;
}

/* Imports are resolved when the program runs; the compiler only wants to see that there is a module. */
static JSModuleDef *any_module(JSContext *ctx, const char *name, void *opaque) {
    (void)opaque;
    return JS_NewCModule(ctx, name, nothing);
}

static char *keep_name(JSContext *ctx, const char *base, const char *name, void *opaque) {
    (void)base;
    (void)opaque;
    return js_strdup(ctx, name);
}

static void die(const char *what, const char *name) {
    fprintf(stderr, "bytecode: %s %s\n", what, name);
    exit(1);
}

static char *read_source(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) die("cannot read", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    if (size < 0) die("cannot read", path);
    char *text = malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) die("cannot read", path);
    fclose(file);
    text[size] = 0; /* the parser wants it */
    *length = (size_t)size;
    return text;
}

static void compile(const char *source, const char *output, const char *name, int strip) {
    char path[4096];
    size_t length;
    JSRuntime *rt = JS_NewRuntime();
    JSContext *ctx = JS_NewContext(rt);
    JS_SetStripInfo(rt, strip);
    JS_SetModuleLoaderFunc(rt, keep_name, any_module, NULL);
    snprintf(path, sizeof(path), "%s/%s.js", source, name);
    char *text = read_source(path, &length);
    JSValue module = JS_Eval(ctx, text, length, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
    if (JS_IsException(module)) {
        const char *message = JS_ToCString(ctx, JS_GetException(ctx));
        fprintf(stderr, "%s\n", message ? message : "?");
        die("cannot compile", path);
    }
    size_t size;
    uint8_t *code = JS_WriteObject(ctx, &size, module, JS_WRITE_OBJ_BYTECODE);
    if (!code) die("cannot serialise", path);
    snprintf(path, sizeof(path), "%s/%s.bin", output, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(code, 1, size, file) != size || fclose(file) != 0) die("cannot write", path);
    /* The process ends soon: nothing is freed. */
}

int main(int argc, char **argv) {
    int strip = JS_STRIP_DEBUG;
    int at = 1;
    if (argc > 1 && strcmp(argv[1], "-g") == 0) {
        strip = 0;
        at = 2;
    }
    if (argc - at < 3) die("usage:", "bytecode [-g] OUTPUT-DIRECTORY SOURCE-DIRECTORY NAME...");
    for (int i = at + 2; i < argc; i++) compile(argv[at + 1], argv[at], argv[i], strip);
    return 0;
}
