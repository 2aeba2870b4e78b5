/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program asked for that is not simulated: a line each in the file that TARE_SIM_WANTED names, which `tare` makes
 * sentences of when the program has ended (src/session/wanted.c). Nothing is said on the program's own stderr.
 */
#ifndef SIM_TELL_H
#define SIM_TELL_H

/* The first word of a line; then, between tabs, the name, the file that asked, and the line of a Python program. */
#define SIM_TELL_RUNTIME "runtime" /* a CUDA runtime that is no simulated one asks for private tables */
#define SIM_TELL_LINK    "link"    /* a library cannot be opened without this name */
#define SIM_TELL_CALL    "call"    /* a name that was linked lazily was called: it failed */
#define SIM_TELL_LOOK    "look"    /* a name was looked up, and not found: programs do so to see what there is */

/* `name` and `file`: NULL for none. Says the same thing once in a process. */
void sim_tell(const char *kind, const char *name, const char *file);
/* The file of the code at an address; NULL: not known. */
const char *sim_tell_file_of(const void *address);

#endif
