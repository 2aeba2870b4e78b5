/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads a state file: header, checksum, the bytes of the state, and what lies behind them. */
#include "store/state_file.h"

#include "base/file.h"
#include "record/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATE_MAX (UINT64_C(4) << 30)
enum { TOLD_MAX = 64 << 20 };

static int write_file(const char *path, const struct tare_state_header *head, const struct tare_pack *body)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), rc;

	if (fd < 0)
		return errno;
	rc = tare_file_write_all(fd, head, sizeof(*head));
	if (!rc)
		rc = tare_file_write_all(fd, body->data, body->len);
	return tare_file_close_synced(fd, rc);
}

int tare_state_write(const char *path, uint32_t number, int64_t until_ns, const struct tare_state_bytes *bytes,
                     uint64_t *bytes_written, struct tare_err *err)
{
	struct tare_state_header head = { .magic = TARE_STATE_MAGIC,
		                              .endian = TARE_ENDIAN_MARK,
		                              .version = TARE_STATE_VERSION,
		                              .number = number,
		                              .until_ns = until_ns,
		                              .size = bytes->size };
	TARE_FREED_BY(tare_str_free) struct tare_str fresh = { 0 };
	TARE_FREED_BY(tare_pack_free) struct tare_pack body = { 0 };
	int rc;

	snprintf(head.tool, sizeof(head.tool), "%s", TARE_VERSION);
	tare_pack_zipped(&body, bytes->state, bytes->size);
	tare_pack_zipped(&body, bytes->told, bytes->told_size);
	tare_pack_zipped(&body, bytes->ended, bytes->ended_size);
	head.sum = tare_checksum(body.data, body.len);
	head.head_sum = tare_checksum(&head, offsetof(struct tare_state_header, head_sum));
	tare_str_addf(&fresh, "%s.new", path);
	rc = write_file(fresh.data, &head, &body);
	if (!rc && rename(fresh.data, path) < 0)
		rc = errno;
	if (rc) {
		unlink(fresh.data);
		rc = tare_err_set_errno(err, rc, "%s", path);
	}
	if (bytes_written)
		*bytes_written = sizeof(head) + body.len;
	return rc;
}

static bool is_sane(const struct tare_state_header *head, const struct tare_str *file, uint32_t number)
{
	const char *body = file->data + sizeof(*head);

	return !memcmp(head->magic, TARE_STATE_MAGIC, sizeof(head->magic)) && head->endian == TARE_ENDIAN_MARK &&
	       head->version == TARE_STATE_VERSION &&
	       head->head_sum == tare_checksum(head, offsetof(struct tare_state_header, head_sum)) &&
	       head->number == number && head->size <= STATE_MAX &&
	       head->sum == tare_checksum(body, file->len - sizeof(*head));
}

/* The caller frees the file, of which `in` is what lies behind the header. */
static int read_file(struct tare_str *file, struct tare_state_header *head, struct tare_unpack *in, const char *path,
                     uint32_t number, struct tare_err *err)
{
	int rc = tare_file_read(file, path, STATE_MAX, err);

	if (rc)
		return rc;
	if (file->len >= sizeof(*head))
		memcpy(head, file->data, sizeof(*head));
	if (file->len < sizeof(*head) || !is_sane(head, file, number))
		return tare_err_set(err, TARE_E_FORMAT, "%s is damaged, or of another Tare", path);
	*in = (struct tare_unpack){ (const uint8_t *)file->data + sizeof(*head), (const uint8_t *)file->data + file->len,
		                        false };
	return 0;
}

int tare_state_read(const char *path, uint32_t number, int64_t until_ns, struct tare_pack *out, bool *is_ours,
                    struct tare_err *err)
{
	struct tare_state_header head;
	TARE_FREED_BY(tare_str_free) struct tare_str file = { 0 };
	struct tare_unpack in;
	int rc = read_file(&file, &head, &in, path, number, err);

	if (!rc && (head.until_ns != until_ns || !tare_unpack_zipped(&in, out, head.size) || out->len != head.size))
		rc = tare_err_set(err, TARE_E_FORMAT, "%s is damaged", path);
	if (!rc && is_ours)
		*is_ours = !strncmp(head.tool, TARE_VERSION, sizeof(head.tool));
	return rc;
}

/* What lies behind so many others. */
static int read_behind(const char *path, uint32_t number, int before, int64_t *until_ns, struct tare_pack *out)
{
	struct tare_state_header head;
	TARE_FREED_BY(tare_str_free) struct tare_str file = { 0 };
	struct tare_unpack in;
	int rc = read_file(&file, &head, &in, path, number, NULL);

	out->len = 0;
	if (!rc) {
		*until_ns = head.until_ns;
		for (int i = 0; i < before && in.at < in.end; i++)
			tare_unpack_skip_zipped(&in);
		if (in.at < in.end && !tare_unpack_zipped(&in, out, TOLD_MAX))
			rc = TARE_E_FORMAT;
	}
	return rc;
}

int tare_state_read_told(const char *path, uint32_t number, int64_t *until_ns, struct tare_pack *told)
{
	return read_behind(path, number, 1, until_ns, told);
}

int tare_state_read_ended(const char *path, uint32_t number, struct tare_pack *ended)
{
	int64_t until_ns;

	return read_behind(path, number, 2, &until_ns, ended);
}
