/*
 * Rows of ordinary containers, made without JavaScript values, because a list has thousands. Everything unusual (another schema, damage, an error, a verb
 * at work) is left to the caller, whose TypeScript gives the same rows and handles every case.
 *
 * Twin: src/runtime/verbs/list.ts with src/runtime/state/describe.ts, src/runtime/state/describe.ts and src/runtime/cgroup/driver/freeze.ts.
 * Compared by: test/e2e/list.test.ts. Gain: docs/startup.md#list.
 */
#include "../host/arguments.h"
#include "../host/copy.h"
#include "../host/files.h"
#include "../host/function.h"
#include "../host/proc_stat.h"
#include "../host/rows.h"
#include "../host/text.h"
#include "scan.h"
#include "protocol/state_summary.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_RECORD ((size_t)32 << 10)
/* Names and values of src/runtime/state/record.ts and src/runtime/plan. */
#define RECORD "/state.json"
#define FIFO "/exec.fifo"
#define LONGEST_OWNER 10

static const char NAMES[] = SUMMARY_MEMBERS;
_Static_assert(SUMMARY_COUNT <= JSON_MOST_NAMES, "room for what is found");

enum { CELL_ID, CELL_PID, CELL_STATUS, CELL_BUNDLE, CELL_CREATED, CELL_OWNER, CELLS };

struct list {
    JSContext *ctx;
    int directory;
    uint32_t schema, minor;
    const char *awake; /* states of init in which no v1 cgroup has frozen it */
    JSValueConst owner_name;
    /* The last one that was asked for. */
    char owner[LONGEST_OWNER];
    size_t owner_length;
    struct row_cell owner_cell;
};

enum outcome { ADDED, LEFT, FAILED };
enum status { STOPPED, PAUSED, CREATED_YET, RUNNING, UNKNOWN };

#define CELL(text) \
    (struct row_cell) { (const uint8_t *)(text), sizeof(text) - 1 }

static size_t length_of(struct json_span text) { return (size_t)(text.end - text.start); }

/* What is between the quotes of a string without escapes. False: it is none. */
static bool string_of(struct json_span text, struct row_cell *out) {
    bool plain = true;
    if (!text.start || *text.start != '"') return false;
    json_skip_string(text.start + 1, text.end, &plain);
    *out = (struct row_cell){ text.start + 1, length_of(text) - 2 };
    return plain;
}

static bool is_text(struct row_cell cell, const char *text, size_t length) {
    size_t i = 0;
    if (cell.length != length) return false;
    while (i < length && cell.text[i] == (uint8_t)text[i]) i++;
    return i == length;
}

/* An integer as JavaScript writes it, of at most nine digits. */
static bool number_of(struct json_span text, uint32_t *out) {
    if (!text.start || length_of(text) > 9) return false;
    *out = 0;
    for (const uint8_t *at = text.start; at < text.end; at++) {
        if (*at < '0' || *at > '9') return false;
        *out = *out * 10 + (uint32_t)(*at - '0');
    }
    return true;
}

static bool begins(struct json_span text, char with) { return text.start && *text.start == with; }

/* What peek (src/runtime/state/describe.ts) wants of a record, and a container that was made. */
static bool is_sound(const struct list *list, const struct json_span *spans, struct row_cell id) {
    uint32_t schema, minor, pid;
    struct row_cell own, phase;
    return number_of(spans[SUMMARY_SCHEMA], &schema) && schema == list->schema && number_of(spans[SUMMARY_MINOR], &minor) &&
           minor >= list->minor && string_of(spans[SUMMARY_ID], &own) && is_text(own, (const char *)id.text, id.length) &&
           string_of(spans[SUMMARY_PHASE], &phase) && is_text(phase, "created", 7) && number_of(spans[SUMMARY_PID], &pid) && pid > 0 &&
           begins(spans[SUMMARY_ANNOTATIONS], '{') && (!spans[SUMMARY_CGROUP].start || begins(spans[SUMMARY_CGROUP_PATHS], '['));
}

