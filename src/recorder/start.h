/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_START_H
#define TARE_RECORDER_START_H

#include <stdint.h>

void tare_finish(uint32_t how);    /* the process ends, in a way of enum tare_how */
void tare_finish_with(int status); /* … and this is its exit code */

#endif
