#ifndef RUNT_HOST_ROWS_H
#define RUNT_HOST_ROWS_H
#include "function.h"

struct row_cell {
    const uint8_t *text; /* UTF-8 */
    size_t length;
};
/* As addRow of host.d.ts. False: an exception is pending. */
bool host_add_cells(JSContext *ctx, const struct row_cell *cells, unsigned count);

#endif
