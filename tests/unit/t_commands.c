/* SPDX-License-Identifier: Apache-2.0 */
/* Every command's table: what the help, the man page and the completion are made of. */
#include "cmd/cmd.h"
#include "test.h"

TEST(every_command_has_a_name_and_a_synopsis)
{
	for (size_t i = 0; tare_commands[i]; i++) {
		const struct tare_command *c = tare_commands[i];

		CHECK(c->name && c->synopsis && c->opts && c->run);
		CHECK(tare_cmd_find(c->name) == c);
		CHECK(c->synopsis[strlen(c->synopsis) - 1] != '.');
		CHECK(strlen(c->synopsis) < 85);
		CHECK(c->min_operands == 0 || c->operands);
	}
	CHECK(!tare_cmd_find("no-such-command"));
}

TEST(every_option_is_unique_and_explained)
{
	for (size_t i = 0; tare_commands[i]; i++) {
		const struct tare_opt *opts = tare_commands[i]->opts;

		for (const struct tare_opt *o = opts; o->kind != TARE_ARG_END; o++) {
			CHECK(o->name && o->name[0] != '-' && o->help && o->help[0]);
			CHECK((o->kind == TARE_ARG_FLAG) == !o->metavar);
			CHECK(strcmp(o->name, "help") && o->letter != 'h');
			for (const struct tare_opt *p = opts; p < o; p++) {
				CHECK(strcmp(o->name, p->name));
				CHECK(!o->letter || o->letter != p->letter);
			}
		}
	}
}
