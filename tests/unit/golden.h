/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_UNIT_GOLDEN_H
#define TARE_TESTS_UNIT_GOLDEN_H

/*
 * Compares with tests/golden/NAME and shows the first line that differs. TARE_UPDATE_GOLDEN=1 writes
 * the files instead: look at the diff before committing it.
 */
void golden_check(const char *name, const char *text);

/* A file of the source tree, "docs/JSON.md"; the caller frees. Fails the test if it is not there. */
char *golden_read_source(const char *path);

#endif
