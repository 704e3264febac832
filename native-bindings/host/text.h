#ifndef RUNT_HOST_TEXT_H
#define RUNT_HOST_TEXT_H
#include "function.h"

bool host_is_ascii(const uint8_t *data, size_t length);
/* Length of the valid UTF-8 prefix of data. */
size_t host_utf8_prefix(const uint8_t *data, size_t length);
/* A string value, or EILSEQ thrown. */
JSValue host_utf8_string(JSContext *ctx, const uint8_t *data, size_t length, const char *path);

#endif
