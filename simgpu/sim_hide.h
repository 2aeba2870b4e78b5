/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_HIDE_H
#define SIM_HIDE_H

/* Takes a symbol out of this library's symbol table, so that dlsym() does not find it any more. */
void sim_hide_symbol(const char *name);

#endif
