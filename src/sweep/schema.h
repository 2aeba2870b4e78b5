/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_SCHEMA_H
#define TARE_SWEEP_SCHEMA_H

/* docs/SWEEP.md says what every column means; a test compares the two. */
extern const char tare_sweep_schema[];

#endif
