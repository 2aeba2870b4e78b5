/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the output of a command to a file. */
#include "cmd/output.h"

#include "base/file.h"
#include "base/print.h"

#include <string.h>

int tare_cmd_write_file(const char *path, const struct tare_str *text, struct tare_err *err)
{
	bool is_stdout = strcmp(path, "-") == 0;
	int rc = is_stdout ? tare_print(stdout, text) : tare_file_write(path, text, 0666);

	return rc ? tare_err_set_errno(err, -rc, "%s: cannot be written", is_stdout ? "the output" : path) : 0;
}
