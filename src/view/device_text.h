/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every table about a device starts and ends with, whatever its rows are grouped by: which GPU,
 * what is used, and what is unexplained.
 */
#ifndef TARE_VIEW_DEVICE_TEXT_H
#define TARE_VIEW_DEVICE_TEXT_H

#include "view/columns.h"
#include "view/text_table.h"

/* The instants, `used`, `need` where rows are elastic, a rule. */
void tare_device_text_head(struct tare_text_table *t, const struct tare_columns *c,
			   const struct tare_ledger *const *ledgers,
			   const struct tare_device_ledger *device);

/* "+20.0", or "not known". `device` may be NULL. */
void tare_device_text_unexplained(struct tare_str *out, const struct tare_device_ledger *device);

/* `unexplained`, always. */
void tare_device_text_foot(struct tare_text_table *t, const struct tare_columns *c);

/* The line that names the device, that of time ("", or ending with a newline), the table, an empty line. */
void tare_device_text_draw(struct tare_str *out, const struct tare_text_table *t,
			   const struct tare_device_ledger *device, const char *timeline,
			   const struct tare_text_style *style);

/* Some recorded process had to do with the device, at any of the instants. */
bool tare_device_text_is_touched(const struct tare_ledger *const *ledgers, int ledger_nr,
				 const struct tare_device_ledger *device);

/* "AT PEAK 1.9 s": the time of a peak, where it is known; of others only what was asked for. */
void tare_device_text_instant(struct tare_str *out, const struct tare_ledger *ledger, int64_t t_ns);

/* The word for a kind of evidence; a witness is called by its name. */
const char *tare_device_text_evidence(const struct tare_device_ledger *device,
				      enum tare_evidence evidence);

/* "1,234.5", or "not known". */
void tare_device_text_mib(struct tare_str *out, uint64_t bytes);

#endif
