/* SPDX-License-Identifier: Apache-2.0 */
/* report and info on recordings made by hand: what they print, their sentences, their exit codes. */
#include "base/arena.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "make_log.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char out[1 << 20], errors[1 << 16];

static void read_back(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
}

/* Runs a command in this process with its output in `out` and `errors`; the last argument is NULL. */
static int run(const struct tare_command *command, const char *first, ...)
{
	int stdout_fd = dup(STDOUT_FILENO), stderr_fd = dup(STDERR_FILENO), argc = 0, code;
	FILE *to = tmpfile(), *err_to = tmpfile();
	char *argv[16] = { NULL };
	va_list ap;

	CHECK(to && err_to);
	argv[argc++] = (char *)first;
	va_start(ap, first);
	while ((argv[argc] = va_arg(ap, char *)))
		argc++;
	va_end(ap);
	fflush(stdout);
	dup2(fileno(to), STDOUT_FILENO);
	dup2(fileno(err_to), STDERR_FILENO);
	code = tare_cmd_call(command, argc, argv);
	fflush(stdout);
	dup2(stdout_fd, STDOUT_FILENO);
	dup2(stderr_fd, STDERR_FILENO);
	read_back(fileno(to), out, sizeof(out));
	read_back(fileno(err_to), errors, sizeof(errors));
	return code;
}

static const char *recording(void)
{
	static char folder[512];
	struct make_log m;

	if (folder[0])
		return folder;
	snprintf(folder, sizeof(folder), "%s", make_path(make_dir(), "train.tare"));
	CHECK(mkdir(folder, 0700) == 0);
	make_log_init(&m, 431, 0);
	make_log_program(&m);
	make_log_write(&m, make_path(folder, "431-0.events"), SIZE_MAX);
	make_log_free(&m);
	return folder;
}

TEST(report_shows_peak_and_end)
{
	setenv("LC_ALL", "C.UTF-8", 1);
	CHECK_INT(run(&tare_command_report, "report", recording(), NULL), 0);
	CHECK_HAS(out, "AT PEAK");
	CHECK_HAS(out, "AT END");
	CHECK_HAS(out, "unexplained");
	CHECK_HAS(out, "evidence");
}

TEST(report_is_ascii_where_the_locale_is)
{
	setenv("LC_ALL", "C", 1);
	CHECK_INT(run(&tare_command_report, "report", recording(), NULL), 0);
	for (const char *p = out; *p; p++)
		CHECK((unsigned char)*p < 0x80);
	CHECK(!strchr(out, '\033'));
}

static const struct tare_json_value *parse_output(struct tare_arena *arena)
{
	const struct tare_json_value *root;
	struct tare_err err;

	if (tare_json_parse(arena, out, strlen(out), &root, &err))
		test_fail(__FILE__, __LINE__, "%s in\n%s", err.text, out);
	return root;
}

TEST(json_is_one_object_with_further_instants_in_also)
{
	const struct tare_json_value *root;
	struct tare_arena arena = { 0 };

	CHECK_INT(run(&tare_command_report, "report", recording(), "--json", NULL), 0);
	root = parse_output(&arena);
	CHECK_STR(tare_json_get_str(root, "at.label"), "peak");
	CHECK_STR(tare_json_get_str(root, "also.0.at.label"), "end");
	CHECK_INT(run(&tare_command_report, "report", recording(), "--json", "--at", "end", "--by", "owner", NULL), 0);
	root = parse_output(&arena);
	CHECK_STR(tare_json_get_str(root, "at.label"), "end");
	CHECK_STR(tare_json_get_str(root, "by"), "owner");
	CHECK(!tare_json_get(root, "also"));
	tare_arena_free(&arena);
}

