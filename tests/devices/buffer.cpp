// Memory of devices: what is uploaded comes back, and the debug device catches who reaches into it.
#include "terrane/parallel/device/buffer.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "devices/device.hpp"
#include "terrane/base/error.hpp"

namespace terrane {
namespace {

class BufferOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(BufferOn);

TEST_P(BufferOn, GivesBackWhatItWasGiven) {
  Stream stream(GetParam());
  std::vector<int> numbers(1000), back(1000, -1);
  std::iota(numbers.begin(), numbers.end(), 7);
  Buffer<int> buffer(GetParam(), 1000);
  buffer.upload(stream, numbers);
  buffer.download(stream, back);
  EXPECT_EQ(back, numbers);
  buffer.upload(stream, {numbers.data(), 10}, 990);
  buffer.download(stream, {back.data(), 10}, 990);
  EXPECT_EQ(back[9], 16);
  buffer.fill_zero(stream);
  buffer.download(stream, back);
  EXPECT_EQ(back, std::vector<int>(1000));
}

TEST_P(BufferOn, MovesWithItsMemory) {
  Stream stream(GetParam());
  std::vector<double> numbers{1, 2, 3}, back(3);
  Buffer<double> first(stream, numbers), second;
  second = std::move(first);
  second.download(stream, back);
  EXPECT_EQ(back, numbers);
  EXPECT_EQ(first.size(), 0U);  // NOLINT(bugprone-use-after-move)
}

TEST_P(BufferOn, SaysWhatIsWantedAndFreeWhenThereIsTooLittle) {
  try {
    Buffer<double> buffer(GetParam(), std::size_t{1} << 50);
    FAIL();
  } catch (const MemoryError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("9.007e+09 MB of device memory are wanted"));
    EXPECT_THAT(error.what(), testing::HasSubstr("MB are free"));
  }
}

TEST(DebugDeviceDeathTest, EndsTheProgramWhenHostCodeTouchesItsMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Device debug{Device::Kind::debug, -1};
  Stream stream(debug);
  std::vector<double> numbers{1, 2, 3};
  Buffer<double> buffer(stream, numbers);
  EXPECT_DEATH(
      {
        volatile double sum = buffer.view()[1];
        static_cast<void>(sum);
      },
      "");
  EXPECT_DEATH(buffer.view()[0] = 4, "");
}

// Closing memory takes time, so it is done less often after a while, but it is still done.
TEST(DebugDeviceDeathTest, EndsTheProgramWhenItsMemoryIsTouchedAgainAndAgainAfterManyKernels) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Device debug{Device::Kind::debug, -1};
  Stream stream(debug);
  Buffer<double> buffer(debug, 3);
  for (int n = 0; n < 3000; ++n) buffer.fill_zero(stream);
  EXPECT_DEATH(
      for (int n = 0; n < 20; ++n) {
        buffer.fill_zero(stream);
        static_cast<void>(*const_cast<const volatile double*>(buffer.view().data));
      },
      "");
}

TEST(DebugDeviceDeathTest, EndsTheProgramWhenAnythingIsWrittenPastTheEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Device debug{Device::Kind::debug, -1};
  Stream stream(debug);
  Buffer<double> buffer(debug, 1001);
  const std::vector<double> more(1002, 1.0);
  EXPECT_DEATH(buffer.upload(stream, more), "");
}

TEST(Devices, ThatAreSharedTellEachItsShareOfWhatIsFree) {
  const Device debug{Device::Kind::debug, -1};
  const Buffer<double> taken(debug, 1000);
  const auto all = device_memory(debug), third = device_memory({debug.kind, debug.index, 3});
  EXPECT_EQ(third.free, all.free / 3);
  EXPECT_EQ(third.total, all.total);
  EXPECT_EQ(resolve({debug.kind, debug.index, 3}).shared_by, 3);
  if (gpu_count() > 0) {
    EXPECT_EQ(resolve({Device::Kind::cuda, -1, 3}, 1).shared_by, 3);
  }
}

TEST(Devices, AreNamedAsInJobFiles) {
  for (const char* text : {"auto", "cpu", "debug", "cuda", "cuda:3"})
    EXPECT_EQ(to_string(device_from_text(text)), text);
  for (const char* text : {"gpu", "cuda:", "cuda:-1", "cuda:1x", ""}) try {
      device_from_text(text);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("Allowed: auto, cpu, cuda, cuda:N"));
    }
}

TEST(Devices, ThatAreNotThereAreRefusedWithWhatThereIs) {
  try {
    resolve(device_from_text("cuda:77"));
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("Available: cpu"));
    if (gpu_count() == 0) {
      EXPECT_THAT(error.what(), testing::AnyOf(testing::HasSubstr("this build has no CUDA"),
                                               testing::HasSubstr("no GPU found")));
      // CUDA says so of a missing driver, too.
      EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("driver version is insufficient")));
    } else {
      EXPECT_THAT(error.what(), testing::HasSubstr("cuda:0"));
    }
  }
  if (gpu_count() == 0) EXPECT_EQ(to_string(resolve({})), "cpu");
  else EXPECT_EQ(to_string(resolve({}, gpu_count())), "cuda:0");
}

}  // namespace
}  // namespace terrane
