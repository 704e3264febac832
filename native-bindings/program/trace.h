#ifndef RUNT_PROGRAM_TRACE_H
#define RUNT_PROGRAM_TRACE_H
#include <quickjs.h>

/* Notes the time when the command line has the word --trace. */
void host_note_start(int argc, char **argv);
/* Call the callback with name and value of each function of the module; what it returns, unless undefined, takes the function's place. */
JSValue host_replace_functions(JSContext *ctx, JSModuleDef *module, const JSCFunctionListEntry *entries, int count, JSValueConst callback);

#endif
