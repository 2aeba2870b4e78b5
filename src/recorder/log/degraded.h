/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_LOG_DEGRADED_H
#define TARE_RECORDER_LOG_DEGRADED_H

/* One sentence for the report, said once; at most a few dozen per process. */
void tare_degraded(const char *sentence, const char *subject);

#endif
