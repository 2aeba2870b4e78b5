/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every table about a device starts and ends with, whatever its rows are grouped by: which GPU,
 * what is used, and what is unexplained.
 */
#ifndef TARE_VIEW_DEVICE_TEXT_H
#define TARE_VIEW_DEVICE_TEXT_H

#include "view/columns.h"
#include "view/sheet.h"

/* A column per instant; rows follow. `used` and `need` where rows are elastic, the card, a rule. */
void tare_device_text_begin(struct tare_sheet *s, struct tare_emit *e, const struct tare_columns *c,
                            const struct tare_ledger *const *ledgers, const struct tare_device_ledger *device);
void tare_device_text_used(struct tare_sheet *s, const struct tare_columns *c, const struct tare_device_ledger *device);

/* `unexplained`, always, which is the last row; then, behind notes, what is to be said of a smaller card. */
void tare_device_text_end(struct tare_sheet *s, const struct tare_columns *c);
void tare_device_text_behind(struct tare_emit *e, const struct tare_device_ledger *device);

/* "NVIDIA H200 (simulated)": what a device is called wherever people read it. */
void tare_device_text_name(struct tare_str *out, const struct tare_device_ledger *device);
/* "GPU 0", "heap": a device by its number alone. */
void tare_device_text_place(struct tare_str *out, int64_t index);
/* … and where a column is headed GPU: -1 of what is none. */
int tare_device_text_gpu(int64_t index);
/* "GPU 0"; nothing of what is no GPU, but a board or what was resident: `tare import`. */
void tare_device_text_number(struct tare_str *title, const struct tare_device_ledger *d, const char *behind);
/* "GPU 0  NVIDIA H200 · total 143,771 = reserved 615 + used + free" */
void tare_device_text_title(struct tare_str *title, const struct tare_device_ledger *device);

/* "+20.0", or "not known". `device` may be NULL. */
struct tare_value tare_device_text_unexplained(const struct tare_device_ledger *device);

/* Some recorded process had to do with the device, at any of the instants. */
bool tare_device_text_is_touched(const struct tare_ledger *const *ledgers, int ledger_nr,
                                 const struct tare_device_ledger *device);

/* "AT PEAK 1.9 s": the time of a peak, where it is known; of others only what was asked for. */
void tare_device_text_instant(struct tare_str *out, const struct tare_ledger *ledger, int64_t t_ns);

/* The word for a kind of evidence; a witness is called by its name. */
const char *tare_device_text_evidence(const struct tare_device_ledger *device, enum tare_evidence evidence);

/* "1,234.5", or "not known". */
struct tare_value tare_device_text_bytes(uint64_t bytes);
void tare_device_text_mib(struct tare_str *out, uint64_t bytes);

#endif
