/* SPDX-License-Identifier: Apache-2.0 */
/* The smaller card of --vram or --card in a report: how full it was, and what it had no room for. */
#ifndef TARE_VIEW_CARD_H
#define TARE_VIEW_CARD_H

#include "base/emit.h"
#include "view/columns.h"
#include "view/sheet.h"

/* "card of 8,192 MiB (--vram) on "; nothing where the device stands for itself. */
void tare_card_title(struct tare_str *out, const struct tare_device_ledger *d);
/* What is used of it, and what is free. */
void tare_card_rows(struct tare_sheet *s, const struct tare_columns *c, const struct tare_device_ledger *device);
/* Below the table: what was refused, and which rows are the GPU's own. */
void tare_card_text(struct tare_emit *e, const struct tare_device_ledger *device);
void tare_card_json(struct tare_emit *e, const struct tare_device_ledger *d);

#endif
