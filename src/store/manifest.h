/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_MANIFEST_H
#define TARE_STORE_MANIFEST_H

#include "base/err.h"
#include "base/extent.h"
#include "base/owned.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/*
 * segments.json: which segments a recording has, in their order, and which states of a fold. It is replaced by rename, so there is always one that is
 * whole, and what it names is on the disk.
 */
struct tare_manifest {
	TARE_OWNED uint32_t *numbers;
	size_t nr, cap;
	TARE_OWNED struct tare_manifest_state {
		uint32_t number; /* of its file, and of the newest segment that it knows */
		int64_t until_ns;
	} * states; /* of a fold (state_file.h), the older first */
	size_t state_nr, state_cap;
	struct tare_manifest_dropped {
		uint32_t rest;    /* the segment that stands for those that went to keep a cap; 0: none did */
		int64_t until_ns; /* of events up to here there is no more than a state knows */
		uint64_t events;  /* that went */
	} dropped;
	/* States of a moment in a span whose events went: such a moment can be shown still, and nothing goes on from them. */
	TARE_OWNED struct tare_manifest_state *kept;
	size_t kept_nr, kept_cap;
	TARE_OWNED struct tare_extent_list extents; /* what was in use, from one state to the next */
	TARE_OWNED char *fault; /* a sentence: it is damaged, so every segment that lies there is taken */
};

/* NOT_FOUND: there is none, nor are there segments that it should name; NEWER. Where it is damaged, files beside it tell. */
int tare_manifest_read(struct tare_manifest *out, const char *folder, struct tare_err *err);
int tare_manifest_write(const struct tare_manifest *m, const char *folder, struct tare_err *err);
/* The text of the file, and what it says: 0, FORMAT, NEWER. */
void tare_manifest_describe(struct tare_str *out, const struct tare_manifest *m);
int tare_manifest_parse(struct tare_manifest *out, const char *text, size_t len);
TARE_FREES(tare_manifest_free, tare_manifest);

char *tare_manifest_path(const char *folder, uint32_t number);       /* "…/000001.segment"; the caller frees it */
char *tare_manifest_state_path(const char *folder, uint32_t number); /* "…/000001.state" */
/* The number of a file of that name; 0: it is no segment. */
uint32_t tare_manifest_number(const char *name);
uint32_t tare_manifest_state_number(const char *name);

void tare_manifest_add(struct tare_manifest *m, uint32_t number);
void tare_manifest_add_state(struct tare_manifest *m, uint32_t number, int64_t until_ns);
void tare_manifest_add_kept(struct tare_manifest *m, uint32_t number, int64_t until_ns);

/* States behind that moment are no longer right: the next one goes on from the others. */
void tare_manifest_cut_states(struct tare_manifest *m, int64_t from_ns);
/* A state that was saved, and what was in use since the one before. */
void tare_manifest_add_saved(struct tare_manifest *m, uint32_t number, int64_t until_ns,
                             const struct tare_extent_list *extents);

/* Names in a folder are on the disk after this. 0 or -errno. */
int tare_manifest_sync_folder(const char *folder);

#endif
