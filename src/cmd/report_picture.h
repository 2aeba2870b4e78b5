/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_REPORT_PICTURE_H
#define TARE_CMD_REPORT_PICTURE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes memory over time as SVG into FILE ("-": stdout), which is overwritten. Recordings of one job are one
 * run; those that have nothing to do with each other stand under one another, to the same scale. Tensors are
 * live ones together, or by category.
 */
int tare_report_picture(const char *file, const char *const *paths, size_t path_nr, const char *job,
			bool by_category, struct tare_err *err);

#endif
