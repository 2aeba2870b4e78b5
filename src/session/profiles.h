/* SPDX-License-Identifier: Apache-2.0 */
/* The device profiles that come with Tare, and those that users have. */
#ifndef TARE_SESSION_PROFILES_H
#define TARE_SESSION_PROFILES_H

#include "base/err.h"
#include "base/str.h"
#include "profile/profile.h"

#include <stdbool.h>

/* The file of a profile: `name` itself if it has a slash, else one that comes with Tare. `option`: by which it was asked for. */
int tare_profiles_path(const char *option, const char *name, char *path, size_t size, struct tare_err *err);
int tare_profiles_read(const char *path, struct tare_profile *out, struct tare_err *err);
/* Both; a profile that makes no sense is a mistake on the command line, too. */
int tare_profiles_open(const char *option, const char *name, struct tare_profile *out, struct tare_err *err);

/* The names of those that come with Tare, a line each. */
void tare_profiles_list(struct tare_str *out);

/* The profile that comes with Tare for a GPU of this name. False: there is none. */
bool tare_profiles_find(const char *gpu, struct tare_profile *out, char *path, size_t size);

#endif
