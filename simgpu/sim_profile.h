/* SPDX-License-Identifier: Apache-2.0 */
/* The profile of the simulated devices, and how many there are. */
#ifndef SIM_PROFILE_H
#define SIM_PROFILE_H

#include "profile/profile.h"

/*
 * Reads the profile that TARE_SIM_PROFILE names: a file (with a slash in it) or NAME.profile in
 * the folder `profiles` beside this library. 0, or -1 and a sentence in `error`.
 */
int sim_profile_load(struct tare_profile *profile, char *error, size_t size);

/* The text that nvidia-smi shows, "GPU-…" of 40 characters, for device `index`. */
void sim_profile_uuid(const struct tare_profile *profile, int index, char text[64]);
/* The same as the driver's 16 bytes. */
void sim_uuid_parse(const char *text, unsigned char bytes[16]);

/* A partition's first byte differs from its GPU's in this bit. */
#define SIM_UUID_MIG 0x10

/* GPUs of the machine: TARE_SIM_DEVICES, else one. */
#define SIM_DEVICES 64
int sim_profile_devices(void);

#endif
