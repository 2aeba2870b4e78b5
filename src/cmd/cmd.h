/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_CMD_H
#define TARE_CMD_CMD_H

/*
 * One function per command, in cmd_<name>.c. argv[0] is the command's name. Returns the exit code
 * of the process. A command parses its options, calls modules and prints; it decides nothing else.
 */
int tare_cmd_version(int argc, char **argv);

#endif
