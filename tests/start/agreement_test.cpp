#include "runtime/start/agreement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "runtime/run.hpp"

namespace tessera::runtime {
namespace {

Card card(const std::string& host) {
  Card c;
  c.version = exchange_version();
  c.host = host;
  c.hash[0] = 1;
  c.hash[1] = 2;
  c.program = "p.fa";
  return c;
}

// The verdict on four ranks on two hosts, of which `change` changes one; the same in all orders of their cards.
Verdict verdict(const std::function<void(std::vector<Card>&)>& change) {
  std::vector<Card> cards = {card("h1"), card("h1"), card("h2"), card("h2")};
  change(cards);
  std::vector<std::int32_t> order = {0, 1, 2, 3};
  std::vector<Verdict> all;
  do {
    Agreement a(4);
    for (const std::int32_t r : order) {
      EXPECT_FALSE(a.complete());
      a.take(Rank{r}, cards[static_cast<std::size_t>(r)]);
    }
    EXPECT_TRUE(a.complete());
    all.push_back(a.verdict());
    EXPECT_EQ(all.back().text, all.front().text);
    EXPECT_EQ(all.back().exit_code, all.front().exit_code);
  } while (std::next_permutation(order.begin(), order.end()));
  return all.front();
}
void says(const Verdict& v, std::int32_t code, const std::vector<std::string>& parts) {
  EXPECT_EQ(v.exit_code, code) << v.text;
  for (const std::string& part : parts)
    EXPECT_NE(v.text.find(part), std::string::npos) << v.text << "\nwithout " << part;
}

TEST(Agreement, TheSameIsAgreed) {
  const Verdict v = verdict([](auto&) {});
  says(v, kExitOk, {});
  EXPECT_EQ(v.text, "");
  EXPECT_EQ(v.hosts, (std::vector<std::string>{"h1", "h1", "h2", "h2"}));
}

TEST(Agreement, WhatDiffersIsRefusedWithRankAndHost) {
  says(verdict([](auto& c) { c[2].hash[1] = 3; }), kExitUsage,
       {"rank 0 on h1 has p.fa", "rank 2 on h2 another version of it"});
  says(verdict([](auto& c) { c[3].hash[0] = 3, c[3].program = "q.fa"; }), kExitUsage, {"rank 3 on h2 has q.fa"});
  says(verdict([](auto& c) { c[1].arguments = {"7"}; }), kExitUsage, {"rank 1 on h1", "different arguments"});
  says(verdict([](auto& c) { c[2].version = c[3].version = "0.0.9/1/2"; }), kExitUsage,
       {"ranks 2 and 3 on h2 another version, 0.0.9/1/2"});
}

TEST(Agreement, RefusalsAreCollected) {
  const auto refuse = [](Card& c, std::int32_t code, const std::string& why) {
    c.refusal_code = code, c.refusal = why;
  };
  says(verdict([&](auto& c) { refuse(c[1], 3, "no room"), refuse(c[2], 2, "no file"), refuse(c[3], 2, "no file"); }), 3,
       {"rank 1 on h1: no room\n", "ranks 2 and 3 on h2: no file"});
  // Rank 0 speaks of what counts for all.
  const Verdict v = verdict([&](auto& c) { refuse(c[0], 2, "no such option"), refuse(c[2], 3, "no file"); });
  says(v, 2, {});
  EXPECT_EQ(v.text, "no such option");
}

TEST(Agreement, OptionsOfOthersDoNotCountAndThatIsSaid) {
  const auto ignored = [](const std::string& first, const std::string& other) {
    Agreement a(3);
    std::vector<Card> cards = {card("h1"), card("h2"), card("h2")};
    cards[0].environment = first;
    cards[2].environment = other;
    for (std::int32_t r = 0; r < 3; ++r) a.take(Rank{r}, cards[static_cast<std::size_t>(r)]);
    return a.ignored_options();
  };
  EXPECT_EQ(ignored("-t 1", ""), "");
  EXPECT_EQ(ignored("-t 1", "-t 1"), "");
  EXPECT_NE(ignored("-t 1", "-t 2").find("TESSERA_OPTIONS of rank 2 on h2 is not used"), std::string::npos);
  EXPECT_NE(ignored("", "-t 2").find("(none)"), std::string::npos);
}

TEST(Agreement, RanksAreNamedWithTheirHosts) {
  const std::vector<std::string> one(12, "h1");
  EXPECT_EQ(rank_name(Rank{2}, {}), "rank 2");
  EXPECT_EQ(rank_name(Rank{2}, one), "rank 2");
  std::vector<std::string> two = one;
  std::fill(two.begin() + 4, two.end(), "h2");
  EXPECT_EQ(rank_name(Rank{4}, two), "rank 4 on h2");
  EXPECT_EQ(rank_names({Rank{1}, Rank{5}, Rank{6}, Rank{7}}, two), "rank 1 on h1 and ranks 5, 6 and 7 on h2");
  std::vector<Rank> many;
  for (std::int32_t r = 0; r < 12; ++r) many.push_back(Rank{r});
  EXPECT_EQ(rank_names(many, one), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 4 more");
}

TEST(Agreement, CardsAndVerdictsSurviveTheWay) {
  Card c = card("h1");
  c.arguments = {"1", "x y"};
  c.environment = "-t 3";
  c.refusal_code = 2;
  c.refusal = "no";
  const Card back = decode_card(encode(c));
  EXPECT_EQ(back.host, "h1");
  EXPECT_EQ(back.hash[1], 2u);
  EXPECT_EQ(back.arguments, c.arguments);
  EXPECT_EQ(back.environment, "-t 3");
  EXPECT_EQ(back.refusal, "no");
  Verdict v;
  v.options = "-t 2";
  v.hosts = {"h1", "h2"};
  v.profile.program = "p.fa";
  v.profile.hash = {5, 6};
  v.profile.groups = {{"p.fa:1:2", "f", 3, 4, 5.5, 6, 7, false}};
  const Verdict there = decode_verdict(encode(v));
  EXPECT_EQ(there.options, "-t 2");
  EXPECT_EQ(there.hosts, v.hosts);
  EXPECT_EQ(there.profile, v.profile);
}

// Of what another version sends no more is read than is certain.
TEST(Agreement, AnotherVersionIsReadAsFarAsItGoes) {
  Card c = card("h9");
  c.version = "0.0.9/1/2";
  Parcel parcel = encode(c);
  parcel.bytes.resize(parcel.bytes.size() - 20);
  EXPECT_EQ(decode_card(parcel).host, "h9");
  Verdict v;
  v.exit_code = 2;
  v.text = "no";
  parcel = encode(v);
  parcel.bytes.resize(parcel.bytes.size() - 8);
  EXPECT_EQ(decode_verdict(parcel).text, "no");
}

}  // namespace
}  // namespace tessera::runtime
