/* SPDX-License-Identifier: Apache-2.0 */
/* Whose each tensor is: modules that run, what a look through the program's objects says of them, and their rows. */
#include "host_training.h"
#include "test.h"
#include "view/module.h"

#include <stdio.h>
#include <string.h>

enum { IN_MODULE = TARE_TENSOR_IN_MODULE, THREAD = 7 };
enum { NET = 0xa000, LAYERS = 0xa100, FIRST = 0xa200, SECOND = 0xa300, OTHER = 0xa400 };

static void made_in(struct world *w, uint64_t module, const char *class, uint64_t at, unsigned int flags)
{
	if (module)
		world_module(w, ++now * MS, THREAD, module, class);
	world_block(w, (struct world_block){ .is_host = true,
	                                     .t = ++now * MS,
	                                     .block = at,
	                                     .bytes = 1000 + (int64_t)at,
	                                     .tid = THREAD,
	                                     .flags = flags });
}

/* A Net with layers of two Linears. */
static void scan(struct world *w, unsigned int flags)
{
	++now;
	world_module(w, now * MS, 0, NET, "Net");
	world_probe(w, now * MS, TARE_SCANNED_MODULE, LAYERS, NET, "layers", 0);
	world_module(w, now * MS, 0, LAYERS, "Sequential");
	world_probe(w, now * MS, TARE_SCANNED_MODULE, FIRST, LAYERS, "0", 0);
	world_probe(w, now * MS, TARE_SCANNED_MODULE, SECOND, LAYERS, "1", 0);
	world_module(w, now * MS, 0, FIRST, "Linear");
	world_probe(w, now * MS, TARE_SCANNED_PARAMETER, 0x10, FIRST, "weight", 0);
	world_module(w, now * MS, 0, SECOND, "Linear");
	world_probe(w, now * MS, TARE_SCANNED_GRADIENT, 0x20, 0x10, NULL, 0);
	world_probe(w, now * MS, TARE_SCANNED_STATE, 0x30, 0x10, "exp_avg", 0);
	world_sweep(w, now * MS, flags);
}

/* "layers.0 Linear" of the block of an address, at the end. */
static const char *module_of(struct tare_ledger *l, uint64_t at)
{
	static char text[64];

	snprintf(text, sizeof(text), "no block");
	for (int i = 0; i < l->hosts[0].blocks.count; i++) {
		const struct tare_tensor_row *t = &l->hosts[0].blocks.items[i];

		if (t->bytes == 1000 + (int64_t)at)
			snprintf(text, sizeof(text), "%s %s", t->module ? t->module->path : "none",
			         t->module && t->module->class ? t->module->class : "–");
	}
	return text;
}

#define CHECK_MODULE(at, wanted) CHECK_STR(module_of(&l, at), wanted)

TEST(modules_have_the_tensors_that_were_made_in_them)
{
	struct world *w = world_new();
	struct tare_ledger l;

	now = 0;
	made_in(w, FIRST, "Linear", 0x100, IN_MODULE);
	made_in(w, 0, NULL, 0x200, IN_MODULE); /* in the same */
	made_in(w, 0, NULL, 0x300, 0);         /* in none */
	made_in(w, NET, "Net", 0x400, IN_MODULE);
	scan(w, TARE_SCAN_MODULES);
	made_in(w, SECOND, "Linear", 0x500, IN_MODULE | IN_BACKWARD);
	l = world_ledger(w, "end");
	CHECK_MODULE(0x100, "layers.0 Linear");
	CHECK_MODULE(0x200, "layers.0 Linear");
	CHECK_MODULE(0x300, "none –");
	CHECK_MODULE(0x400, "Net Net");
	CHECK_MODULE(0x500, "layers.1 Linear");
	tare_ledger_free(&l);
	world_free(w);
}

