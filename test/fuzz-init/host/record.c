/* Records of the state directory, of which a list takes some members without parsing the rest. */
#include "../../../native-bindings/twins/scan.c"

#include <stdlib.h>

#include "parsers.h"

static const char *const LISTS[] = {
    "schema minor id phase ociVersion bundle rootfs created owner pid startTime annotations cgroup(version paths)",
    "id",
    "cgroup(version paths) pid",
    "longer-than-eight longer-than-eigh",
};

static int is_within(const struct json_span *span, const uint8_t *text, size_t size) {
    return span->start >= text && span->end > span->start && span->end <= text + size;
}

/* The first byte says which members are wanted. What is found is a value of its own, and found again in the same place. */
void parse_record(const uint8_t *data, size_t size) {
    struct json_names names;
    struct json_span spans[JSON_MOST_NAMES], again[JSON_MOST_NAMES];
    unsigned left, left_again;
    if (size == 0) return;
    if (!json_read_names(LISTS[data[0] % (sizeof(LISTS) / sizeof(LISTS[0]))], &names)) abort();
    uint8_t *text = malloc(size);
    if (!text) abort();
    memcpy(text, data + 1, --size);
    text[size] = 0;
    if (json_scan(text, size, &names, spans, &left)) {
        if (left > names.top_level || memcmp(text, data + 1, size) != 0) abort();
        for (unsigned i = 0; i < names.count; i++) {
            if (!spans[i].start) continue;
            if (!is_within(&spans[i], text, size)) abort();
            if (skip_value(spans[i].start, text + size, 0) != spans[i].end) abort();
        }
        if (!json_scan(text, size, &names, again, &left_again) || left != left_again) abort();
        if (memcmp(spans, again, names.count * sizeof(spans[0])) != 0) abort();
    }
    free(text);
}