/* ID/NAME below the root. */
static const char *below(struct row_cell id, const char *name, size_t size) {
    static char path[NAME_MAX + 16];
    host_copy_few((uint8_t *)path, id.text, id.length);
    memcpy(path + id.length, name, size);
    return path;
}

/* The text of the record, with a NUL behind it, and its length; 0: that is for the caller to see. */
static size_t read_record(const struct list *list, struct row_cell id, uint8_t text[LARGEST_RECORD]) {
    int fd = host_open_retry(list->directory, below(id, RECORD, sizeof(RECORD)), O_RDONLY | HOST_OWN_FILE, 0);
    if (fd < 0) return 0;
    ssize_t length = read(fd, text, LARGEST_RECORD);
    close(fd);
    if (length <= 0 || (size_t)length == LARGEST_RECORD) return 0;
    text[length] = 0;
    return (size_t)length;
}

/* The first of the paths that holds `part`, or the first of all; `name` is put behind it. */
static bool path_in(struct json_span paths, const char *part, const char *name, char out[PATH_MAX]) {
    for (uint8_t *at = paths.start; (at = memchr(at, '"', (size_t)(paths.end - at))) != NULL;) {
        bool plain = true;
        uint8_t *start = at + 1;
        at = json_skip_string(start, paths.end, &plain);
        size_t length = (size_t)(at - 1 - start);
        if (!plain || length + strlen(name) >= PATH_MAX) return false;
        if (part && !memmem(start, length, part, strlen(part))) continue;
        memcpy(out, start, length);
        strcpy(out + length, name);
        return true;
    }
    return false;
}

/* What the one line of a file says: the index of a word, or -1. */
static int read_word(const char *path, const char *const words[], int count) {
    char line[16];
    const char *call;
    ssize_t length = host_read_once(path, line, sizeof(line), &call);
    if (length <= 0 || line[length - 1] != '\n') return -1;
    line[length - 1] = 0;
    while (--count >= 0 && strcmp(line, words[count]) != 0) continue;
    return count;
}

static int ask_freezer(uint32_t version, struct json_span paths) {
    static const char *const v1[] = { "THAWED", "FREEZING", "FROZEN" }, *const v2[] = { "0", "1" };
    char path[PATH_MAX];
    if (version == 1 && path_in(paths, "/freezer/", "/freezer.state", path)) {
        int word = read_word(path, v1, ARRAY_LENGTH(v1));
        return word > 0 ? 1 : word;
    }
    return version == 2 && path_in(paths, NULL, "/cgroup.freeze", path) ? read_word(path, v2, ARRAY_LENGTH(v2)) : -1;
}

/* 1 or 0, as isFrozenToShow; -1: TypeScript has to find out. */
static int is_frozen(const struct list *list, const struct json_span *spans, char state) {
    uint32_t version;
    if (!spans[SUMMARY_CGROUP].start) return 0;
    if (!number_of(spans[SUMMARY_CGROUP_VERSION], &version)) return -1;
    if (version == 1 && strchr(list->awake, state)) return 0;
    return ask_freezer(version, spans[SUMMARY_CGROUP_PATHS]);
}

/* As deriveStatus; UNKNOWN: TypeScript has to find out. */
static enum status status_of(const struct list *list, const struct json_span *spans, struct row_cell id) {
    struct process_stat stat;
    struct row_cell start_time;
    const char *call;
    if (!string_of(spans[SUMMARY_START_TIME], &start_time)) return UNKNOWN;
    int found = host_process_stat((const char *)spans[SUMMARY_PID].start, length_of(spans[SUMMARY_PID]), &stat, &call);
    if (found < 0) return UNKNOWN;
    if (!found || process_is_dead(&stat) || !is_text(start_time, stat.start_time, stat.start_time_length)) return STOPPED;
    int frozen = is_frozen(list, spans, stat.waits_as);
    if (frozen) return frozen < 0 ? UNKNOWN : PAUSED;
    if (faccessat(list->directory, below(id, FIFO, sizeof(FIFO)), F_OK, AT_EACCESS) == 0) return CREATED_YET;
    return errno == ENOENT ? RUNNING : UNKNOWN;
}

