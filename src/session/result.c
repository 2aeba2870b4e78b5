/* SPDX-License-Identifier: Apache-2.0 */
/* What a session came to, from its end until the caller has read the recording. */
#include "session/session.h"

#include "base/disk.h"
#include "session/rest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tare_session_settle(struct tare_session_result *result)
{
	if (!result->rest)
		return;
	tare_rest_end(result->rest);
	result->rest = NULL;
	result->bytes = tare_disk_bytes(result->path);
}

void tare_session_result_free(struct tare_session_result *result)
{
	tare_rest_end(result->rest);
	free(result->path);
	free(result->notice);
	free(result->wanted);
	free(result->no_live);
	if (result->ahead_file >= 0)
		close(result->ahead_file);
	memset(result, 0, sizeof(*result));
}
