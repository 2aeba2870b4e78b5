/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a command by its name in the table of commands. */
#include "cmd/cmd.h"

#include <string.h>

const struct tare_command *const tare_commands[] = {
#define X(NAME) &tare_command_##NAME,
#include "cmd/cmd.def"
	NULL,
};

const struct tare_command *tare_cmd_find(const char *name)
{
	for (size_t i = 0; tare_commands[i]; i++)
		if (!strcmp(tare_commands[i]->name, name))
			return tare_commands[i];
	return NULL;
}