static void forget_owner(struct list *list) {
    if (list->owner_cell.text) JS_FreeCString(list->ctx, (const char *)list->owner_cell.text);
    list->owner_cell.text = NULL;
}

/* False: an exception is pending. */
static bool name_owner(struct list *list, struct json_span uid, uint32_t number) {
    size_t length = length_of(uid);
    if (list->owner_cell.text && length == list->owner_length && memcmp(list->owner, uid.start, length) == 0) return true;
    forget_owner(list);
    JSValue argument = JS_NewUint32(list->ctx, number);
    JSValue name = JS_Call(list->ctx, list->owner_name, JS_UNDEFINED, 1, &argument);
    if (JS_IsException(name)) return false;
    list->owner_cell.text = (const uint8_t *)JS_ToCStringLen(list->ctx, &list->owner_cell.length, name);
    JS_FreeValue(list->ctx, name);
    memcpy(list->owner, uid.start, length);
    list->owner_length = length;
    return list->owner_cell.text != NULL;
}

static enum outcome add(struct list *list, struct row_cell id) {
    static const struct row_cell words[] = {
        [STOPPED] = CELL("stopped"), [PAUSED] = CELL("paused"), [CREATED_YET] = CELL("created"), [RUNNING] = CELL("running")
    };
    static struct json_names names;
    static uint8_t text[LARGEST_RECORD];
    struct json_span spans[JSON_MOST_NAMES];
    struct row_cell cells[CELLS];
    unsigned left;
    uint32_t owner;
    if (names.count == 0) json_read_names(NAMES, &names);
    size_t length = id.length <= NAME_MAX ? read_record(list, id, text) : 0;
    if (length == 0 || host_utf8_prefix(text, length) != length || !json_scan(text, length, &names, spans, &left)) return LEFT;
    if (!is_sound(list, spans, id) || !string_of(spans[SUMMARY_BUNDLE], &cells[CELL_BUNDLE]) ||
        !string_of(spans[SUMMARY_CREATED], &cells[CELL_CREATED]) || !number_of(spans[SUMMARY_OWNER], &owner))
        return LEFT;
    enum status status = status_of(list, spans, id);
    if (status == UNKNOWN) return LEFT;
    if (!name_owner(list, spans[SUMMARY_OWNER], owner)) return FAILED;
    cells[CELL_ID] = id;
    cells[CELL_PID] = status == STOPPED ? CELL("0") : (struct row_cell){ spans[SUMMARY_PID].start, length_of(spans[SUMMARY_PID]) };
    cells[CELL_STATUS] = words[status];
    cells[CELL_OWNER] = list->owner_cell;
    return host_add_cells(list->ctx, cells, CELLS) ? ADDED : FAILED;
}

HOST_CALL(host_add_containers, "iviiisv") {
    struct list list = {
        .ctx = ctx,
        .directory = a[0].number,
        .schema = a[3].bits,
        .minor = a[4].bits,
        .awake = a[5].text,
        .owner_name = a[6].value,
    };
    uint32_t index = a[2].bits, count;
    if (!host_length(ctx, a[1].value, &count)) return JS_EXCEPTION;
    enum outcome outcome = ADDED;
    for (; index < count && outcome == ADDED; index += outcome == ADDED) {
        struct row_cell id;
        JSValue value = JS_GetPropertyUint32(ctx, a[1].value, index);
        const char *text = JS_ToCStringLen(ctx, &id.length, value);
        id.text = (const uint8_t *)text;
        outcome = text ? add(&list, id) : FAILED;
        if (text) JS_FreeCString(ctx, text);
        JS_FreeValue(ctx, value);
    }
    forget_owner(&list);
    return outcome == FAILED ? JS_EXCEPTION : JS_NewUint32(ctx, index);
}
