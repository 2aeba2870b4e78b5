/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of Rust: RFC 2603 (v0), and those before it, which look like C++'s and end in a hash. What is inside generic
 * arguments is only stepped over. A function returns false where it meets what it does not know.
 */
#include "base/demangle_rust.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_NAME = 4096, MAX_STEPS = 4096 };

struct reader {
	const char *start; /* behind _R: what back references count from */
	const char *at;
	struct tare_str *out; /* NULL: step over it */
	int depth, steps;
};

static bool read_path(struct reader *r);
static bool read_type(struct reader *r);

static bool take(struct reader *r, char c)
{
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static void say(struct reader *r, const char *text)
{
	if (r->out && r->out->len < MAX_NAME)
		tare_str_add(r->out, text);
}

/* "_" is 0, "0_" 1, … "Z_" 62, "10_" 63. */
static bool read_base_62(struct reader *r, uint64_t *out)
{
	uint64_t value = 0;

	if (take(r, '_')) {
		*out = 0;
		return true;
	}
	while (isalnum((unsigned char)*r->at)) { /* what identifies a crate has 64 bits */
		char c = *r->at++;

		value = value * 62 + (uint64_t)(isdigit((unsigned char)c)   ? c - '0'
		                                : islower((unsigned char)c) ? c - 'a' + 10
		                                                            : c - 'A' + 36);
	}
	*out = value + 1;
	return take(r, '_');
}

/* Of several with one name, which one: 0 where there is no such number. */
static bool read_disambiguator(struct reader *r, uint64_t *out)
{
	*out = 0;
	if (!take(r, 's'))
		return true;
	if (!read_base_62(r, out))
		return false;
	++*out;
	return true;
}

/* Without its disambiguator. One with other letters than ASCII's stays as it is. */
static bool read_identifier(struct reader *r, const char **text, size_t *len)
{
	size_t n = 0;

	take(r, 'u');
	if (!isdigit((unsigned char)*r->at))
		return false;
	if (!take(r, '0')) /* of no name, as closures have: more digits are of what follows */
		while (isdigit((unsigned char)*r->at) && n < MAX_NAME)
			n = n * 10 + (size_t)(*r->at++ - '0');
	take(r, '_');
	if (strnlen(r->at, n) < n)
		return false;
	*text = r->at;
	*len = n;
	r->at += n;
	return true;
}

static bool read_back(struct reader *r, bool (*read)(struct reader *r))
{
	const char *here = r->at - 1, *behind;
	uint64_t to;
	bool is_good;

	if (!read_base_62(r, &to) || to >= (uint64_t)(here - r->start))
		return false;
	behind = r->at;
	r->at = r->start + to;
	is_good = !r->out || read(r);
	r->at = behind;
	return is_good;
}

static bool step_over(struct reader *r, bool (*read)(struct reader *r))
{
	struct tare_str *out = r->out;
	bool is_good;

	r->out = NULL;
	is_good = read(r);
	r->out = out;
	return is_good;
}

static bool skip_lifetime(struct reader *r)
{
	uint64_t ignored;

	return read_base_62(r, &ignored);
}

/* A constant: its type, and its value in hex; strings and structs of constants are not known here. */
static bool skip_constant(struct reader *r)
{
	if (take(r, 'B'))
		return read_back(r, skip_constant);
	if (take(r, 'p'))
		return true;
	if (!read_type(r))
		return false;
	take(r, 'n');
	while (isxdigit((unsigned char)*r->at))
		r->at++;
	return take(r, '_');
}

static bool skip_arguments(struct reader *r)
{
	while (*r->at && *r->at != 'E') {
		bool is_good = take(r, 'L') ? skip_lifetime(r) : take(r, 'K') ? skip_constant(r) : read_type(r);

		if (!is_good)
			return false;
	}
	return take(r, 'E');
}

static bool read_crate(struct reader *r)
{
	const char *text;
	uint64_t ignored;
	size_t len;

	if (!read_disambiguator(r, &ignored) || !read_identifier(r, &text, &len))
		return false;
	if (r->out)
		tare_str_add_n(r->out, text, len);
	return true;
}

/* N, a letter, what it is in, and its name: "{closure#1}" of one that has none. */
static bool read_nested(struct reader *r)
{
	char space = *r->at;
	uint64_t number;
	const char *text;
	size_t len;

	if (!isalpha((unsigned char)space))
		return false;
	r->at++;
	if (!read_path(r) || !read_disambiguator(r, &number) || !read_identifier(r, &text, &len))
		return false;
	if (!r->out)
		return true;
	if (isupper((unsigned char)space)) {
		tare_str_addf(r->out, "::{%s", space == 'C' ? "closure" : "shim");
		if (len)
			tare_str_addf(r->out, ":%.*s", (int)len, text);
		tare_str_addf(r->out, "#%llu}", (unsigned long long)number);
	} else if (len) {
		tare_str_addf(r->out, "::%.*s", (int)len, text);
	}
	return true;
}

static bool skip_impl(struct reader *r)
{
	uint64_t ignored;

	return read_disambiguator(r, &ignored) && read_path(r);
}

/* <TYPE>, <TYPE as TRAIT> */
static bool read_impl(struct reader *r, bool has_impl, bool has_trait)
{
	if (has_impl && !step_over(r, skip_impl))
		return false;
	say(r, "<");
	if (!read_type(r))
		return false;
	if (has_trait) {
		say(r, " as ");
		if (!read_path(r))
			return false;
	}
	say(r, ">");
	return true;
}

static bool read_generic(struct reader *r)
{
	if (!read_path(r))
		return false;
	say(r, "<…>");
	return step_over(r, skip_arguments);
}

static bool read_path_inside(struct reader *r)
{
	switch (*r->at++) {
	case 'C':
		return read_crate(r);
	case 'M':
		return read_impl(r, true, false);
	case 'X':
		return read_impl(r, true, true);
	case 'Y':
		return read_impl(r, false, true);
	case 'N':
		return read_nested(r);
	case 'I':
		return read_generic(r);
	case 'B':
		return read_back(r, read_path);
	default:
		return false;
	}
}

static bool read_path(struct reader *r)
{
	bool is_good;

	if (++r->depth > MAX_DEPTH || ++r->steps > MAX_STEPS || !*r->at)
		return false;
	is_good = read_path_inside(r);
	r->depth--;
	return is_good;
}

static const char *basic_type(char c)
{
	static const char *const names[] = {
		['a'] = "i8",    ['b'] = "bool",  ['c'] = "char", ['d'] = "f64", ['e'] = "str",  ['f'] = "f32",  ['h'] = "u8",
		['i'] = "isize", ['j'] = "usize", ['l'] = "i32",  ['m'] = "u32", ['n'] = "i128", ['o'] = "u128", ['p'] = "_",
		['s'] = "i16",   ['t'] = "u16",   ['u'] = "()",   ['v'] = "...", ['x'] = "i64",  ['y'] = "u64",  ['z'] = "!",
	};

	return c >= 'a' && c <= 'z' ? names[(unsigned char)c] : NULL;
}

static bool read_reference(struct reader *r, const char *sign)
{
	say(r, sign);
	if (take(r, 'L') && !skip_lifetime(r))
		return false;
	return read_type(r);
}

static bool read_tuple(struct reader *r)
{
	say(r, "(");
	for (int i = 0; *r->at && *r->at != 'E'; i++) {
		say(r, i ? ", " : "");
		if (!read_type(r))
			return false;
	}
	say(r, ")");
	return take(r, 'E');
}

/* F: how it is called, what it is given, what it returns. */
static bool skip_function(struct reader *r)
{
	const char *text;
	uint64_t ignored;
	size_t len;

	if (take(r, 'G') && !read_base_62(r, &ignored))
		return false;
	take(r, 'U');
	if (take(r, 'K') && !take(r, 'C') && !read_identifier(r, &text, &len))
		return false;
	while (*r->at && *r->at != 'E')
		if (!read_type(r))
			return false;
	return take(r, 'E') && read_type(r);
}

/* D: traits, each with what its types are, then how long it lives. */
static bool read_dyn(struct reader *r)
{
	const char *text;
	uint64_t ignored;
	size_t len;

	say(r, "dyn ");
	if (take(r, 'G') && !read_base_62(r, &ignored))
		return false;
	for (int i = 0; *r->at && *r->at != 'E'; i++) {
		say(r, i ? " + " : "");
		if (!read_path(r))
			return false;
		while (take(r, 'p'))
			if (!read_identifier(r, &text, &len) || !step_over(r, read_type))
				return false;
	}
	return take(r, 'E') && take(r, 'L') && skip_lifetime(r);
}

static bool read_type_inside(struct reader *r)
{
	const char *basic = basic_type(*r->at);

	if (basic) {
		r->at++;
		say(r, basic);
		return true;
	}
	switch (*r->at) {
	case 'A':
		r->at++;
		say(r, "[");
		if (!read_type(r) || !step_over(r, skip_constant))
			return false;
		say(r, "; _]");
		return true;
	case 'S':
		r->at++;
		say(r, "[");
		if (!read_type(r))
			return false;
		say(r, "]");
		return true;
	case 'T':
		r->at++;
		return read_tuple(r);
	case 'R':
		r->at++;
		return read_reference(r, "&");
	case 'Q':
		r->at++;
		return read_reference(r, "&mut ");
	case 'P':
		r->at++;
		return read_reference(r, "*const ");
	case 'O':
		r->at++;
		return read_reference(r, "*mut ");
	case 'F':
		r->at++;
		say(r, "fn(…)");
		return step_over(r, skip_function);
	case 'D':
		r->at++;
		return read_dyn(r);
	case 'B':
		r->at++;
		return read_back(r, read_type);
	default:
		return read_path(r);
	}
}

static bool read_type(struct reader *r)
{
	bool is_good;

	if (++r->depth > MAX_DEPTH || ++r->steps > MAX_STEPS)
		return false;
	is_good = read_type_inside(r);
	r->depth--;
	return is_good;
}

/* ---- names before v0 ---- */

/* Letters that a linker does not like. */
static size_t unescape(struct tare_str *out, const char *at, size_t left)
{
	static const struct {
		const char *code, *text;
	} known[] = {
		{ "$SP$", "@" },  { "$BP$", "*" },   { "$RF$", "&" },  { "$LT$", "<" },  { "$GT$", ">" },
		{ "$LP$", "(" },  { "$RP$", ")" },   { "$C$", "," },   { "$u20$", " " }, { "$u27$", "'" },
		{ "$u5b$", "[" }, { "$u5d$", "]" },  { "$u7b$", "{" }, { "$u7d$", "}" }, { "$u3b$", ";" },
		{ "$u2b$", "+" }, { "$u22$", "\"" }, { "$u3d$", "=" }, { "..", "::" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t len = strlen(known[i].code);

		if (len <= left && !strncmp(at, known[i].code, len)) {
			tare_str_add(out, known[i].text);
			return len;
		}
	}
	tare_str_add_char(out, *at);
	return 1;
}

static bool is_hash(const char *text, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return len == 17 && text[0] == 'h';
}

static bool read_legacy(struct tare_str *out, const char *at)
{
	bool is_first = true;

	while (isdigit((unsigned char)*at)) {
		size_t len = 0, i = 0;

		while (isdigit((unsigned char)*at) && len < MAX_NAME)
			len = len * 10 + (size_t)(*at++ - '0');
		if (!len || strnlen(at, len) < len)
			return false;
		if (at[len] == 'E' && is_hash(at, len))
			return !is_first;
		tare_str_add(out, is_first ? "" : "::");
		is_first = false;
		if (len > 1 && at[0] == '_' && at[1] == '$')
			i = 1;
		while (i < len)
			i += unescape(out, at + i, len - i);
		at += len;
	}
	return false;
}

bool tare_demangle_rust_add(struct tare_str *out, const char *mangled)
{
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };
	struct reader r = { .out = &name };
	bool is_good = false;

	if (!strncmp(mangled, "_R", 2)) {
		r.start = r.at = mangled + 2;
		is_good = read_path(&r);
	} else if (!strncmp(mangled, "_ZN", 3)) {
		is_good = read_legacy(&name, mangled + 3);
	}
	if (is_good)
		tare_str_add(out, tare_str_text(&name));
	return is_good;
}
