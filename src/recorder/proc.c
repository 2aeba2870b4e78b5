/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/proc.h"

#include "recorder/plib.h"
#include "trace/script.h"

enum { START_TICKS = 22 }; /* of the fields in /proc/PID/stat, counted from 1 */

uint64_t tare_proc_start_ticks(const char *stat, char *state)
{
	char text[1024];
	const char *at = NULL;
	int field = 2;

	if (tare_plib_read_file(stat, text, sizeof(text)))
		at = tare_plib_last(text, ')'); /* the name may hold anything */
	*state = '\0';
	if (at && at[0])
		*state = at[1];
	for (; at && *at && field < START_TICKS; at++)
		field += *at == ' ';
	return at ? tare_plib_number(at) : 0;
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
	char args[2048] = { 0 }; /* the last two bytes stay 0 */

	out[0] = '\0';
	if (tare_script_is_python(program) &&
	    tare_plib_read_file("/proc/self/cmdline", args, sizeof(args) - 1))
		tare_script_name(out, size, args);
}
