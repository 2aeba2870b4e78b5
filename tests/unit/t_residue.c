/* SPDX-License-Identifier: Apache-2.0 */
/* What stays, and which call gives it back: every leaf has one kind, and the kinds sum to what is used. */
#include "base/emit.h"
#include "sample_ledger.h"
#include "test.h"
#include "record/format.h"
#include "view/residue.h"

#include <stdlib.h>
#include <string.h>

#define MIB_IN_QUARTERS(N) ((int64_t)(N) << 18)

static int64_t sum_of(const struct tare_residue_rows *rows)
{
	int64_t sum = 0;

	for (size_t i = 0; i < rows->count; i++)
		sum += rows->rows[i].bytes;
	return sum;
}

static int64_t bytes_of(const struct tare_residue_rows *rows, enum tare_residue kind)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < rows->count; i++)
		bytes += rows->rows[i].kind == kind ? rows->rows[i].bytes : 0;
	return bytes;
}

static void check_balance(const struct tare_ledger *l)
{
	for (int i = 0; i < l->device_nr; i++) {
		const struct tare_device_ledger *d = &l->devices[i];
		struct tare_residue_rows rows;
		int64_t leaves = 0;

		for (int k = 0; k < d->row_nr; k++)
			leaves += d->rows[k].leaf ? d->rows[k].bytes : 0;
		tare_residue_build(&rows, d);
		CHECK_INT(sum_of(&rows), leaves);
		for (size_t k = 1; k < rows.count; k++)
			CHECK(tare_residues[rows.rows[k - 1].kind].when <= tare_residues[rows.rows[k].kind].when);
		tare_residue_free(&rows);
	}
}

TEST(rows_sum_to_the_leaves)
{
	check_balance(sample_train_peak());
	check_balance(sample_train_end());
	check_balance(sample_pair());
	check_balance(sample_uncounted());
	check_balance(sample_ranks());
	check_balance(sample_graphs());
	check_balance(sample_pool());
	check_balance(sample_idle());
}

TEST(each_row_has_its_call)
{
	struct tare_residue_rows rows;

	tare_residue_build(&rows, &sample_train_end()->devices[0]);
	CHECK_INT(bytes_of(&rows, TARE_RESIDUE_STUCK), INT64_C(3346) << 20);
	CHECK_INT(bytes_of(&rows, TARE_RESIDUE_WORKSPACE), 65 << 20);
	CHECK_INT(bytes_of(&rows, TARE_RESIDUE_TENSORS), 311 << 20);
	CHECK_INT(rows.kept, MIB_IN_QUARTERS(1171));
	CHECK_INT(bytes_of(&rows, TARE_RESIDUE_NCCL), 20 << 20);
	CHECK_INT(bytes_of(&rows, TARE_RESIDUE_CODE), 102 << 20);
	CHECK_INT(bytes_of(&rows, TARE_RESIDUE_DIRECT), 0);
	tare_residue_free(&rows);
}

/* A row of PyTorch's pool, of a library, of nobody: by the last part of its path, whichever account it is in. */
TEST(a_row_is_told_by_its_account_and_name)
{
	static const struct {
		enum tare_account account;
		const char *path, *label, *shown;
		enum tare_residue kind;
	} rows[] = {
		{ TARE_ACCOUNT_VMM, "process:1/vmm/libc10_cuda/cached", "cached", "cached, can be given back",
		  TARE_RESIDUE_CACHED },
		{ TARE_ACCOUNT_VMM, "process:1/vmm/libnccl", "libnccl", "NCCL", TARE_RESIDUE_NCCL },
		{ TARE_ACCOUNT_VMM, "process:1/vmm/engine", "engine", "engine", TARE_RESIDUE_VMM },
		{ TARE_ACCOUNT_ALLOCATION, "process:1/allocations/libcublasLt", "libcublasLt", "cuBLAS", TARE_RESIDUE_CUBLAS },
		{ TARE_ACCOUNT_ALLOCATION, "process:1/allocations/a.out", "a.out", "a.out", TARE_RESIDUE_DIRECT },
		{ TARE_ACCOUNT_ALLOCATION, "process:1/allocations/libc10_cuda", "PyTorch (libc10_cuda)",
		  "PyTorch's pool, not told apart", TARE_RESIDUE_TORCH },
		{ TARE_ACCOUNT_POOL_IDLE, "process:1/pools/default/idle", "", "asynchronous pools, not in use",
		  TARE_RESIDUE_POOL_IDLE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tare_row row = { .path = rows[i].path,
			                    .label = rows[i].label,
			                    .account = rows[i].account,
			                    .parent = -1,
			                    .leaf = true,
			                    .bytes = 5 };
		struct tare_device_ledger d = { .rows = &row, .row_nr = 1 };
		struct tare_residue_rows out;

		tare_residue_build(&out, &d);
		CHECK_INT(out.count, 1);
		CHECK_STR(out.rows[0].label, rows[i].shown);
		CHECK_INT(out.rows[0].kind, rows[i].kind);
		tare_residue_free(&out);
	}
}

TEST(most_is_given_back_from_a_fifth_on)
{
	struct tare_row before = { .path = "process:1/allocations/libc10_cuda/tensors/parameter",
		                       .label = "parameter",
		                       .account = TARE_ACCOUNT_ALLOCATION,
		                       .parent = -1,
		                       .leaf = true,
		                       .is_category = true,
		                       .bytes = 1000 << 20 };
	struct tare_row after = before;
	struct tare_device_ledger x = { .rows = &before, .row_nr = 1 }, y = { .rows = &after, .row_nr = 1 };

	after.bytes = 199 << 20;
	CHECK(tare_residue_is_given_back(&x, &y));
	after.bytes = 201 << 20;
	CHECK(!tare_residue_is_given_back(&x, &y));
	before.bytes = 60 << 20; /* next to nothing has gone */
	after.bytes = 0;
	CHECK(!tare_residue_is_given_back(&x, &y));
	CHECK(!tare_residue_is_given_back(NULL, &y));
}

TEST(a_screen_keeps_to_its_width_and_names_the_call)
{
	const struct tare_ledger *both[] = { sample_train_peak(), sample_train_end() };
	struct tare_device_ledger before = *both[0]->devices;
	struct tare_ledger first = *both[0];
	struct tare_row rows[64];
	struct tare_str out = { 0 };
	struct tare_emit e;

	/* A training has let go its activations by its end, and keeps its model: that is none. */
	tare_emit_begin(&e, TARE_EMIT_TEXT, &out);
	tare_residue_text(&e, both, 2);
	tare_emit_end(&e);
	CHECK_INT(out.len, 0);
	tare_str_free(&out);
	for (int i = 0; i < before.row_nr; i++) {
		rows[i] = before.rows[i];
		if (!strcmp(rows[i].label, "parameter"))
			rows[i].bytes = INT64_C(4000) << 20;
	}
	before.rows = rows;
	first.devices = &before;
	both[0] = &first;
	tare_emit_begin(&e, TARE_EMIT_TEXT, &out);
	tare_residue_text(&e, both, 2);
	tare_emit_end(&e);
	CHECK(strstr(tare_str_text(&out), "torch._C._cuda_clearCublasWorkspaces()"));
	CHECK(strstr(tare_str_text(&out), "4,494.5"));
	tare_str_free(&out);
	tare_emit_begin(&e, TARE_EMIT_TEXT, &out);
	tare_residue_text(&e, both, 1);
	tare_emit_end(&e);
	CHECK_INT(out.len, 0);
	tare_str_free(&out);
}
