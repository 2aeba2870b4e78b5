/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of pickle, protocols 0 to 5, as far as data uses them. */
#include "snapshot/pickle.h"

#include "base/array.h"

#include <stdio.h>
#include <string.h>

static int push_int(struct tare_snapshot *s, int64_t i)
{
	return tare_pickle_push(s, (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_INT, .i = i });
}

/* A number of `size` bytes, the lowest first. */
static uint64_t little(const unsigned char *at, size_t size)
{
	uint64_t n = 0;

	for (size_t i = size; i--;)
		n = n << 8 | at[i];
	return n;
}

/* What follows the operation: a number of `size` bytes. */
static int take(struct tare_snapshot *s, size_t size, uint64_t *n)
{
	if (!tare_input_has(&s->in, size))
		return tare_pickle_too_short(s);
	*n = little(s->in.at, size);
	s->in.at += size;
	return 0;
}

static int push_text(struct tare_snapshot *s, uint64_t len)
{
	struct tare_pickle_value value = { .kind = TARE_PICKLE_IS_TEXT };

	if (len > TARE_PICKLE_TEXT) {
		s->intern.lost_texts++;
		if (!tare_input_skip(&s->in, len))
			return tare_pickle_too_short(s);
		return tare_pickle_push(s, value);
	}
	if (!tare_input_has(&s->in, len))
		return tare_pickle_too_short(s);
	value.ref = tare_intern_text(&s->intern, s->in.at, len);
	s->in.at += len;
	return tare_pickle_push(s, value);
}

static int push_bytes(struct tare_snapshot *s, uint64_t len)
{
	if (!tare_input_skip(&s->in, len))
		return tare_pickle_too_short(s);
	return tare_pickle_push(s, (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_OTHER });
}

/* A whole number of any length; addresses from 2^63 on have a ninth byte. */
static int push_long(struct tare_snapshot *s, uint64_t len)
{
	uint64_t n = 0;

	if (len > 9 || (len == 9 && tare_input_has(&s->in, 9) && s->in.at[8]))
		return push_bytes(s, len);
	if (!tare_input_has(&s->in, len))
		return tare_pickle_too_short(s);
	n = little(s->in.at, len < 8 ? len : 8);
	if (len && len < 8 && s->in.at[len - 1] & 0x80)
		n |= ~0ull << (8 * len);
	s->in.at += len;
	return tare_pickle_push(s,
	                        (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_INT, .i = (int64_t)n, .ref = len == 9 });
}

static int push_float(struct tare_snapshot *s)
{
	struct tare_pickle_value value = { .kind = TARE_PICKLE_IS_FLOAT };
	uint64_t n = 0;

	if (!tare_input_has(&s->in, 8))
		return tare_pickle_too_short(s);
	for (size_t i = 0; i < 8; i++)
		n = n << 8 | s->in.at[i];
	s->in.at += 8;
	memcpy(&value.d, &n, sizeof(n));
	return tare_pickle_push(s, value);
}

static int push_mark(struct tare_snapshot *s)
{
	if (s->mark_count >= TARE_PICKLE_MARKS)
		return tare_pickle_fail(s, TARE_E_LIMIT, "lists and dicts are nested more than %u deep", TARE_PICKLE_MARKS);
	s->marks[s->mark_count++] = (uint32_t)s->stack_count;
	return tare_pickle_push(s, (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_MARK });
}

static int pop_mark(struct tare_snapshot *s, size_t *at)
{
	if (!s->mark_count)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "an end of items has no begin");
	*at = s->marks[--s->mark_count];
	return 0;
}

/* Whether `count` values lie on the stack above the last mark. */
static int need(struct tare_snapshot *s, size_t count)
{
	size_t floor = s->mark_count ? s->marks[s->mark_count - 1] + 1 : 0;

	if (s->stack_count - floor >= count)
		return 0;
	return tare_pickle_fail(s, TARE_E_CORRUPT, "a value is missing");
}

/* l, d and t: all values since the mark become a new container in its place. */
static int from_mark(struct tare_snapshot *s, unsigned char op)
{
	struct tare_pickle_value container;
	size_t mark = 0;
	int rc = pop_mark(s, &mark);

	if (rc)
		return rc;
	if (op == 't') {
		rc = tare_pickle_tuple(s, mark + 1);
		if (!rc) {
			s->stack[mark] = s->stack[s->stack_count - 1];
			s->stack_count = mark + 1;
		}
		return rc;
	}
	rc = tare_pickle_open(s, op == 'l');
	if (rc)
		return rc;
	container = s->stack[--s->stack_count];
	s->stack[mark] = container;
	if (s->stack_count == mark + 1)
		return 0;
	return op == 'l' ? tare_pickle_append(s, mark, mark + 1) : tare_pickle_set_items(s, mark, mark + 1);
}

