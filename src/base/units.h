/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_UNITS_H
#define TARE_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sizes, times and how they look. k, m, g, t, also as KiB or Ki, are powers of 1024, as nvidia-smi,
 * docker and torch use them; KB, MB, GB, TB are powers of 1000; no unit means bytes.
 * Case does not matter; "7.7GiB" is rounded to the nearest byte.
 * Parsers return 0, -EINVAL (not such a text) or -ERANGE, and write only on success.
 */
int tare_units_parse_bytes(const char *text, uint64_t *bytes);

struct tare_units_device_bytes {
	int device; /* -1: every device that has no entry of its own */
	uint64_t bytes;
};

/* "8GiB", or per device "0=8GiB,1=16GiB". At most `max` entries; `count` is set on success. */
int tare_units_parse_device_bytes(const char *text, struct tare_units_device_bytes *out, size_t max, size_t *count);

/* "500ms", "2s", "1.5m", "1h", "250us", "10ns"; no unit means seconds. */
int tare_units_parse_duration(const char *text, int64_t *ns);

/* Every text below fits. The functions return their buffer. */
#define TARE_UNITS_TEXT_MAX 32

enum { TARE_UNITS_LEAST = 52429 };                                     /* bytes: less is 0.0 MiB to people */
char *tare_units_mib(char buf[TARE_UNITS_TEXT_MAX], int64_t bytes);    /* "8,464.8", "-2.0" */
char *tare_units_count(char buf[TARE_UNITS_TEXT_MAX], uint64_t n);     /* "143,771" */
char *tare_units_human(char buf[TARE_UNITS_TEXT_MAX], uint64_t bytes); /* "512 B", "7.7 GiB" */
char *tare_units_duration(char buf[TARE_UNITS_TEXT_MAX], int64_t ns);  /* "1.9 s", "44 ms" */

#endif
