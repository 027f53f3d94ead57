// SPDX-License-Identifier: Apache-2.0
#include "netlink/error_text.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include "unit/netlink/vectors.hpp"

namespace planed::netlink {
namespace {

Answer answer_of(const std::string& name) {
    const Datagram datagram = load(name).back();
    const auto answer = decode_answer(messages_of(datagram).back());
    EXPECT_TRUE(answer) << name;
    return answer.value_or(Answer{});
}

std::string text_of(const std::string& name) {
    const Answer answer = answer_of(name);
    EXPECT_TRUE(answer.error) << name;
    return answer.error ? answer.error->text : "";
}

TEST(Answer, AnAcknowledgementHasNoError) {
    const Answer answer = answer_of("ack");

    EXPECT_EQ(answer, (Answer{.sequence = 1}));
}

TEST(Answer, AnErrorWithoutWordsIsTheErrnoInWords) {
    const Answer answer = answer_of("error-no-device");

    EXPECT_EQ(
        answer.error,
        (Error{.code = Errc::Refused, .text = "No such device (ENODEV)", .system_errno = ENODEV}));
    EXPECT_EQ(answer.sequence, 2U);
}

TEST(Answer, TheKernelsWordsFollow) {
    EXPECT_EQ(text_of("error-short-destination"),
              "Invalid argument (EINVAL): Invalid network address");
    EXPECT_EQ(text_of("error-bad-lladdr"), "Invalid argument (EINVAL): Invalid link address");
}

TEST(Answer, TellsWhichAttributeIsWrong) {
    EXPECT_EQ(text_of("error-bad-attribute"),
              "Numerical result out of range (ERANGE): Attribute failed policy validation, at byte "
              "32 of the request");
}

TEST(Answer, ARefusedDumpEndsWithTheReason) {
    EXPECT_EQ(text_of("error-strict-header"),
              "Invalid argument (EINVAL): Invalid values in header for neighbor dump request");
    EXPECT_EQ(text_of("error-strict-attribute"),
              "Invalid argument (EINVAL): Unsupported attribute in neighbor dump request");
}

TEST(Answer, SkipsTheRequestWhereItIsRepeatedWhole) {
    EXPECT_EQ(text_of("error-uncapped"), text_of("error-no-such-link"));
}

TEST(Answer, ACompleteDumpEndsWithoutError) {
    EXPECT_EQ(answer_of("dump-neigh-v4").error, std::nullopt);
    EXPECT_EQ(answer_of("dump-empty").error, std::nullopt);
}

TEST(Answer, RefusesEveryCutMessage) {
    for (const char* name : {"ack", "error-no-device", "error-uncapped", "error-bad-attribute"}) {
        const Datagram datagram = load(name).back();
        const Message message = messages_of(datagram).back();
        const std::size_t fixed = sizeof(std::int32_t) + sizeof(nlmsghdr);
        for (std::size_t end = 0; end < fixed; ++end) {
            Message prefix = message;
            prefix.payload = message.payload.first(end);
            EXPECT_FALSE(decode_answer(prefix)) << name << " cut to " << end;
        }
    }
}

TEST(Answer, RefusesWordsThatAreCut) {
    const Datagram datagram = load("error-bad-lladdr").back();
    Message message = messages_of(datagram).back();
    message.payload = message.payload.first(message.payload.size() - 6);

    EXPECT_FALSE(decode_answer(message));
}

TEST(Answer, RefusesAnUncappedRequestThatClaimsMoreThanThereIs) {
    Datagram datagram = load("error-uncapped").back();
    datagram[16 + 4 + 1] = 0xFF;  // The repeated header's length.

    EXPECT_FALSE(decode_answer(messages_of(datagram).back()));
}

TEST(Answer, RefusesAnyOtherMessage) {
    const Datagram datagram = load("neigh-v4-reachable").front();

    EXPECT_FALSE(decode_answer(messages_of(datagram).front()));
}

TEST(Answer, NamesTheRightThatIsMissing) {
    Datagram datagram = load("error-no-device").back();
    const std::int32_t code = -EPERM;
    std::memcpy(datagram.data() + sizeof(nlmsghdr), &code, sizeof code);

    const auto answer = decode_answer(messages_of(datagram).back());

    ASSERT_TRUE(answer && answer->error);
    EXPECT_EQ(answer->error->text,
              "Operation not permitted (EPERM): planed lacks CAP_NET_ADMIN in this network "
              "namespace");
}

TEST(Answer, SurvivesAnErrnoThatDoesNotExist) {
    Datagram datagram = load("error-no-device").back();
    datagram[16] = 0;
    datagram[17] = 0;
    datagram[18] = 0;
    datagram[19] = 0x80;  // INT_MIN.

    const auto answer = decode_answer(messages_of(datagram).back());

    ASSERT_TRUE(answer && answer->error);
    EXPECT_EQ(answer->error->system_errno, EIO);
    EXPECT_EQ(errno_text(4000), "error 4000");
}

}  // namespace
}  // namespace planed::netlink
