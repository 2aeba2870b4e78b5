/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SESSION_VRAM_H
#define TARE_SESSION_VRAM_H

#include "base/err.h"
#include "base/json.h"
#include "profile/profile.h"
#include "witness/nvml.h"

/* `--vram` and `--card`: from the command line to the file that recorded processes read (record/vram.h). */
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

/*
 * visible.c: false where CUDA_VISIBLE_DEVICES surely hides this GPU from programs that are started now. Numbers are
 * those of NVML only where CUDA cannot order GPUs in a way of its own: all alike, or CUDA_DEVICE_ORDER=PCI_BUS_ID.
 */
bool tare_visible(struct tare_nvml *nvml, const struct tare_nvml_device *device);

#endif
