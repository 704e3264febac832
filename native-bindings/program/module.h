#ifndef RUNT_PROGRAM_MODULE_H
#define RUNT_PROGRAM_MODULE_H
#include <quickjs.h>

JSModuleDef *host_new_module(JSContext *ctx);

#endif
