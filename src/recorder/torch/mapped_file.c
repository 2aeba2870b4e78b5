/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux tells the file of one mapping from 6.11 on (PROCMAP_QUERY, some microseconds). Before, /proc/self/maps is read
 * up to it, which takes a millisecond where PyTorch is loaded: only in what is left of the time for readings.
 */
#include "recorder/torch/tensors.h"

#include <linux/ioctl.h>
#include <string.h>

#include "recorder/base/plib.h"
#include "recorder/base/sys.h"
#include "recorder/log/emit.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"

/* struct procmap_query of Linux, which older headers do not have. */
struct query {
	uint64_t size, flags, address;
	uint64_t start, end, mapping_flags, page_size, offset, inode;
	uint32_t device_major, device_minor, name_size, build_id_size;
	uint64_t name_address, build_id_address;
};
_Static_assert(sizeof(struct query) == 104, "as Linux has it");
#define QUERY _IOWR('f', 17, struct query)

struct file {
	uint64_t device, inode, offset;
};

static bool ask(int fd, uint64_t address, struct file *out)
{
	struct query q = { .size = sizeof(q), .address = address };

	if (tare_sys6(SYS_ioctl, fd, (long)QUERY, (long)&q, 0, 0, 0) < 0)
		return false;
	*out = (struct file){ (uint64_t)q.device_major << 32 | q.device_minor, q.inode, q.offset };
	return true;
}

static uint64_t hexadecimal(const char **at)
{
	uint64_t value = 0;

	for (;; (*at)++) {
		char c = **at;
		int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

		if (digit < 0)
			return value;
		value = value << 4 | (uint64_t)digit;
	}
}

/* "start-end perms offset major:minor inode path" */
static bool parse(const char *line, uint64_t address, struct file *out)
{
	uint64_t start = hexadecimal(&line), end;

	if (*line++ != '-')
		return false;
	end = hexadecimal(&line);
	if (address < start || address >= end || strlen(line) < 6)
		return false;
	line += 6; /* " rw-s " */
	out->offset = hexadecimal(&line);
	line += *line == ' ';
	out->device = hexadecimal(&line) << 32;
	line += *line == ':';
	out->device |= hexadecimal(&line);
	line += *line == ' ';
	out->inode = tare_plib_number(line);
	return true;
}

/* What a line has beyond its first 95 characters is a part of the path. */
static bool search(int fd, uint64_t address, struct file *out)
{
	char part[1024], line[96];
	size_t len = 0;
	long n;

	while ((n = tare_sys_read(fd, part, sizeof(part))) > 0)
		for (long i = 0; i < n; i++) {
			if (part[i] != '\n') {
				if (len + 1 < sizeof(line))
					line[len++] = part[i];
				continue;
			}
			line[len] = '\0';
			len = 0;
			if (parse(line, address, out))
				return true;
		}
	return false;
}

void tare_mapped_file_record(const void *block)
{
	uint64_t address = (uint64_t)(uintptr_t)block, since = tare_clock_ticks();
	struct tare_rec_mapped_file rec;
	struct file file;
	bool is_found;
	int fd = tare_sys_open("/proc/self/maps", O_RDONLY, 0);

	if (fd < 0)
		return;
	is_found = ask(fd, address, &file);
	if (!is_found && tare_weigh_allowed(TARE_WEIGH_USEFUL)) {
		is_found = search(fd, address, &file);
		tare_weigh_spend(since);
	}
	tare_sys_close(fd);
	if (!is_found || !file.inode)
		return;
	memset(&rec, 0, sizeof(rec));
	rec.block = address;
	rec.device = file.device;
	rec.inode = file.inode;
	rec.offset = file.offset;
	tare_emit_mapped_file(&rec, tare_clock_ticks());
}
