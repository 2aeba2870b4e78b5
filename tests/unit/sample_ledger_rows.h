/* SPDX-License-Identifier: Apache-2.0 */
/* How rows and lines of a ledger made by hand are written, a line each. */
#ifndef TARE_TESTS_UNIT_SAMPLE_LEDGER_ROWS_H
#define TARE_TESTS_UNIT_SAMPLE_LEDGER_ROWS_H

#include "sample_ledger.h"

#include "record/format.h"

#define MIB(N)   ((int64_t)((N)*1048576.0))
#define NR(ROWS) ((int)(sizeof(ROWS) / sizeof((ROWS)[0])))

/* clang-format off */
#define ROW(PATH, LABEL, PARENT, DEPTH, LEAF, ACCOUNT, EVIDENCE, BYTES, COUNT, PID)                \
	{ .path = PATH, .label = LABEL, .parent = PARENT, .depth = DEPTH, .leaf = LEAF,            \
	  .account = TARE_ACCOUNT_##ACCOUNT, .evidence = TARE_EVIDENCE_##EVIDENCE,                 \
	  .bytes = MIB(BYTES), .low = MIB(BYTES), .high = MIB(BYTES), .count = COUNT,              \
	  .driver_ns = (COUNT) * 1500000, .pid = PID, .rank = -1, .rank_at = -1 }
/* PyTorch's live tensors, whose row is PARENT, and what they are for. */
#define TENSORS(POOL, PARENT, BYTES, COUNT)                                                        \
	{ .path = POOL "/tensors", .label = "live tensors", .parent = PARENT, .depth = 3,          \
	  .account = TARE_ACCOUNT_ALLOCATION, .evidence = TARE_EVIDENCE_EXACT, .bytes = MIB(BYTES), \
	  .low = MIB(BYTES), .high = MIB(BYTES), .count = COUNT, .driver_ns = (COUNT) * 1500000,   \
	  .has_categories = true, .pid = 431, .rank = -1, .rank_at = -1 }
#define CATEGORY(POOL, NAME, LABEL, PARENT, EVIDENCE, BYTES, COUNT)                                \
	{ .path = POOL "/tensors/" NAME, .label = LABEL, .parent = PARENT, .depth = 4, .leaf = true, \
	  .account = TARE_ACCOUNT_ALLOCATION, .evidence = TARE_EVIDENCE_##EVIDENCE,                \
	  .bytes = MIB(BYTES), .low = MIB(BYTES), .high = MIB(BYTES), .count = COUNT,              \
	  .is_category = true, .pid = 431, .rank = -1, .rank_at = -1 }
/* Two files are called model.py; granularity is no line's. */
#define LINE(FOLDER, FILE, NR_, FUNCTION, CALLER, EVIDENCE, BYTES, COUNT)                          \
	{ .label = FOLDER "/" FILE ":" #NR_ " in " FUNCTION, .short_label = FILE ":" #NR_ " in " FUNCTION, \
	  .stack = FOLDER "/" FILE ":" #NR_ " in " FUNCTION " < " CALLER,                          \
	  .short_stack = FILE ":" #NR_ " in " FUNCTION " < " CALLER,                               \
	  .frame_ends = (const uint32_t[]){ sizeof(FOLDER "/" FILE ":" #NR_ " in " FUNCTION) - 1,  \
					    sizeof(FOLDER "/" FILE ":" #NR_ " in " FUNCTION " < " CALLER) - 1 }, \
	  .short_frame_ends = (const uint32_t[]){ sizeof(FILE ":" #NR_ " in " FUNCTION) - 1,       \
						  sizeof(FILE ":" #NR_ " in " FUNCTION " < " CALLER) - 1 }, \
	  .frame_nr = 2,                                                                           \
	  .file = FOLDER "/" FILE, .line = NR_, .function = FUNCTION, .pid = 431,                  \
	  .evidence = TARE_EVIDENCE_##EVIDENCE, .bytes = MIB(BYTES), .count = COUNT }
#define NO_LINE(LABEL, EVIDENCE, BYTES, PID)                                                       \
	{ .label = LABEL, .short_label = LABEL, .stack = LABEL, .short_stack = LABEL, .pid = PID,  \
	  .evidence = TARE_EVIDENCE_##EVIDENCE, .bytes = MIB(BYTES) }
#define H200(ROWS, LINES, USED, ELASTIC, REST, T)                                                         \
	{ .index = 0, .name = "NVIDIA H200", .uuid = "GPU-5a0f6e5c-1d2e-4f3a-8b7c-0123456789ab",   \
	  .total = (uint64_t)MIB(143771), .reserved = (uint64_t)MIB(615.0625),                     \
	  .used = (uint64_t)MIB(USED), .used_start = 0, .elastic = MIB(ELASTIC),                   \
	  .unexplained = MIB(REST), .t_ns = T, .peak_t_ns = 1900000000,                            \
	  .peak_used = (uint64_t)MIB(8464.8125), .used_by = TARE_EVIDENCE_WEIGHED, .nvml = true,   \
	  .rows = ROWS, .row_nr = NR(ROWS), .lines = LINES, .line_nr = NR(LINES) }
/* clang-format on */

#endif
