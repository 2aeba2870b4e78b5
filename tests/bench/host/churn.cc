// SPDX-License-Identifier: Apache-2.0
// churn ROUNDS: nodes of maps, buckets, and strings that are too long to lie in themselves.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

static uint64_t state = 88172645463325252u;

static uint64_t next()
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static std::string name_of(uint64_t key)
{
	return "the name of number " + std::to_string(key % 5000) + ", which is long enough";
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;
	std::map<uint64_t, std::string> sorted;
	std::unordered_map<std::string, std::vector<int>> by_name;
	uint64_t sum = 0;

	for (long i = 0; i < rounds; i++) {
		uint64_t key = next() % 20000;

		sorted[key] = name_of(key);
		by_name[name_of(next())].push_back((int)i);
		if (i % 3 == 0)
			sorted.erase(next() % 20000);
		if (i % 7 == 0)
			by_name.erase(name_of(next()));
	}
	for (auto &item : sorted)
		sum += item.first * item.second.size();
	for (auto &item : by_name)
		sum += item.second.size();
	printf("%llu\n", (unsigned long long)sum);
}
