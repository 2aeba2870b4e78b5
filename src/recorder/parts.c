/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that are told what happens to the process: parts.def, spelled out when this is compiled. */
#include "recorder/base/parts.h"

static void start_parts(char **envp)
{
#define TARE_PART_READS(name) tare_##name##_start(envp);
#include "recorder/parts.def"
#define TARE_PART_STARTS(name) tare_##name##_start();
#include "recorder/parts.def"
}

static void fork_parts(void)
{
#define TARE_PART_FORKED(name) tare_##name##_forked();
#include "recorder/parts.def"
}

static void open_parts(void)
{
#define TARE_PART_OPENED(name) tare_##name##_opened();
#include "recorder/parts.def"
}

static void device_parts(int ordinal)
{
#define TARE_PART_DEVICE(name) tare_##name##_device(ordinal);
#include "recorder/parts.def"
}

static void end_parts(void)
{
#define TARE_PART_ENDS(name) tare_##name##_end();
#include "recorder/parts.def"
}

static const struct tare_part_table parts TARE_PARTS_SECTION = {
	.start = start_parts, .forked = fork_parts, .opened = open_parts, .device = device_parts, .end = end_parts
};
