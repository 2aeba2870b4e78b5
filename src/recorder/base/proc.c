/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc of a process: when it began, its pid namespace, its script. */
#include "recorder/base/proc.h"

#include "recorder/base/plib.h"
#include "recorder/base/scratch.h"
#include "record/script.h"

enum { START_TICKS = 22 }; /* of the fields in /proc/PID/stat, counted from 1 */

uint64_t tare_proc_start_ticks(const char *stat, char *state)
{
	enum { TEXT = 1024 };
	char *text = tare_scratch_take(TEXT);
	const char *at = NULL;
	uint64_t ticks;
	int field = 2;

	if (text && tare_plib_read_file(stat, text, TEXT))
		at = tare_plib_last(text, ')'); /* the name may hold anything */
	*state = '\0';
	if (at && at[0])
		*state = at[1];
	for (; at && *at && field < START_TICKS; at++)
		field += *at == ' ';
	ticks = at ? tare_plib_number(at) : 0;
	tare_scratch_give(text, TEXT);
	return ticks;
}

uint64_t tare_proc_pid_namespace(void)
{
	char text[64];

	if (!tare_plib_readlink("/proc/self/ns/pid", text, sizeof(text)))
		return 0;
	return tare_plib_number(tare_plib_first(text, '['));
}

void tare_proc_script(const char *program, char *out, size_t size)
{
	enum { ARGS = 2048 };
	char *args;

	out[0] = '\0';
	if (!tare_script_is_python(program))
		return;
	args = tare_scratch_take(ARGS); /* the last two bytes stay 0 */
	if (args && tare_plib_read_file("/proc/self/cmdline", args, ARGS - 1))
		tare_script_name(out, size, args);
	tare_scratch_give(args, ARGS);
}
