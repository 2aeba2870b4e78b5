/* SPDX-License-Identifier: Apache-2.0 */
/* What NVTX's handles and messages say, as UTF-8. */
#ifndef TARE_RECORDER_NVTX_NAMES_H
#define TARE_RECORDER_NVTX_NAMES_H

#include <stdbool.h>

#include "record/nvtx_abi.h"

enum tare_nvtx_coding { TARE_NVTX_NONE, TARE_NVTX_UTF8, TARE_NVTX_WIDE, TARE_NVTX_EVENT };

/* A text as a caller gave it. */
struct tare_nvtx_text {
	enum tare_nvtx_coding coding;
	const void *at; /* may be NULL */
};
#define TEXT_NONE  ((struct tare_nvtx_text){ TARE_NVTX_NONE, NULL })
#define TEXT_A(t)  ((struct tare_nvtx_text){ TARE_NVTX_UTF8, (t) })
#define TEXT_W(t)  ((struct tare_nvtx_text){ TARE_NVTX_WIDE, (t) })
#define TEXT_EX(e) ((struct tare_nvtx_text){ TARE_NVTX_EVENT, (e) })

#define TARE_NVTX_TEXT_MAX 512

/* Is memory of the program there, as far as one page and the next? */
bool tare_nvtx_may_read(const void *at, size_t size);

/* The text itself, or converted into `scratch`; NULL for TEXT_NONE, else never. */
const char *tare_nvtx_text(struct tare_nvtx_text text, char scratch[TARE_NVTX_TEXT_MAX]);

/* A domain's name; NULL for the default one. */
const char *tare_nvtx_domain(nvtx_domain handle);

/*
 * Remember what a handle stands for. `handle` is what another tool gave; where there is none, NULL,
 * one of ours is made. Without room for it the answer is what NVTX answers without a tool: NULL.
 */
nvtx_domain tare_nvtx_keep_domain(nvtx_domain handle, struct tare_nvtx_text text);
nvtx_string tare_nvtx_keep_string(nvtx_string handle, struct tare_nvtx_text text);

#endif
