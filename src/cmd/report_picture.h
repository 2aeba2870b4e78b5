/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_REPORT_PICTURE_H
#define TARE_CMD_REPORT_PICTURE_H

#include "base/err.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "ledger/memory_history.h"

#include <stddef.h>

struct tare_recording;

/* Its programs, and the recording: "train.py · train.tare". */
void tare_report_title(struct tare_str *out, const struct tare_ledger *ledger, const char *const *paths,
                       size_t path_nr);

/* What a picture is drawn of, with the ledger of the peak. `by`: as below. */
void tare_report_history(struct tare_recording *recording, int by, struct tare_ledger *peak,
                         struct tare_memory_history *out);

/*
 * Writes memory over time as SVG into FILE ("-": stdout), which is overwritten. Recordings of one job are one
 * run; those that have nothing to do with each other stand under one another, to the same scale. `by`: -1, or of enum
 * tare_by ACCOUNT (tensors together) or CATEGORY; a program that used no GPU has its tensors by category without being
 * asked.
 */
int tare_report_picture(const char *file, const char *const *paths, size_t path_nr, const char *job, int by,
                        struct tare_err *err);

#endif
