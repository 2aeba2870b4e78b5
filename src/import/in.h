/* SPDX-License-Identifier: Apache-2.0 */
/* The file that is imported; readers use it by import_reader.h. */
#ifndef TARE_IMPORT_IN_H
#define TARE_IMPORT_IN_H

#include "import/import_reader.h"

/* `path`: "-" is standard input. */
int tare_import_in_open(struct tare_import_in **out, const char *path, struct tare_err *err);
void tare_import_in_close(struct tare_import_in *in);

/* What the file begins with; it stays to be read. */
const char *tare_import_in_head(const struct tare_import_in *in, size_t *size);

/* The file was packed (zstd, gzip), and not all that was packed could be read. */
bool tare_import_in_is_cut(const struct tare_import_in *in);
int64_t tare_import_in_changed_ns(const struct tare_import_in *in); /* since 1970 */

#endif
