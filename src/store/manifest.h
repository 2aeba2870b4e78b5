/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_MANIFEST_H
#define TARE_STORE_MANIFEST_H

#include "base/err.h"
#include "base/extent.h"
#include "base/json.h"
#include "base/owned.h"
#include "base/str.h"

#include <stdbool.h>
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

/*
 * manifest_rebuild.c: what segments.json says, out of the files that it names, where it is damaged or gone. Their names tell which there are; a state tells of
 * which state it goes on from and what was in use since; and a segment that stands for others has what segments.json
 * said when these went. False, with `out` empty: what an earlier version wrote does not tell, or is damaged, too.
 */
bool tare_manifest_rebuild(struct tare_manifest *out, const char *folder);

/* Is segments.json missing in the folder, or has there never been one? While it is made for the first time, logs are complete. */
bool tare_manifest_is_missed(const char *folder);

/* Every segment that lies in the folder, by its number. */
void tare_manifest_add_all(struct tare_manifest *m, const char *folder);

/* manifest_extents.c: what of a list is damaged is left out. `list` may be NULL. */
void tare_manifest_read_extents(struct tare_extent_list *out, const struct tare_json_value *list);
void tare_manifest_write_extents(struct tare_json *j, const struct tare_extent_list *list);
/* The same as a text of its own, with the moment from which they are; and back. False: it is none. */
void tare_manifest_tell_extents(struct tare_str *out, int64_t from_ns, const struct tare_extent_list *list);
bool tare_manifest_hear_extents(struct tare_extent_list *out, int64_t *from_ns, const char *text, size_t size);
/* An instant that is there takes the place of one that is told again: a phase may begin before a state, and end behind it. */
void tare_manifest_add_extent(struct tare_extent_list *list, const struct tare_extent *x);
/* Spans up to `until` are joined, the shorter the younger, until the list is short enough; of instants some are left out. */
void tare_manifest_age_extents(struct tare_extent_list *list, int64_t until);
/* Removes what reaches beyond `from`. */
void tare_manifest_cut_extents(struct tare_extent_list *list, int64_t from);

#endif
