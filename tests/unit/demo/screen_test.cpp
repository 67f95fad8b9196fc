#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <demo/screen.hpp>

namespace demo {
namespace {

constexpr const char* names[] = {"connections", "jobs", "results", "config", "closing", "clients"};

/// How many columns a line takes: every sign takes one, a color takes none.
std::size_t columns_of(const std::string& line) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = line.find('m', i);
    } else if ((static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80) {
      ++columns;
    }
  }
  return columns;
}

snapshot busy() {
  return {.connections = {60, 60, 156, 3859, 1036},
          .jobs = {24, 24, 36, 3823, 1223},
          .results = {32, 64, 0, 3600, 0},
          .config = {0, 0, 0, 4211, 0},
          .closing = {0, 0, 186, 3829, 0},
          .clients = {400, 400, 0, 0, 0},
          .answered = 3600};
}

lines drawn(std::size_t columns, std::size_t rows, bool colored) {
  static const std::deque<snapshot> history(300, busy());
  const snapshot before{};
  return painter({columns, rows, colored}).picture({history, before, 8.8, 20, false, true, false});
}

std::string line_with(const lines& picture, const std::string& words) {
  const auto has = [&](const std::string& line) { return line.find(words) != line.npos; };
  const auto found = std::find_if(picture.begin(), picture.end(), has);
  return found == picture.end() ? std::string() : *found;
}

std::string row_of(const lines& picture, const std::string& name) {
  const auto begins = [&](const std::string& line) {
    const std::size_t begin = line.find_first_not_of(' ');
    return begin != line.npos && line.compare(begin, name.size(), name) == 0;
  };
  const auto found = std::find_if(picture.begin(), picture.end(), begins);
  return found == picture.end() ? std::string() : *found;
}

TEST(demo_picture, fits_into_a_screen_of_any_size) {
  for (std::size_t columns = 1; columns <= 200; ++columns) {
    for (std::size_t rows = 1; rows <= 26; ++rows) {
      for (const bool colored : {false, true}) {
        const lines picture = drawn(columns, rows, colored);
        ASSERT_LE(picture.size(), rows) << columns << " columns";
        for (const auto& line : picture) ASSERT_LE(columns_of(line), columns) << rows << " rows: " << line;
      }
    }
  }
}

TEST(demo_picture, shows_each_synchronizer_and_what_is_in_use_from_twenty_columns) {
  for (std::size_t columns = 20; columns <= 200; ++columns) {
    const lines picture = drawn(columns, 50, false);
    for (const auto* name : names) ASSERT_FALSE(row_of(picture, name).empty()) << columns << " columns: " << name;
    ASSERT_NE(row_of(picture, "connections").find("60/60"), std::string::npos) << columns << " columns";
    ASSERT_NE(row_of(picture, "clients").find("400/400"), std::string::npos) << columns << " columns";
    ASSERT_NE(line_with(picture, "answered").find("3600 answered/s"), std::string::npos) << columns << " columns";
  }
}

TEST(demo_picture, shows_at_each_width_all_that_a_narrower_one_shows) {
  for (const auto* title : {"waiting", "waits/s", "time-outs/s"}) {
    bool shown = false;
    for (std::size_t columns = 20; columns <= 200; ++columns) {
      const std::string titles = line_with(drawn(columns, 50, false), "in use");
      const bool shown_here = titles.find(title) != titles.npos;
      ASSERT_TRUE(shown_here || !shown) << columns << " columns: " << title;
      shown = shown_here;
    }
    EXPECT_TRUE(shown) << title;
  }
}

TEST(demo_picture, aligns_the_numbers_of_all_rows_at_every_width) {
  for (std::size_t columns = 28; columns <= 200; ++columns) {
    const lines picture = drawn(columns, 50, false);
    for (const auto* name : names) {
      ASSERT_EQ(columns_of(row_of(picture, name)), columns_of(line_with(picture, "in use"))) << columns << " " << name;
    }
  }
}

TEST(demo_picture, differs_between_full_and_half_full_bars_without_colors) {
  const lines picture = drawn(80, 24, false);
  for (const auto& line : picture) EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
  EXPECT_EQ(row_of(picture, "jobs").find("·"), std::string::npos);
  EXPECT_NE(row_of(picture, "results").find("■·"), std::string::npos);
  EXPECT_NE(line_with(picture, "━").find("━·"), std::string::npos);
}

TEST(demo_picture, is_the_same_with_and_without_colors) {
  lines colored = drawn(80, 24, true);
  for (auto& line : colored) {
    for (auto at = line.find('\x1b'); at != line.npos; at = line.find('\x1b'))
      line.erase(at, line.find('m', at) - at + 1);
  }
  EXPECT_EQ(colored, drawn(80, 24, false));
}

TEST(demo_text, is_broken_between_words_and_indented) {
  EXPECT_EQ(wrapped("one two three", 13), (lines{"one two three"}));
  EXPECT_EQ(wrapped("one two three", 12), (lines{"one two", "three"}));
  EXPECT_EQ(wrapped("one  two three", 4, 1), (lines{"one", " two", " thr", " ee"}));
  EXPECT_EQ(wrapped("    5 asked", 7, 6), (lines{"    5", "   aske", "   d"}));
}

TEST(demo_text, is_never_wider_than_asked_and_loses_no_sign) {
  const std::string text = "  1 s  connections 60 + 148 waiting  jobs 24 + 36";
  const auto without_spaces = [](std::string words) {
    std::erase(words, ' ');
    return words;
  };
  for (std::size_t columns = 1; columns <= 60; ++columns) {
    std::string joined;
    for (const auto& line : wrapped(text, columns, 7)) {
      ASSERT_LE(line.size(), columns);
      joined += line;
    }
    ASSERT_EQ(without_spaces(joined), without_spaces(text)) << columns << " columns";
  }
}

}  // namespace
}  // namespace demo
