/* SPDX-License-Identifier: Apache-2.0 */
/* What `tare doctor` looks at. Every check adds one line or more; only FAIL means "cannot record". */
#ifndef TARE_CMD_DOCTOR_H
#define TARE_CMD_DOCTOR_H

#include "base/owned.h"

#include <stddef.h>

enum tare_doctor_status { TARE_DOCTOR_OK, TARE_DOCTOR_WARN, TARE_DOCTOR_FAIL };

struct tare_doctor_finding {
	enum tare_doctor_status status;
	const char *check;     /* what was looked at, a word or two */
	TARE_OWNED char *text; /* what was found and, unless it is fine, what to do */
};

struct tare_doctor {
	TARE_OWNED_MANY(count) struct tare_doctor_finding *findings;
	size_t count, cap;
};

TARE_FREES(tare_doctor_free, tare_doctor);

void tare_doctor_add(struct tare_doctor *d, enum tare_doctor_status status, const char *check, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* doctor_gpu.c */
void tare_doctor_driver(struct tare_doctor *d);
void tare_doctor_nvml(struct tare_doctor *d);
void tare_doctor_device_files(struct tare_doctor *d);

/* doctor_host.c */
void tare_doctor_recorder(struct tare_doctor *d);
void tare_doctor_environment(struct tare_doctor *d);
void tare_doctor_folders(struct tare_doctor *d);
void tare_doctor_machine(struct tare_doctor *d);

#endif
