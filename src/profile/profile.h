/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device profile: what one kind of GPU and its driver take for everything. docs/PROFILE.md.
 * Read by the simulated GPU too, inside any program: libc only, and no words on any stream.
 */
#ifndef TARE_PROFILE_PROFILE_H
#define TARE_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum tare_profile_key {
#define TARE_PROFILE(KEY, KIND, HOW, WITHIN, PROBE, FALLBACK, MEANING) TARE_PROFILE_##KEY,
#include "profile/profile.def"
	TARE_PROFILE_KEYS
};

enum tare_profile_kind {
	TARE_PROFILE_KIND_TEXT,
	TARE_PROFILE_KIND_NUMBER,
	TARE_PROFILE_KIND_HEX,
	TARE_PROFILE_KIND_BYTES,
};

enum tare_profile_how {
	TARE_PROFILE_HOW_GIVEN,
	TARE_PROFILE_HOW_NAMED,
	TARE_PROFILE_HOW_ASKED,
	TARE_PROFILE_HOW_WEIGHED,
	TARE_PROFILE_HOW_FITTED,
};

#define TARE_PROFILE_TEXT_MAX 64

struct tare_profile {
#define TARE_PROFILE_FIELD_TEXT(KEY)                                   char KEY[TARE_PROFILE_TEXT_MAX];
#define TARE_PROFILE_FIELD_NUMBER(KEY)                                 uint64_t KEY;
#define TARE_PROFILE_FIELD_HEX                                         TARE_PROFILE_FIELD_NUMBER
#define TARE_PROFILE_FIELD_BYTES                                       TARE_PROFILE_FIELD_NUMBER
#define TARE_PROFILE(KEY, KIND, HOW, WITHIN, PROBE, FALLBACK, MEANING) TARE_PROFILE_FIELD_##KIND(KEY)
#include "profile/profile.def"
};

/* A row of profile.def, indexed by enum tare_profile_key. */
/* What `nvml` says. */
#define TARE_PROFILE_NVML_MEMORY    "memory"
#define TARE_PROFILE_NVML_NOTHING   "nothing"
#define TARE_PROFILE_NVML_NO_MEMORY "no memory"

struct tare_profile_row {
	const char *name, *fallback, *meaning;
	enum tare_profile_kind kind;
	enum tare_profile_how how;
	uint64_t within;
	size_t offset; /* of the field in struct tare_profile */
};
extern const struct tare_profile_row tare_profile_rows[TARE_PROFILE_KEYS];

/* The order of a file: the title of a group, or a key (then `title` is NULL). */
struct tare_profile_line {
	const char *title;
	enum tare_profile_key key;
};
extern const struct tare_profile_line tare_profile_lines[];
extern const size_t tare_profile_lines_nr;

/* "512", "0x1f", "2 MiB", "615.0625 MiB". 0, or -1. */
int tare_profile_parse_size(const char *text, uint64_t *value);

/* Every key at its fallback. */
void tare_profile_set_fallbacks(struct tare_profile *profile);
/* 0, or -1: not a value of this key. */
int tare_profile_set(struct tare_profile *profile, enum tare_profile_key key, const char *text);
void tare_profile_set_number(struct tare_profile *profile, enum tare_profile_key key, uint64_t value);
/* Of a key that is no text. */
uint64_t tare_profile_number(const struct tare_profile *profile, enum tare_profile_key key);

/* As it stands in a file, so that reading it gives the same value. Returns `text`. */
char *tare_profile_format_number(enum tare_profile_key key, uint64_t value, char text[TARE_PROFILE_TEXT_MAX]);
char *tare_profile_format(const struct tare_profile *profile, enum tare_profile_key key,
                          char text[TARE_PROFILE_TEXT_MAX]);

/* A regular file, to read, without waiting for anybody; NULL and errno. */
FILE *tare_profile_open(const char *path);

/* 0, or -1 and a sentence in `error`, when a line makes no sense or a key is missing. */
int tare_profile_read(const char *path, struct tare_profile *profile, char *error, size_t size);

#endif