TEST(modules_have_their_parameters_gradients_and_states)
{
	struct world *w = world_new();
	struct tare_ledger l;

	now = 0;
	made_in(w, 0, NULL, 0x10, 0);
	made_in(w, 0, NULL, 0x20, IN_BACKWARD);
	made_in(w, SECOND, "Linear", 0x30, IN_MODULE); /* what the program says is stronger */
	scan(w, 0);
	l = world_ledger(w, "end");
	CHECK_MODULE(0x10, "layers.0 Linear");
	CHECK_MODULE(0x20, "layers.0 Linear");
	CHECK_MODULE(0x30, "layers.0 Linear");
	tare_ledger_free(&l);
	world_free(w);
}

/* No scan ever found them: their class is all that is known. */
TEST(modules_that_no_scan_finds_have_their_class)
{
	struct world *w = world_new();
	struct tare_ledger l;

	now = 0;
	made_in(w, FIRST, "Linear", 0x100, IN_MODULE);
	made_in(w, SECOND, NULL, 0x200, IN_MODULE);
	world_block(w, (struct world_block){ .is_host = true,
	                                     .t = ++now * MS,
	                                     .block = 0x300,
	                                     .bytes = 1000 + 0x300,
	                                     .tid = 8, /* which never said one */
	                                     .flags = IN_MODULE });
	l = world_ledger(w, "end");
	CHECK_MODULE(0x100, "Linear Linear");
	CHECK_MODULE(0x200, "module –");
	CHECK_MODULE(0x300, "none –");
	tare_ledger_free(&l);
	world_free(w);
}

/* What an importer knows of modules: how they are called, and not which is in which. */
TEST(modules_that_are_in_no_other_may_have_a_name)
{
	struct world *w = world_new();
	struct tare_module_classes classes;
	struct tare_module_tree tree;
	struct tare_ledger l;

	now = 1;
	world_module(w, now * MS, 0, FIRST, "Linear");
	world_probe(w, now * MS, TARE_SCANNED_MODULE, FIRST, 0, "Linear_0", 0);
	world_module(w, now * MS, 0, SECOND, "Linear");
	world_probe(w, now * MS, TARE_SCANNED_MODULE, SECOND, 0, "Linear_1", 0);
	world_probe(w, now * MS, TARE_SCANNED_MODULE, NET, 0, "Net_0", 0); /* nothing else tells of it */
	world_sweep(w, now * MS, TARE_SCAN_MODULES);
	made_in(w, FIRST, "Linear", 0x100, IN_MODULE);
	made_in(w, SECOND, "Linear", 0x200, IN_MODULE);
	made_in(w, NET, "Net", 0x300, IN_MODULE);
	l = world_ledger(w, "end");
	CHECK_MODULE(0x100, "Linear_0 Linear");
	CHECK_MODULE(0x200, "Linear_1 Linear");
	CHECK_MODULE(0x300, "Net Net");
	tare_module_tree_build(&tree, &l.hosts[0].blocks);
	tare_module_classes_build(&classes, &tree);
	CHECK_INT(classes.count, 2);
	CHECK_STR(classes.items[0].name, "Linear");
	CHECK_INT(classes.items[0].modules, 2);
	CHECK_INT(classes.items[0].own.bytes, 2000 + 0x100 + 0x200);
	tare_module_classes_free(&classes);
	tare_module_tree_free(&tree);
	tare_ledger_free(&l);
	world_free(w);
}

/* Another class, or after a whole scan that did not find it, the same one. */
TEST(modules_at_the_address_of_one_that_is_gone_are_others)
{
	struct world *w = world_new();
	struct tare_ledger l;

	now = 0;
	made_in(w, FIRST, "Linear", 0x100, IN_MODULE);
	made_in(w, LAYERS + 8, "Dropout", 0x200, IN_MODULE);
	scan(w, 0);
	made_in(w, FIRST, "ReLU", 0x300, IN_MODULE);
	world_module(w, ++now * MS, 0, NET, "Net");
	world_sweep(w, now * MS, 0);
	made_in(w, FIRST, "Linear", 0x400, IN_MODULE);
	l = world_ledger(w, "end");
	CHECK_MODULE(0x100, "layers.0 Linear");
	CHECK_MODULE(0x200, "Dropout Dropout");
	CHECK_MODULE(0x300, "ReLU ReLU");
	CHECK_MODULE(0x400, "Linear Linear");
	tare_ledger_free(&l);
	world_free(w);
}

