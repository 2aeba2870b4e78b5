/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"

#include <stdio.h>

int tare_cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("tare " TARE_VERSION);
	return 0;
}
