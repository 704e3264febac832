/* The started engine. */
#ifndef RUNT_PROGRAM_IMAGE_H
#define RUNT_PROGRAM_IMAGE_H
#include <stdbool.h>

#include <quickjs.h>

JSContext *host_engine(void);
extern bool host_building_image;
/* The module "runt:host". */
JSModuleDef *host_own_module(void);

#endif