/* e and u: values since the mark go into the container before it. */
static int into_container(struct tare_snapshot *s, unsigned char op)
{
	size_t mark = 0;
	int rc = pop_mark(s, &mark);

	if (rc)
		return rc;
	if (!mark)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "items belong to nothing");
	if (op == 'e')
		rc = tare_pickle_append(s, mark - 1, mark + 1);
	else
		rc = tare_pickle_set_items(s, mark - 1, mark + 1);
	/* The mark itself goes; with it what set_items put in place of the dict stays. */
	if (!rc && s->stack_count > mark)
		s->stack_count = mark;
	return rc;
}

static int pop(struct tare_snapshot *s, bool to_mark)
{
	size_t to = s->stack_count - 1;
	int rc = 0;

	if (to_mark)
		rc = pop_mark(s, &to);
	else if (s->stack_count && s->stack[to].kind == TARE_PICKLE_IS_MARK)
		s->mark_count--;
	else
		rc = need(s, 1);
	while (!rc && s->stack_count > to)
		tare_pickle_drop(s, &s->stack[--s->stack_count]);
	return rc;
}

static int refuse(struct tare_snapshot *s, unsigned char op)
{
	static const struct {
		unsigned char op;
		const char *name, *what;
	} refused[] = {
#define X(OP, NAME, WHAT) { OP, NAME, WHAT },
#include "snapshot/op.def"
#undef X
	};
	char named[160] = "";

	if (op == 0x93 && s->stack_count >= 2 && s->stack[s->stack_count - 2].kind == TARE_PICKLE_IS_TEXT &&
	    s->stack[s->stack_count - 1].kind == TARE_PICKLE_IS_TEXT)
		snprintf(named, sizeof(named), " of %.70s.%.70s", tare_snapshot_text(s, s->stack[s->stack_count - 2].ref),
		         tare_snapshot_text(s, s->stack[s->stack_count - 1].ref));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (refused[i].op != op)
			continue;
		if (op == 'c' || op == 'i') { /* module and name are the next two lines */
			size_t at = 0, len = 4;

			memcpy(named, " of ", 5);
			for (int lines = 0; lines < 2 && len + 1 < sizeof(named) && tare_input_has(&s->in, at + 1); at++) {
				unsigned char c = s->in.at[at];

				lines += c == '\n';
				named[len++] = c == '\n' ? '.' : c < ' ' || c > '~' ? '?' : (char)c;
			}
			named[len - (named[len - 1] == '.')] = 0;
		}
		return tare_pickle_fail(
			s, TARE_E_DENIED,
			"%s%s would %s; a snapshot is data and has none, so this is no snapshot, and nothing of it was run",
			refused[i].name, named, refused[i].what);
	}
	return tare_pickle_fail(s, TARE_E_FORMAT, "0x%02x is no operation of pickle", op);
}

static int protocol(struct tare_snapshot *s)
{
	uint64_t version = 0;
	int rc = take(s, 1, &version);

	if (!rc && version > 5)
		rc = tare_pickle_fail(s, TARE_E_NEWER, "protocol %llu of pickle; this Tare reads 0 to 5",
		                      (unsigned long long)version);
	return rc;
}

/* Operations with a length or a number behind them, in so many bytes. */
static int sized_op(struct tare_snapshot *s, unsigned char op, size_t size)
{
	uint64_t n = 0;
	int rc = take(s, size, &n);

	if (rc)
		return rc;
	switch (op) {
	case 0x8c: /* SHORT_BINUNICODE */
	case 'X':  /* BINUNICODE */
	case 0x8d: /* BINUNICODE8 */
	case 'U':  /* SHORT_BINSTRING */
	case 'T':  /* BINSTRING */
		return push_text(s, n);
	case 'C':  /* SHORT_BINBYTES */
	case 'B':  /* BINBYTES */
	case 0x8e: /* BINBYTES8 */
		return push_bytes(s, n);
	case 'K': /* BININT1 */
	case 'M': /* BININT2 */
		return push_int(s, (int64_t)n);
	case 'J': /* BININT */
		return push_int(s, (int32_t)n);
	case 0x8a: /* LONG1 */
	case 0x8b: /* LONG4 */
		return push_long(s, n);
	case 'q': /* BINPUT */
	case 'r': /* LONG_BINPUT */
		return tare_pickle_memo_put(s, n);
	default: /* FRAME: what it says of the length need not be true */
		return 0;
	}
}

/* BINGET */
static int fetch(struct tare_snapshot *s)
{
	uint64_t index = 0;
	int rc = take(s, 1, &index);

	return rc ? rc : tare_pickle_fetch(s, index);
}

