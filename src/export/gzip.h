/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_EXPORT_GZIP_H
#define TARE_EXPORT_GZIP_H

#include "base/str.h"

/* Adds `text` as a gzip file whose content is stored, not made smaller: no library is needed for that. */
void tare_gzip(struct tare_str *out, const struct tare_str *text);

#endif
