/* SPDX-License-Identifier: Apache-2.0 */
/* `--vram` and `--card`: from the command line to the file that recorded processes read (record/vram.h). */
#ifndef TARE_SESSION_VRAM_H
#define TARE_SESSION_VRAM_H

#include "base/err.h"
#include "base/json.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct tare_nvml;

#define TARE_VRAM_ENTRIES 32

struct tare_vram_wish {
	struct tare_vram_entry {
		int device;                          /* as nvidia-smi numbers it; -1: every one without an entry of its own */
		uint64_t bytes;                      /* 0: the profile's */
		char profile[TARE_PROFILE_TEXT_MAX]; /* name of its GPU; "": none */
		struct tare_profile card;
	} * entries;
	size_t entry_nr;
};

/* Either text may be NULL. */
int tare_vram_parse(struct tare_vram_wish *out, const char *vram, const char *card, struct tare_err *err);
void tare_vram_free(struct tare_vram_wish *wish);

/*
 * Writes the file into the recording's folder. `nvml` NULL: GPUs are taken as the program numbers them,
 * and how large they are is not known here.
 */
int tare_vram_make(const char *folder, const struct tare_vram_wish *wish, struct tare_nvml *nvml, struct tare_err *err);
void tare_vram_remove(const char *folder);

/* What was asked for, in recording.json. */
void tare_vram_describe(const struct tare_vram_wish *wish, struct tare_json *j);

#endif