/* LONG_BINGET, and those right behind it: so the frames of a stack come, of which most of a file is made. */
static int fetch_long(struct tare_snapshot *s)
{
	uint64_t index = 0;
	int rc = take(s, 4, &index);

	if (!rc)
		rc = tare_pickle_fetch(s, index);
	while (!rc && s->in.end - s->in.at >= 5 && *s->in.at == 'j') {
		s->op_at = tare_input_offset(&s->in);
		index = little(s->in.at + 1, 4);
		s->in.at += 5;
		rc = tare_pickle_fetch(s, index);
	}
	return rc;
}

static int set_item(struct tare_snapshot *s)
{
	int rc = need(s, 3);

	return rc ? rc : tare_pickle_set_items(s, s->stack_count - 3, s->stack_count - 2);
}

static int append(struct tare_snapshot *s)
{
	int rc = need(s, 2);

	return rc ? rc : tare_pickle_append(s, s->stack_count - 2, s->stack_count - 1);
}

static int tuple(struct tare_snapshot *s, size_t size)
{
	int rc = need(s, size);

	return rc ? rc : tare_pickle_tuple(s, s->stack_count - size);
}

static int operate(struct tare_snapshot *s, unsigned char op)
{
	switch (op) {
	case 0x8c:
	case 'U':
	case 'C':
	case 'K':
	case 0x8a:
	case 'q':
		return sized_op(s, op, 1);
	case 'h':
		return fetch(s);
	case 'j':
		return fetch_long(s);
	case 'M':
		return sized_op(s, op, 2);
	case 'X':
	case 'T':
	case 'B':
	case 'J':
	case 0x8b:
	case 'r':
		return sized_op(s, op, 4);
	case 0x8d:
	case 0x8e:
	case 0x95:
		return sized_op(s, op, 8);
	case 0x94: /* MEMOIZE */
		return tare_pickle_memo_put(s, s->memo_count);
	case '}':
		return tare_pickle_open(s, false);
	case ']':
		return tare_pickle_open(s, true);
	case ')':
		return tuple(s, 0);
	case 0x85:
	case 0x86:
	case 0x87:
		return tuple(s, op - 0x84u);
	case '(':
		return push_mark(s);
	case 'u':
	case 'e':
		return into_container(s, op);
	case 'l':
	case 'd':
	case 't':
		return from_mark(s, op);
	case 's':
		return set_item(s);
	case 'a':
		return append(s);
	case 'N':
		return tare_pickle_push(s, (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_NONE });
	case 0x88:
	case 0x89:
		return tare_pickle_push(s, (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_BOOL, .i = op == 0x88 });
	case 'G':
		return push_float(s);
	case '0':
	case '1':
		return pop(s, op == '1');
	case 0x80:
		return protocol(s);
	case 'I':
	case 'L':
	case 'F':
	case 'S':
	case 'V':
	case 'p':
	case 'g':
		return tare_pickle_line_op(s, op);
	default:
		return refuse(s, op);
	}
}

/* What a file that is no pickle is, by its first bytes. */
static int check_begin(struct tare_snapshot *s)
{
	const unsigned char *at;

	if (!tare_input_has(&s->in, 1))
		return s->in.failure ? tare_pickle_too_short(s) : tare_pickle_fail(s, TARE_E_EMPTY, "the file is empty");
	if (tare_input_has(&s->in, 2) && s->in.at[0] == 'P' && s->in.at[1] == 'K')
		return tare_pickle_fail(s, TARE_E_FORMAT, "this is a zip file; unpack it first: unzip FILE");
	at = s->in.at;
	if (*at != 0x80 && !strchr("(]})cKIN", *at))
		return tare_pickle_fail(s, TARE_E_FORMAT,
		                        "this is no pickle; torch.cuda.memory._dump_snapshot() writes what is read here");
	return 0;
}

int tare_pickle_run(struct tare_snapshot *s)
{
	struct tare_pickle_value top;
	int rc = check_begin(s);

	/* So that a place in it is one, also before anything was put there. */
	s->stack = tare_array_reserve(s->stack, &s->stack_cap, 1, sizeof(*s->stack));
	while (!rc) {
		unsigned char op;

		s->op_at = tare_input_offset(&s->in);
		if (!tare_input_has(&s->in, 1))
			return tare_pickle_too_short(s);
		op = *s->in.at++;
		if (op == '.')
			break;
		rc = operate(s, op);
	}
	if (rc)
		return rc;
	rc = need(s, 1);
	if (rc)
		return rc;
	top = s->stack[--s->stack_count];
	rc = tare_pickle_complete(s, SIZE_MAX, &top);
	if (!rc && !s->is_snapshot && top.kind != TARE_PICKLE_IS_STACK)
		rc = tare_pickle_fail(s, TARE_E_FORMAT,
		                      "this is pickle, but no memory snapshot of PyTorch: it has no segments and no traces");
	tare_pickle_drop(s, &top);
	return rc;
}
