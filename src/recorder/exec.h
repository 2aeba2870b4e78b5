/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_EXEC_H
#define TARE_RECORDER_EXEC_H

void tare_exec_start(void);

#endif
