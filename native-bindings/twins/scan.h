#ifndef RUNT_TWINS_SCAN_H
#define RUNT_TWINS_SCAN_H
#include "../host/function.h"

#define JSON_MOST_NAMES 32
struct json_name {
    const char *text;
    size_t length;
    unsigned end;        /* behind its own members, which follow it */
    uint64_t head, mask; /* the first eight bytes, and which of them count */
};
struct json_names {
    unsigned count;
    unsigned top_level;
    struct json_name list[JSON_MOST_NAMES];
};
/* The words of "a b(c d) e": the members a and e, and c and d of the object b. They stay in the text. False: it is no such list. */
bool json_read_names(const char *text, struct json_names *names);
/* The text of a value. */
struct json_span {
    uint8_t *start; /* NULL: the member is absent */
    uint8_t *end;
};
/* The values of these members of an object, in the order of the names. The text is valid UTF-8 with a NUL behind it. *left: how many are absent,
   without those of objects; with 0 the rest of the text was not looked at. False: it is not understood. */
bool json_scan(uint8_t *text, size_t length, const struct json_names *names, struct json_span *spans, unsigned *left);

/* From behind an opening quote to behind the closing one, or NULL. *plain becomes false when there is an escape. */
uint8_t *json_skip_string(uint8_t *at, const uint8_t *end, bool *plain);

#endif
