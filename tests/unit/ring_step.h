/* SPDX-License-Identifier: Apache-2.0 */
/* Included by force into the ring's own code: t_ring stops it at every step that it names. */
#ifndef TARE_TESTS_UNIT_RING_STEP_H
#define TARE_TESTS_UNIT_RING_STEP_H

void ring_step(const char *name);
#define TARE_STEP(name) ring_step(name)

#endif
