/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_STATE_FILE_H
#define TARE_STORE_STATE_FILE_H

#include "base/err.h"
#include "store/pack.h"

#include <stdbool.h>

/*
 * The state of a fold in a file NUMBER.state: what all records up to a moment came to, as far as segments up to NUMBER have
 * them. What the bytes are is a matter of who folds; they are checked here, for their reader believes them.
 */
#define TARE_STATE_MAGIC   "TARESTA"
#define TARE_STATE_VERSION 1

/*
 * Behind the state lies what tare_manifest_tell_extents() says, for a folder without segments.json; then what became of blocks that
 * the state before had. Nothing, where an earlier version wrote the file.
 */
struct tare_state_header {
	char magic[8];
	uint32_t endian;  /* TARE_ENDIAN_MARK */
	uint32_t version; /* of this header and of what is behind it */
	uint32_t number;  /* of the newest segment that the fold saw */
	uint32_t reserved0;
	int64_t until_ns;  /* the moment, since the recording started */
	uint64_t size;     /* of the state, before it was made smaller */
	uint64_t sum;      /* XXH64 of all bytes behind the header */
	char tool[32];     /* version of Tare */
	uint64_t head_sum; /* of the header up to here */
};
_Static_assert(sizeof(struct tare_state_header) == 88, "state header layout");

struct tare_state_bytes {
	const void *state;
	size_t size;
	const char *told;
	size_t told_size;
	const void *ended;
	size_t ended_size;
};

/* The file is on the disk afterwards, whole. `bytes_written` may be NULL. */
int tare_state_write(const char *path, uint32_t number, int64_t until_ns, const struct tare_state_bytes *bytes,
                     uint64_t *bytes_written, struct tare_err *err);

/*
 * Into `out`, whose former content is dropped. NOT_FOUND; FORMAT: it is damaged, or of another version of this format.
 * `is_ours`: did this version of Tare make it? May be NULL.
 */
int tare_state_read(const char *path, uint32_t number, int64_t until_ns, struct tare_pack *out, bool *is_ours,
                    struct tare_err *err);
/* Of which moment it is, and what was told beside it, which may be empty. */
int tare_state_read_told(const char *path, uint32_t number, int64_t *until_ns, struct tare_pack *told);
/* What became of blocks since the state before; empty: that is not known. */
int tare_state_read_ended(const char *path, uint32_t number, struct tare_pack *ended);

#endif
