/* The started engine. */
#ifndef RUNT_PROGRAM_IMAGE_H
#define RUNT_PROGRAM_IMAGE_H
#include <quickjs.h>

/* The context of the engine, which is started if the image has none. `make_module` adds the module "runt:host" to it. */
JSContext *host_engine(JSModuleDef *(*make_module)(JSContext *ctx));
/* The module "runt:host". */
JSModuleDef *host_own_module(void);

#endif
