#include "base/units.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::base {
namespace {

TEST(Units, a_byte_at_800_gigabit_takes_ten_picoseconds) {
  EXPECT_EQ(transmission_time(1_B, 800_gbps), 10_ps);
}

TEST(Units, transmission_rounds_up_so_that_no_wire_is_faster_than_its_rate) {
  // 8 bits at 3 bit/s: 2.666... s.
  EXPECT_EQ(transmission_time(1_B, Rate::bits_per_second(3)).ps(), 2'666'666'666'667);
}

TEST(Units, transmission_of_terabytes_does_not_overflow) {
  // 1 TB at 1 Gb/s: 8e12 bits / 1e9 = 8000 s.
  EXPECT_EQ(transmission_time(Bytes(1'000'000'000'000), 1_gbps), Time::seconds(8000));
}

TEST(Units, bytes_in_a_time_round_down) {
  EXPECT_EQ(bytes_in(15_ps, 800_gbps), 1_B);
  EXPECT_EQ(bytes_in(9_ps, 800_gbps), 0_B);
}

TEST(Units, rate_is_the_inverse_of_transmission) {
  EXPECT_EQ(rate_of(4096_B, transmission_time(4096_B, 200_gbps)), 200_gbps);
}

TEST(Units, literals_are_powers_of_ten_for_time_and_of_two_for_sizes) {
  EXPECT_EQ((5_us).ps(), 5'000'000);
  EXPECT_EQ(1_s, 1000_ms);
  EXPECT_EQ((1_GiB).count(), 1'073'741'824);
  EXPECT_EQ((200_gbps).bps(), 200'000'000'000);
}

TEST(Units, seconds_round_to_the_nearest_picosecond) {
  EXPECT_EQ(Time::seconds(4.096e-6), Time::picoseconds(4'096'000));
  EXPECT_EQ(Time::seconds(-0.6e-12), Time::picoseconds(-1));
}

TEST(Units, seconds_beyond_106_days_are_refused) {
  EXPECT_NO_THROW(Time::seconds(106 * 86400.0));
  EXPECT_THROW(Time::seconds(107 * 86400.0), Error);
  EXPECT_THROW(Time::seconds(std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(Time::seconds(std::numeric_limits<double>::infinity()), Error);
}

TEST(Units, bytes_are_finite_and_not_negative) {
  EXPECT_EQ(Bytes::from(1.5e9).count(), 1'500'000'000);
  EXPECT_THROW(Bytes::from(-1), Error);
  EXPECT_THROW(Bytes::from(5e18), Error);  // above 2^62 = 4.6e18
  EXPECT_THROW(Bytes::from(std::numeric_limits<double>::quiet_NaN()), Error);
}

TEST(Units, rates_are_finite_and_not_negative) {
  EXPECT_EQ(Rate::gigabits_per_second(53.125).bps(), 53'125'000'000);
  EXPECT_THROW(Rate::gigabits_per_second(-1), Error);
  EXPECT_THROW(Rate::gigabits_per_second(1e10), Error);
}

TEST(Units, times_print_three_digits_in_the_unit_a_reader_expects) {
  EXPECT_EQ(to_string(1200_ns), "1.20 us");
  EXPECT_EQ(to_string(640_ns), "640 ns");
  EXPECT_EQ(to_string(12345_us), "12.3 ms");
  EXPECT_EQ(to_string(7_ps), "7 ps");
  EXPECT_EQ(to_string(Time::seconds(12.4 * 86400)), "12.4 days");
  EXPECT_EQ(to_string(Time::seconds(90 * 60)), "90.0 min");
  EXPECT_EQ(to_string(Time()), "0 s");
  EXPECT_EQ(to_string(Time::seconds(-2.5)), "-2.50 s");
}

TEST(Units, times_change_unit_before_they_would_print_four_digits) {
  EXPECT_EQ(to_string(Time::picoseconds(999'499)), "999 ns");
  EXPECT_EQ(to_string(Time::picoseconds(999'600)), "1.00 us");
  EXPECT_EQ(to_string(Time::picoseconds(9'996'000)), "10.0 us");
}

TEST(Units, sizes_print_in_binary_units) {
  EXPECT_EQ(to_string(512_KiB), "512 KiB");
  EXPECT_EQ(to_string(16_MiB), "16 MiB");
  EXPECT_EQ(to_string(1536_MiB), "1.5 GiB");
  EXPECT_EQ(to_string(1023_B), "1023 B");
}

TEST(Units, rates_print_in_gigabits) {
  EXPECT_EQ(to_string(200_gbps), "200 Gb/s");
  EXPECT_EQ(to_string(Rate::gigabits_per_second(193.66)), "193.7 Gb/s");
  EXPECT_EQ(to_string(51200_gbps), "51.2 Tb/s");
  EXPECT_EQ(to_string(40_mbps), "40 Mb/s");
}

}  // namespace
}  // namespace fabricast::base
