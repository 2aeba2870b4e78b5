/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors that one line made and that are there, by what they are for. */
#ifndef TARE_VIEW_LINE_MADE_H
#define TARE_VIEW_LINE_MADE_H

#include "view/line_parts.h"

struct tare_line_made {
	const char *at;
	const char *title; /* NULL: it stands below another table of that line */
	int device;        /* -1: the CPU */
	int64_t pid;       /* -1: of several */
	const struct tare_line_choice *choice;
	struct tare_blocks_ledger tensors; /* of that line */
	bool has_ever;
	const struct tare_tensor_rows *rows; /* of all lines */
};

/* A table, JSON: "made"; in text nothing where no tensor was ever made. */
void tare_line_made_show(struct tare_emit *e, const struct tare_line_made *made);

#endif
