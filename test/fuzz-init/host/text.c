/* Bytes that have to be UTF-8: names and contents of files. */
#include "../../../native-bindings/host/text.c"

#include <stdlib.h>
#include <string.h>

#include "parsers.h"

void parse_utf8(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    if (!bytes) abort();
    memcpy(bytes, data, size);
    size_t prefix = host_utf8_prefix(bytes, size);
    /* What was accepted stays accepted alone; what follows does not begin a character. */
    if (prefix > size || host_utf8_prefix(bytes, prefix) != prefix) abort();
    if (prefix < size && host_utf8_prefix(bytes + prefix, size - prefix) != 0) abort();
    free(bytes);
}
