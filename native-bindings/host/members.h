#ifndef RUNT_HOST_MEMBERS_H
#define RUNT_HOST_MEMBERS_H
#include "function.h"

/* Those of the JSON object in this text, which is valid UTF-8 with a NUL behind it and may be written to; JS_UNDEFINED when it is not understood.
   `into`: undefined, or what a former call with these names has given, which may be filled anew. */
JSValue host_json_members(JSContext *ctx, uint8_t *text, size_t length, JSValueConst name_list, JSValueConst into);

#endif