TEST(every_grouping_answers)
{
	static const char *const groupings[] = { "account", "owner", "process", "library", "line", "stack" };
	static const char *const later[] = { "category", "tensor", "phase", "pool", "stream", "rank" };
	const char *rec = recording();

	for (size_t i = 0; i < sizeof(groupings) / sizeof(groupings[0]); i++) {
		CHECK_INT(run(&tare_command_report, "report", rec, "--by", groupings[i], NULL), 0);
		CHECK_HAS(out, "unexplained");
	}
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		CHECK_INT(run(&tare_command_report, "report", rec, "--by", later[i], NULL), 0);
		CHECK_HAS(out, "this recording holds no");
	}
	CHECK_INT(run(&tare_command_report, "report", rec, "--by", "phase", NULL), 0);
	CHECK_HAS(out, "tare run --phase make them");
	CHECK_INT(run(&tare_command_report, "report", rec, "--by", "graph", NULL), 0);
	CHECK_STR(out, "graphs captured: 0\n");
	CHECK_INT(run(&tare_command_report, "report", rec, "--by", "colour", NULL), 2);
	CHECK_HAS(errors, "colour");
}

TEST(csv_and_time)
{
	const char *rec = recording();

	CHECK_INT(run(&tare_command_report, "report", rec, "--csv", NULL), 0);
	CHECK_HAS(out, "at,device,kind,path,label,bytes");
	CHECK_HAS(out, "unexplained");
	CHECK_INT(run(&tare_command_report, "report", rec, "--cost", "time", NULL), 0);
	CHECK_HAS(out, "Time in driver calls");
	CHECK_HAS(out, "cuInit");
	CHECK_INT(run(&tare_command_report, "report", rec, "--cost", "time", "--csv", NULL), 0);
	CHECK_HAS(out, "account,call,calls,driver_ns");
}

TEST(one_process_can_be_asked_for)
{
	const char *rec = recording();

	CHECK_INT(run(&tare_command_report, "report", rec, "--pid", "431", NULL), 0);
	CHECK_INT(run(&tare_command_report, "report", rec, "--pid", "99", NULL), 125);
	CHECK_HAS(errors, "no process 99 was recorded; there is 431 (");
}

TEST(a_folder_without_recordings)
{
	char folder[] = "/tmp/tare-report-XXXXXX";

	CHECK(mkdtemp(folder) && chdir(folder) == 0);
	CHECK_INT(run(&tare_command_report, "report", NULL), 2);
	CHECK_HAS(errors, "there is no recording NAME.tare in this folder");
	CHECK_INT(rmdir(folder), 0);
}

TEST(mistakes_are_one_sentence_and_exit_2)
{
	const char *rec = recording();

	CHECK_INT(run(&tare_command_report, "report", rec, "--job", "17", NULL), 2);
	CHECK_HAS(errors, "--job 17: no recording is of that job");
	CHECK_INT(run(&tare_command_report, "report", rec, "--json", "--csv", NULL), 2);
	CHECK_INT(run(&tare_command_report, "report", rec, "--at", "noon", NULL), 2);
	CHECK_HAS(errors, "noon");
	CHECK_INT(run(&tare_command_report, "report", rec, "--cost", "time", "--by", "owner", NULL), 2);
}

TEST(what_cannot_be_read_is_exit_125)
{
	CHECK_INT(run(&tare_command_report, "report", "/nowhere.tare", NULL), 125);
	CHECK_HAS(errors, "/nowhere.tare");
	CHECK_INT(run(&tare_command_report, "report", make_dir(), NULL), 125);
}

TEST(info_says_what_a_recording_holds)
{
	const struct tare_json_value *root;
	struct tare_arena arena = { 0 };
	const char *rec = recording();

	CHECK_INT(run(&tare_command_info, "info", rec, NULL), 0);
	CHECK_HAS(out, "431");
	CHECK_HAS(out, "duration");
	CHECK_INT(run(&tare_command_info, "info", rec, "--json", NULL), 0);
	root = parse_output(&arena);
	CHECK(tare_json_get(root, "processes.0.pid"));
	CHECK_INT(run(&tare_command_info, "info", "--hooks", "--json", NULL), 0);
	root = parse_output(&arena);
	CHECK_STR(tare_json_get_str(root, "hooks.0.symbol"), "cuInit");
	CHECK_INT(run(&tare_command_info, "info", NULL), 0);
	CHECK_HAS(out, TARE_VERSION);
	CHECK_INT(run(&tare_command_info, "info", "/nowhere.tare", NULL), 125);
	tare_arena_free(&arena);
}
