/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of source for a page, where they lie on this machine. Which files these are a recording says, which may be somebody else's, and
 * the page may be passed on: so what is read is what is called as source is once every link has been followed, of a recording that
 * was made on this machine, and nothing that the owner of the recording could not read himself.
 */
#ifndef TARE_CMD_REPORT_SOURCE_H
#define TARE_CMD_REPORT_SOURCE_H

#include "view/page.h"

#include <sys/types.h>

struct tare_recording;

struct tare_report_sources {
	const struct tare_recording *recording; /* its begin says what was changed since */
	uid_t owner;                            /* of the recording */
	struct tare_str refused;                /* why none is read at all; empty: they are */
};

/* Whose the recording is, and whether it is of this machine, which `is_of_any` says does not matter. */
void tare_report_sources_of(struct tare_report_sources *out, const struct tare_recording *recording, bool is_of_any);

/* tare_page.read_source; `of`: a struct tare_report_sources. */
void tare_report_read_source(const void *of, const char *path, struct tare_page_source *out);

#endif
