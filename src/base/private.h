/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Tare makes on its own account, recordings above all, is readable by their owner only, whatever the umask is.
 * main() calls tare_private_begin; commands that Tare starts get the umask back.
 */
#ifndef TARE_BASE_PRIVATE_H
#define TARE_BASE_PRIVATE_H

#include <sys/types.h>

void tare_private_begin(void);
mode_t tare_private_users_mask(void); /* what the umask was */
void tare_private_end(void);          /* in a process that goes on as another program */

#endif