/* What no program does; but a recording may be damaged. */
TEST(modules_that_are_in_each_other_end)
{
	struct world *w = world_new();
	struct tare_module_tree tree;
	struct tare_ledger l;

	now = 0;
	made_in(w, FIRST, "Linear", 0x100, IN_MODULE);
	world_module(w, ++now * MS, 0, SECOND, "Linear");
	world_module(w, now * MS, 0, FIRST, "Linear");
	world_probe(w, now * MS, TARE_SCANNED_MODULE, FIRST, SECOND, "a", 0);
	world_probe(w, now * MS, TARE_SCANNED_MODULE, SECOND, FIRST, "b", 0);
	world_sweep(w, now * MS, 0);
	l = world_ledger(w, "end");
	tare_module_tree_build(&tree, &l.hosts[0].blocks);
	CHECK_INT(tree.all.bytes, 1100 + 0x100 - 100);
	tare_module_tree_free(&tree);
	tare_ledger_free(&l);
	world_free(w);
}

/* Own sizes sum to all; parents stand before what is in them, in the order that the program has. */
TEST(modules_are_a_tree)
{
	static const char *const order[] = { "Net", "layers", "layers.0", "layers.1", NULL, NULL };
	struct world *w = world_new();
	struct tare_module_classes classes;
	struct tare_module_tree tree;
	struct tare_ledger l;
	int64_t own = 0;

	now = 0;
	scan(w, TARE_SCAN_MODULES);
	made_in(w, SECOND, "Linear", 0x500, IN_MODULE);
	made_in(w, FIRST, "Linear", 0x100, IN_MODULE);
	made_in(w, NET, "Net", 0x400, IN_MODULE);
	made_in(w, 0, NULL, 0x300, 0);
	made_in(w, 0, NULL, 0x200, IN_BACKWARD);
	l = world_ledger(w, "end");
	tare_module_tree_build(&tree, &l.hosts[0].blocks);
	CHECK_INT(tree.count, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct tare_module_node *n = &tree.items[i];

		own += n->own.bytes;
		CHECK_STR(n->row ? n->row->path : "", order[i] ? order[i] : "");
		CHECK(n->parent <= i);
	}
	CHECK_INT(own, tree.all.bytes);
	CHECK_INT(tree.items[0].all.bytes, 3000 + 0x500 + 0x100 + 0x400);
	CHECK_INT(tree.items[1].all.bytes, 2000 + 0x500 + 0x100);
	CHECK_INT(tree.items[1].own.bytes, 0);
	CHECK(!tree.items[4].is_of_backward && tree.items[5].is_of_backward);
	tare_module_classes_build(&classes, &tree);
	CHECK_INT(classes.count, 2);
	CHECK_STR(classes.items[0].name, "Linear");
	CHECK_INT(classes.items[0].modules, 2);
	tare_module_classes_free(&classes);
	tare_module_tree_free(&tree);
	tare_ledger_free(&l);
	world_free(w);
}

/* Layers of two networks have the same names in them: the variable stands before, as in names of parameters. */
TEST(modules_of_several_networks_are_told_apart)
{
	struct world *w = world_new();
	struct tare_ledger l;

	now = 0;
	made_in(w, FIRST, "Linear", 0x100, IN_MODULE);
	for (int i = 0; i < 2; i++) {
		world_probe(w, ++now * MS, TARE_SCANNED_MODULE, NET, 0, "student", 0);
		world_module(w, now * MS, 0, OTHER, "Linear");
		world_probe(w, now * MS, TARE_SCANNED_PARAMETER, 0x40, OTHER, "weight", 0);
		world_probe(w, now * MS, TARE_SCANNED_MODULE, OTHER, 0, "teacher", 0);
		scan(w, 0);
	}
	l = world_ledger(w, "end");
	CHECK_MODULE(0x100, "student.layers.0 Linear");
	tare_ledger_free(&l);
	world_free(w);
}
