/* SPDX-License-Identifier: Apache-2.0 */
/* What a later scan that knows less does to the names of tensors: functions return, and what they had is called otherwise elsewhere. */
#include "host_training.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { STUDENT = 0xa000, TEACHER = 0xb000, MANY = 20 };

static void made(struct world *w, uint64_t at)
{
	world_block(w, (struct world_block){ .is_host = true, .t = ++now * MS, .block = at, .bytes = (int64_t)at });
}

/* The name of the block of an address, at the end. */
static const char *name_of(const struct tare_ledger *l, uint64_t at)
{
	for (int i = 0; i < l->hosts[0].blocks.count; i++)
		if (l->hosts[0].blocks.items[i].bytes == (int64_t)at)
			return l->hosts[0].blocks.items[i].name;
	return "no block";
}

/* Two Linears, each in a variable or in none (NULL): a parameter of each, and what the first trains. */
static void scan_modules(struct world *w, const char *student, const char *teacher)
{
	++now;
	world_module(w, now * MS, 0, STUDENT, "Linear");
	world_probe(w, now * MS, TARE_SCANNED_PARAMETER, 0x1010, STUDENT, "weight", 0);
	world_module(w, now * MS, 0, TEACHER, "Linear");
	if (teacher)
		world_probe(w, now * MS, TARE_SCANNED_PARAMETER, 0x1020, TEACHER, "weight", 0);
	world_probe(w, now * MS, TARE_SCANNED_GRADIENT, 0x1030, 0x1010, NULL, 0);
	if (student)
		world_probe(w, now * MS, TARE_SCANNED_MODULE, STUDENT, 0, student, 0);
	if (teacher && *teacher)
		world_probe(w, now * MS, TARE_SCANNED_MODULE, TEACHER, 0, teacher, 0);
	world_sweep(w, now * MS, 0);
}

static struct world *two_modules(void)
{
	struct world *w = world_new();

	now = 0;
	for (uint64_t at = 0x1010; at <= 0x1030; at += 0x10)
		made(w, at);
	return w;
}

static void check_modules(struct world *w, const char *student, const char *teacher, const char *gradient)
{
	struct tare_ledger l = world_ledger(w, "end");

	CHECK_STR(name_of(&l, 0x1010), student);
	CHECK_STR(name_of(&l, 0x1020), teacher);
	CHECK_STR(name_of(&l, 0x1030), gradient);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(names_of_modules_whose_variables_are_gone)
{
	struct world *w = two_modules();

	scan_modules(w, "student", "teacher");
	scan_modules(w, "student", "teacher");
	scan_modules(w, NULL, "");
	check_modules(w, "student.weight", "teacher.weight", "gradient of student.weight");
}

TEST(names_of_modules_that_a_function_calls_otherwise)
{
	struct world *w = two_modules();

	scan_modules(w, "student", "teacher");
	scan_modules(w, "student", "teacher");
	scan_modules(w, "net", "");
	check_modules(w, "student.weight", "teacher.weight", "gradient of student.weight");
}

/* The function that made it has returned: what its caller calls it is found from then on. */
TEST(names_of_modules_that_were_found_while_they_were_made)
{
	struct world *w = two_modules();

	scan_modules(w, "made", "other");
	scan_modules(w, "student", "teacher");
	scan_modules(w, "student", "teacher");
	check_modules(w, "student.weight", "teacher.weight", "gradient of student.weight");
}

/* `self` while they are made, and others that will be parts of them are there. */
TEST(names_of_a_module_that_is_made)
{
	struct world *w = two_modules();

	scan_modules(w, "self", "layer");
	scan_modules(w, "self", "layer");
	scan_modules(w, "model", NULL);
	check_modules(w, "weight", "layer.weight", "gradient of weight");
}

TEST(names_of_modules_where_only_one_is_left)
{
	struct world *w = two_modules();

	scan_modules(w, "student", "teacher");
	scan_modules(w, "student", "teacher");
	scan_modules(w, "student", NULL);
	check_modules(w, "student.weight", "teacher.weight", "gradient of student.weight");
}

/* A scan that finds the tensors `from` to before `to` in a variable. */
static void keep(struct world *w, int from, int to, const char *variable)
{
	++now;
	for (int i = from; i < to; i++)
		world_probe(w, now * MS, TARE_SCANNED_TENSOR, 0x2000 + 16 * (uint64_t)i, 0, variable, TARE_SCANNED_KEPT);
}

static void end_scan(struct world *w)
{
	world_sweep(w, now * MS, 0);
}

static struct world *many_tensors(void)
{
	struct world *w = world_new();

	now = 0;
	for (int i = 0; i < MANY; i++)
		made(w, 0x2000 + 16 * (uint64_t)i);
	return w;
}

static void check_named(struct world *w, int first, const char *name)
{
	struct tare_ledger l = world_ledger(w, "end");

	CHECK_STR(name_of(&l, 0x2000 + 16 * (uint64_t)first), name);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_list_keeps_its_name_when_its_function_has_returned)
{
	struct world *w = many_tensors();

	keep(w, 0, 10, "memory");
	end_scan(w);
	keep(w, 0, MANY, "out");
	end_scan(w);
	check_named(w, 0, "memory");
}

TEST(a_batch_is_put_into_a_list)
{
	struct world *w = many_tensors();

	keep(w, 0, 2, "item");
	end_scan(w);
	keep(w, 0, MANY, "memory");
	end_scan(w);
	check_named(w, 0, "memory");
}

TEST(a_list_that_is_there_and_has_it_no_more)
{
	struct world *w = many_tensors();

	keep(w, 0, 10, "today");
	end_scan(w);
	keep(w, 0, 10, "yesterday");
	keep(w, 10, MANY, "today");
	end_scan(w);
	check_named(w, 0, "yesterday");
}

TEST(self_is_no_name)
{
	struct world *w = many_tensors();

	keep(w, 0, 10, "self");
	end_scan(w);
	keep(w, 0, 10, "results");
	end_scan(w);
	keep(w, 0, 10, "self");
	end_scan(w);
	check_named(w, 0, "results");
}
