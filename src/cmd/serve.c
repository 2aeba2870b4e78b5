/* SPDX-License-Identifier: Apache-2.0 */
/* `tare serve`: checks its options, and serves. */
#include "base/print.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "serve/http.h"

#include <stdint.h>

struct options {
	const char *listen, *token_file;
	bool confidential, once;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, listen, "listen", 'l', STRING, "ADDR:PORT",
	         "where to listen (127.0.0.1:19400); another address than this machine's own needs --token-file"),
	TARE_OPT(options, token_file, "token-file", 't', STRING, "FILE",
	         "clients must send the token in this file; other users must not be able to read the file"),
	TARE_OPT(options, confidential, "confidential", 0, FLAG, NULL,
	         "pages are without the names of programs, files, lines, modules and owners"),
	TARE_OPT(options, once, "once", '1', FLAG, NULL,
	         "print the metrics once and end, as for node_exporter's textfile collector"),
	TARE_OPT_END,
};

const struct tare_command tare_command_serve = {
	.name = "serve",
	.operands = "[REC|DIR…]",
	.synopsis = "serve metrics of recordings to Prometheus, and their pages, over HTTP",
	.description =
		"Serves at /metrics what the memory of the GPUs of this machine is for, in OpenMetrics: of recorded programs "
		"that run, the rows of their ledgers, so that the rows of a GPU sum to what NVML and nvidia-smi show as used, "
		"what each process has on the host, its steps, what grows and how many records were lost; of recordings that "
		"ended, what was in use at the peak. / lists the recordings, /r/NAME is the page of one, as tare report "
		"--html writes it.\n\n"
		"Without an operand it serves the recordings of processes that run on this machine; with REC or DIR only "
		"those, also if they ended. Recordings are only read: a recorded program is not asked and not disturbed.\n\n"
		"It listens at 127.0.0.1 only, unless there is a token. A client sends it as \"Authorization: Bearer TOKEN\"; "
		"a browser asks for it as the password of any user. There is no TLS: on a network that others can listen to, "
		"put a proxy with TLS in front of it. SIGTERM ends it.\n\n"
		"HTTP is spoken by GNU libmicrohttpd, which must be installed (libmicrohttpd12).",
	.examples = "tare serve\n"
				"tare serve /shared/recordings\n"
				"tare serve --listen 0.0.0.0:19400 --token-file /etc/tare/token\n"
				"tare serve --once /shared/recordings\n"
				"curl -H \"Authorization: Bearer $(cat token)\" http://gpu1:19400/metrics",
	TARE_OPTIONS(opts, struct options, .listen = "127.0.0.1:19400"),
	.max_operands = SIZE_MAX,
	.progress = "reading",
	.run = tare_cmd_serve,
};

static void say_ready(const struct tare_address *address)
{
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

	tare_progress_end();
	tare_address_name(address, &name);
	tare_say("serving http://%s/ and http://%s/metrics", tare_str_text(&name), tare_str_text(&name));
}

static int check(const struct options *o, const struct tare_operands *rest, struct tare_http_options *http,
                 struct tare_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < rest->count; i++)
		if (!tare_find_is_folder(rest->items[i]))
			return tare_err_set(err, TARE_E_USAGE,
			                    "serve: %s: there is no such folder; it takes one that "
			                    "has recordings, or a recording",
			                    rest->items[i]);
	rc = tare_address_parse(o->listen, &http->address, err);
	if (!rc && o->token_file)
		rc = tare_token_read(&http->token, o->token_file, err);
	if (!rc && !http->address.is_loopback && !o->token_file)
		rc = tare_err_set(
			err, TARE_E_USAGE,
			"serve: --listen %s: other machines reach this address, so it needs a token; give --token-file FILE",
			o->listen);
	return rc;
}

int tare_cmd_serve(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	struct tare_http_options http = { .ready = say_ready, .is_confidential = o->confidential };
	struct tare_gather gather;
	int rc = check(o, &c->rest, &http, err);

	tare_gather_begin(&gather, &c->rest);
	if (!rc && o->once) {
		tare_gather_turn(&gather, true);
		tare_str_add_n(&c->out, gather.text.data, gather.text.len);
	} else if (!rc) {
		rc = tare_http_serve(&gather, &http, err);
	}
	tare_gather_free(&gather);
	return rc;
}
