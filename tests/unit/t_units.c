/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "test.h"

#include <errno.h>

static uint64_t bytes(const char *text)
{
	uint64_t b = 77;

	CHECK_INT(tare_units_parse_bytes(text, &b), 0);
	return b;
}

static int64_t ns(const char *text)
{
	int64_t t = 77;

	CHECK_INT(tare_units_parse_duration(text, &t), 0);
	return t;
}

TEST(bytes_in_every_spelling)
{
	CHECK_INT(bytes("0"), 0);
	CHECK_INT(bytes("512"), 512);
	CHECK_INT(bytes("8GiB"), INT64_C(8) << 30);
	CHECK_INT(bytes("1g"), 1 << 30);
	CHECK_INT(bytes("1024m"), 1 << 30);
	CHECK_INT(bytes("1.5k"), 1536);
	CHECK_INT(bytes(" 2 MiB "), 2 << 20);
	CHECK_INT(bytes("7.7GiB"), 8267812045);
	CHECK_INT(bytes("8GB"), 8000000000);
	CHECK_INT(bytes("0.1"), 0);
	CHECK_INT(bytes("18446744073709551615"), -1);
	CHECK_INT(bytes("1.0000000000000000000000000000000000000001k"), 1024);
}

TEST(bytes_that_are_none)
{
	static const char *const bad[] = { "", " ", "g", ".", "-1", "1x", "1.2.3", "1 g b", "0x10", "1e9", "8GiBB" };
	uint64_t b = 5;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(tare_units_parse_bytes(bad[i], &b), -EINVAL);
	CHECK_INT(tare_units_parse_bytes("18446744073709551616", &b), -ERANGE);
	CHECK_INT(tare_units_parse_bytes("99999999999999999999999999999999999999999", &b), -ERANGE);
	CHECK_INT(tare_units_parse_bytes("16777216t", &b), -ERANGE);
	CHECK_INT(b, 5);
}

TEST(bytes_per_device)
{
	struct tare_units_device_bytes d[2];
	size_t n = 9;

	CHECK_INT(tare_units_parse_device_bytes("8GiB", d, 2, &n), 0);
	CHECK_INT(n, 1);
	CHECK_INT(d[0].device, -1);
	CHECK_INT(d[0].bytes, INT64_C(8) << 30);
	CHECK_INT(tare_units_parse_device_bytes("0=8GiB,11=16g", d, 2, &n), 0);
	CHECK_INT(n, 2);
	CHECK_INT(d[1].device, 11);
	CHECK_INT(d[1].bytes, INT64_C(16) << 30);
	n = 9;
	CHECK_INT(tare_units_parse_device_bytes("0=1,1=2,2=3", d, 2, &n), -ERANGE);
	CHECK_INT(tare_units_parse_device_bytes("0=1,0=2", d, 2, &n), -EINVAL);
	CHECK_INT(tare_units_parse_device_bytes("=1", d, 2, &n), -EINVAL);
	CHECK_INT(tare_units_parse_device_bytes("0=", d, 2, &n), -EINVAL);
	CHECK_INT(tare_units_parse_device_bytes("0=1,", d, 2, &n), -EINVAL);
	CHECK_INT(tare_units_parse_device_bytes("x=1", d, 2, &n), -EINVAL);
	CHECK_INT(n, 9);
}

TEST(durations)
{
	int64_t t = 5;

	CHECK_INT(ns("2s"), 2000000000);
	CHECK_INT(ns("1.5"), 1500000000);
	CHECK_INT(ns("500ms"), 500000000);
	CHECK_INT(ns("250us"), 250000);
	CHECK_INT(ns("10ns"), 10);
	CHECK_INT(ns("1.5m"), INT64_C(90000000000));
	CHECK_INT(ns("1h"), INT64_C(3600000000000));
	CHECK_INT(tare_units_parse_duration("soon", &t), -EINVAL);
	CHECK_INT(tare_units_parse_duration("99999999h", &t), -ERANGE);
	CHECK_INT(t, 5);
}

TEST(mebibytes_with_one_decimal)
{
	char b[TARE_UNITS_TEXT_MAX];

	CHECK_STR(tare_units_mib(b, 0), "0.0");
	CHECK_STR(tare_units_mib(b, INT64_C(8876002509)), "8,464.8");
	CHECK_STR(tare_units_mib(b, -(2 << 20)), "-2.0");
	CHECK_STR(tare_units_mib(b, -1), "0.0");
	CHECK_STR(tare_units_mib(b, (1 << 20) - 1), "1.0");
	CHECK_STR(tare_units_mib(b, INT64_MAX), "8,796,093,022,208.0");
	CHECK_STR(tare_units_mib(b, INT64_MIN), "-8,796,093,022,208.0");
	CHECK_STR(tare_units_mib(b, (INT64_C(999) << 20) + 1048575), "1,000.0");
}

TEST(counts_sizes_and_times_for_people)
{
	char b[TARE_UNITS_TEXT_MAX];

	CHECK_STR(tare_units_count(b, 0), "0");
	CHECK_STR(tare_units_count(b, 999), "999");
	CHECK_STR(tare_units_count(b, 143771), "143,771");
	CHECK_STR(tare_units_count(b, UINT64_MAX), "18,446,744,073,709,551,615");
	CHECK_STR(tare_units_human(b, 512), "512 B");
	CHECK_STR(tare_units_human(b, 18 << 20), "18.0 MiB");
	CHECK_STR(tare_units_human(b, UINT64_MAX), "16.0 EiB");
	CHECK_STR(tare_units_duration(b, 41200000000), "41.2 s");
	CHECK_STR(tare_units_duration(b, 44000000), "44 ms");
	CHECK_STR(tare_units_duration(b, 9800), "9.8 us");
	CHECK_STR(tare_units_duration(b, 120), "120 ns");
}
