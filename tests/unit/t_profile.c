/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static struct tare_profile profile;
static char error[512];

static char *h200(void)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/simgpu/profiles/h200.profile", getenv("TARE_SOURCE_ROOT"));
	return path;
}

static int read_text(const char *text)
{
	char path[] = "/tmp/t-profile-XXXXXX";
	int fd = mkstemp(path), result;

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	result = tare_profile_read(path, &profile, error, sizeof(error));
	unlink(path);
	return result;
}

TEST(the_h200_is_read)
{
	CHECK_INT(tare_profile_read(h200(), &profile, error, sizeof(error)), 0);
	CHECK_STR(profile.name, "NVIDIA H200");
	CHECK_INT(profile.page, 2 << 20);
	CHECK_INT(profile.context, 548995072);
	CHECK_INT(profile.pci_device_id, 0x233510de);
	CHECK_INT(tare_profile_number(&profile, TARE_PROFILE_sm_count), 132);
}

/* What was written is read as the same values, for the H200 and for the fallbacks. */
static void write_and_read(const struct tare_profile *wanted)
{
	char text[16384] = "", value[TARE_PROFILE_TEXT_MAX];
	size_t at = 0;

	for (int key = 0; key < TARE_PROFILE_KEYS; key++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s = %s\n", tare_profile_rows[key].name,
		                       tare_profile_format(wanted, (enum tare_profile_key)key, value));
	CHECK_INT(read_text(text), 0);
	CHECK(memcmp(&profile, wanted, sizeof(profile)) == 0);
}

TEST(what_is_written_is_read)
{
	struct tare_profile wanted;

	CHECK_INT(tare_profile_read(h200(), &wanted, error, sizeof(error)), 0);
	write_and_read(&wanted);
	tare_profile_set_fallbacks(&wanted);
	write_and_read(&wanted);
	CHECK_INT(wanted.page, 2 << 20);
	CHECK_STR(wanted.name, "GPU");
}

TEST(every_fallback_is_a_value)
{
	for (int key = 0; key < TARE_PROFILE_KEYS; key++)
		CHECK_INT(tare_profile_set(&profile, (enum tare_profile_key)key, tare_profile_rows[key].fallback), 0);
}

TEST(sizes_as_people_write_them)
{
	char text[TARE_PROFILE_TEXT_MAX];

	CHECK_STR(tare_profile_format_number(TARE_PROFILE_context, 548995072, text), "523.5625 MiB");
	CHECK_STR(tare_profile_format_number(TARE_PROFILE_page, 2 << 20, text), "2 MiB");
	CHECK_STR(tare_profile_format_number(TARE_PROFILE_init, 3264 << 10, text), "3.1875 MiB");
	CHECK_STR(tare_profile_format_number(TARE_PROFILE_graph_node, 2360, text), "2360");
	CHECK_STR(tare_profile_format_number(TARE_PROFILE_total, 150755868672, text), "143772 MiB");
	CHECK_STR(tare_profile_format_number(TARE_PROFILE_total, 1ull << 34, text), "16 GiB");
	CHECK_STR(tare_profile_format_number(TARE_PROFILE_page, 0, text), "0");
	CHECK_STR(tare_profile_format_number(TARE_PROFILE_pci_device_id, 0x233510de, text), "0x233510de");
	CHECK_STR(tare_profile_format_number(TARE_PROFILE_sm_count, 1048576, text), "1048576");
}

TEST(what_is_no_profile)
{
	CHECK_INT(read_text("# a comment\n\nname = X\ntotal = 5 apples\n"), -1);
	CHECK_HAS(error, ":4: not a key of a device profile");
	CHECK_INT(read_text("name =\n"), -1);
	CHECK_HAS(error, ":1: not a key");
	CHECK_INT(read_text("nane = X\n"), -1);
	CHECK_HAS(error, ":1: not a key");
	CHECK_INT(read_text("name = X\n"), -1);
	CHECK_HAS(error, "the key compute_major is missing; tare calibrate writes a whole one");
	CHECK_INT(tare_profile_read("/nonexistent/x", &profile, error, sizeof(error)), -1);
	CHECK_HAS(error, "/nonexistent/x: ");
	CHECK_HAS(error, "name a device profile");
}
