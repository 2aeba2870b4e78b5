/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the umask of Tare's own files, and gives the user's back to programs that it starts. */
#include "base/private.h"

#include <stdbool.h>
#include <sys/stat.h>

static mode_t users_mask;
static bool has_begun;

void tare_private_begin(void)
{
	mode_t old = umask(077);

	if (!has_begun)
		users_mask = old;
	has_begun = true;
}

mode_t tare_private_users_mask(void)
{
	mode_t mask;

	if (has_begun)
		return users_mask;
	mask = umask(077);
	umask(mask);
	return mask;
}

void tare_private_end(void)
{
	if (has_begun)
		umask(users_mask);
}
