/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"

int main(int argc, char **argv)
{
	return tare_cmd_version(argc, argv);
}
