/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the Itanium C++ ABI, as far as the name of a function needs them: what is inside template
 * arguments is only stepped over. A function returns false where it meets what it does not know.
 */
#include "base/demangle.h"

#include "base/demangle_rust.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

struct reader {
	const char *at;
	struct tare_str *out; /* NULL: step over it */
	int depth;
};

static bool read_name(struct reader *r);
static bool skip_type(struct reader *r);

static bool take(struct reader *r, const char *text)
{
	if (strncmp(r->at, text, strlen(text)) != 0)
		return false;
	r->at += strlen(text);
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static void say(struct reader *r, const char *text)
{
	if (r->out)
		tare_str_add(r->out, text);
}

/* Steps over what `read` would add. */
static bool step_over(struct reader *r, bool (*read)(struct reader *r))
{
	struct tare_str *out = r->out;
	bool is_good;

	r->out = NULL;
	is_good = read(r);
	r->out = out;
	return is_good;
}

/* "12_" or "A0_" behind a substitution, a template parameter or a lambda. */
static bool skip_number(struct reader *r)
{
	while (is_digit(*r->at) || (*r->at >= 'A' && *r->at <= 'Z'))
		r->at++;
	return take(r, "_");
}

static bool read_source_name(struct reader *r)
{
	size_t length = 0;

	if (!is_digit(*r->at))
		return false;
	while (is_digit(*r->at) && length < 65536)
		length = length * 10 + (size_t)(*r->at++ - '0');
	if (!length || strnlen(r->at, length) < length)
		return false;
	if (!strncmp(r->at, "_GLOBAL__N_", 11))
		say(r, "(anonymous namespace)");
	else if (r->out)
		tare_str_add_n(r->out, r->at, length);
	r->at += length;
	return true;
}

static bool skip_types_to_end(struct reader *r)
{
	while (*r->at && *r->at != 'E')
		if (!skip_type(r))
			return false;
	return take(r, "E");
}

/* A function with its parameters, in front of what is local to it. */
static bool read_encoding(struct reader *r)
{
	return read_name(r) && step_over(r, skip_types_to_end);
}

/* Li32E, LPKc0E, LN2at5ColorE1E, L_Z3foovE */
static bool skip_literal(struct reader *r)
{
	if (take(r, "_Z"))
		return read_encoding(r);
	if (!skip_type(r))
		return false;
	while (*r->at && *r->at != 'E')
		r->at++;
	return take(r, "E");
}

/* X adL_Z3foovE E: of expressions, a literal or the address of one. */
static bool skip_expression(struct reader *r)
{
	take(r, "ad");
	return take(r, "L") && skip_literal(r) && take(r, "E");
}

static bool skip_arguments(struct reader *r)
{
	while (*r->at && *r->at != 'E') {
		bool is_good;

		if (take(r, "L"))
			is_good = skip_literal(r);
		else if (take(r, "X"))
			is_good = skip_expression(r);
		else if (take(r, "J"))
			is_good = skip_arguments(r);
		else
			is_good = skip_type(r);
		if (!is_good)
			return false;
	}
	return take(r, "E");
}

static bool read_arguments(struct reader *r)
{
	if (!take(r, "I"))
		return true;
	say(r, "<…>");
	return step_over(r, skip_arguments);
}

/* operator(), operator+ …: two letters each; cv is a conversion, to a type. */
static bool read_operator(struct reader *r)
{
	bool is_conversion = take(r, "cv");

	if (!is_conversion) {
		say(r, !strncmp(r->at, "cl", 2)   ? "operator()"
		       : !strncmp(r->at, "nw", 2) ? "operator new"
		       : !strncmp(r->at, "na", 2) ? "operator new[]"
		                                  : "operator");
		r->at += 2;
		return true;
	}
	say(r, "operator");
	return skip_type(r);
}

static bool read_plain(struct reader *r)
{
	if (is_digit(*r->at))
		return read_source_name(r);
	if (take(r, "Ul")) {
		say(r, "{lambda}");
		return step_over(r, skip_types_to_end) && skip_number(r);
	}
	if (take(r, "Ut")) {
		say(r, "{unnamed}");
		return skip_number(r);
	}
	if ((*r->at == 'C' || *r->at == 'D') && is_digit(r->at[1])) {
		say(r, *r->at == 'C' ? "{constructor}" : "{destructor}");
		r->at += 2;
		return true;
	}
	return is_lower(*r->at) && is_lower((char)(r->at[1] | 0x20)) && read_operator(r);
}

static bool read_unqualified(struct reader *r)
{
	take(r, "L"); /* known to its own file only */
	if (!read_plain(r))
		return false;
	while (take(r, "B")) /* an ABI tag */
		if (!step_over(r, read_source_name))
			return false;
	return true;
}

/* St is std; what else is short for something said before is known only inside arguments. */
static bool read_substitution(struct reader *r)
{
	static const struct {
		const char *mangled, *name;
	} known[] = {
		{ "t", "std" },          { "a", "std::allocator" }, { "b", "std::basic_string" }, { "s", "std::string" },
		{ "i", "std::istream" }, { "o", "std::ostream" },   { "d", "std::iostream" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (take(r, known[i].mangled)) {
			say(r, known[i].name);
			return true;
		}
	return !r->out && skip_number(r);
}

static bool read_nested(struct reader *r)
{
	size_t parts = 0;

	while (*r->at == 'r' || *r->at == 'V' || *r->at == 'K' || *r->at == 'R' || *r->at == 'O')
		r->at++;
	while (*r->at && *r->at != 'E') {
		if (*r->at == 'I') {
			if (!read_arguments(r))
				return false;
			continue;
		}
		if (parts++)
			say(r, "::");
		if (take(r, "S") ? !read_substitution(r) : take(r, "T") ? r->out || !skip_number(r) : !read_unqualified(r))
			return false;
	}
	return take(r, "E");
}

/* Z encoding E name: what is inside a function. */
static bool read_local(struct reader *r)
{
	if (!read_encoding(r))
		return false;
	if (take(r, "s")) /* a string literal */
		return true;
	say(r, "::");
	if (take(r, "d") && !skip_number(r))
		return false;
	return read_name(r);
}

static bool read_name_inside(struct reader *r)
{
	if (take(r, "N"))
		return read_nested(r);
	if (take(r, "Z"))
		return read_local(r);
	if (take(r, "St")) {
		say(r, "std::");
		return read_unqualified(r) && read_arguments(r);
	}
	if (take(r, "S"))
		return read_substitution(r) && read_arguments(r);
	return read_unqualified(r) && read_arguments(r);
}

static bool read_name(struct reader *r)
{
	bool is_good;

	if (++r->depth > MAX_DEPTH)
		return false;
	is_good = read_name_inside(r);
	r->depth--;
	return is_good;
}

/* What begins with D: of two letters, or followed by something. */
static bool skip_long_type(struct reader *r)
{
	char kind = *r->at;

	if (!kind)
		return false;
	r->at++;
	if (kind == 'p')
		return skip_type(r);
	if (kind == 'F' || kind == 'B' || kind == 'U') {
		take(r, "16b");
		return r->at[-1] == 'b' || skip_number(r);
	}
	if (kind == 'v')
		return skip_number(r) && skip_type(r);
	return strchr("nacdefhisu", kind) != NULL;
}

static bool skip_type_inside(struct reader *r)
{
	char c = *r->at;

	if (!c)
		return false;
	if (strchr("rVKPROCG", c)) {
		r->at++;
		return skip_type(r);
	}
	if (take(r, "D"))
		return skip_long_type(r);
	if (take(r, "F")) {
		take(r, "Y");
		return skip_types_to_end(r);
	}
	if (take(r, "A"))
		return skip_number(r) && skip_type(r);
	if (take(r, "M"))
		return skip_type(r) && skip_type(r);
	if (take(r, "T"))
		return skip_number(r) && read_arguments(r);
	if (take(r, "u"))
		return read_source_name(r);
	if (is_lower(c)) {
		r->at++;
		return true;
	}
	return read_name(r);
}

static bool skip_type(struct reader *r)
{
	bool is_good;

	if (++r->depth > MAX_DEPTH)
		return false;
	is_good = step_over(r, skip_type_inside);
	r->depth--;
	return is_good;
}

void tare_demangle_add(struct tare_str *out, const char *mangled)
{
	struct tare_str name = { 0 };
	struct reader r = { .at = mangled, .out = &name };

	if (tare_demangle_rust_add(out, mangled))
		return;
	if (take(&r, "_Z") && read_name(&r) && name.len)
		tare_str_add(out, tare_str_text(&name));
	else
		tare_str_add(out, mangled);
	tare_str_free(&name);
}
