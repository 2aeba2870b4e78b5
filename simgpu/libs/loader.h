/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of libtare_sim.so know of each other. */
#ifndef TARE_SIM_LOADER_H
#define TARE_SIM_LOADER_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

extern const char *const sim_loader_sonames[];
extern const int sim_loader_sonames_nr;

/* Is this the file name of a simulated library, of any version that there is? Its place among the sonames; -1: none. */
int sim_loader_find(const char *file);
/* Is it that, or one of the driver's two? */
bool sim_loader_is_simulated(const char *file);
/* Does a program mean a library of NVIDIA's by this name of a function? */
bool sim_loader_is_name(const char *name);

/* Finds what stands behind this library, once. */
void sim_loader_begin(void);
/* The next function of this name behind ours, found without the dynamic linker's help: it disturbs nothing. */
void *sim_loader_behind(const char *name);
/* Does anything that is loaded have it? */
bool sim_loader_is_anywhere(const char *name);
/* What the dynamic section of an object says is at `value`; that section, NULL: none. */
const void *sim_loader_at(uintptr_t base, uintptr_t value);
const void *sim_loader_dynamic(const struct dl_phdr_info *info);
/* Where the simulated library of a file's name lies, of the driver's as well. */
bool sim_loader_path(const char *file, char *path, size_t size);
/* The simulated library of a soname, if it is loaded; else NULL. */
void *sim_loader_handle(const char *soname);

/* Functions of simulated libraries that loaded objects would look for when they call them, and that are not there: they
 * fail from now on, and tell. Without this a call of one ends the program. */
void sim_loader_fill(void);

/* Begins the program again if it found NVIDIA's libraries before the simulated ones; then it does not return. */
void sim_loader_again(char **argv);

#endif
