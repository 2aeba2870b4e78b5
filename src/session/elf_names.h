/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions in an object file, by address. */
#ifndef TARE_SESSION_ELF_NAMES_H
#define TARE_SESSION_ELF_NAMES_H

#include <stdint.h>

struct tare_elf_names;

/*
 * Reads the symbol table of the file at `path`, or, where it was stripped, its dynamic symbols. NULL
 * if it cannot be read, has none, or its build id is not this one (16 bytes; NULL: any).
 */
struct tare_elf_names *tare_elf_names_open(const char *path, const uint64_t build_id[2]);
void tare_elf_names_close(struct tare_elf_names *names); /* NULL is fine */

/* The function that holds this file address, and how far into it; NULL: none. */
const char *tare_elf_names_find(const struct tare_elf_names *names, uint64_t address, uint64_t *offset);

#endif
