/* SPDX-License-Identifier: Apache-2.0 */
#include "code.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct base {
	virtual ~base() = default;
	virtual int call(int depth, const std::function<void()> &then) = 0;
};

template <int N> struct derived : base {
	int call(int depth, const std::function<void()> &then) override
	{
		std::string text(static_cast<size_t>(depth) + N, 'x');

		if (depth) {
			derived<(N + 1) % 4> next;
			return next.call(depth - 1, then) + static_cast<int>(text.size());
		}
		then();
		throw std::runtime_error(text);
	}
};

} // namespace

extern "C" int code_cxx(int depth, code_fn then, void *arg)
{
	std::vector<int> seen;
	derived<0> first;

	try {
		seen.push_back(first.call(depth, [&] { then(arg); seen.push_back(1); }));
	} catch (const std::exception &e) {
		then(arg); /* while an exception is being handled */
		return static_cast<int>(seen.size() + std::string(e.what()).size());
	}
	return 0;
}
