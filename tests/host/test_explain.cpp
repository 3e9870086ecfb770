// The views of a plan: the text says what the plan says; pages and drawings are well formed, with nothing unescaped.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <sinter/sinter.hpp>

#include "with.hpp"

namespace si = sinter;
namespace views = sinter::detail::views;

namespace {

using X = si::tensor<float, si::dim<"rows <&\">", 128>, 64>;
using W = si::tensor<float, 64, 64>;
using S = si::strided_tensor<float, 8, 8>;

constexpr auto block = [](auto x, auto w) {
  auto n = si::layer_norm(x, 1e-5f);
  auto y = x + si::gelu(si::matmul(n, w)) * si::softmax(n);
  return std::tuple(y, si::sum(y, si::axis<0>), si::matmul(si::relu(y), w));
};
constexpr auto plan = si::fuse<X, W>(block);
constexpr auto eager = si::fuse<si::eager, X, W>(block);
constexpr auto tuned = si::fuse<si::max_autotune, X, W>(block);
constexpr auto one = si::fuse<si::tensor<float, 64>>([](auto x) { return si::exp(x); });
constexpr auto nothing =
    si::fuse<si::tensor<float, 0, 64>, W>([](auto x, auto w) { return si::relu(si::matmul(x, w)); });
constexpr auto in_place = si::fuse<S, si::value<float>>([](auto x, auto v) {
  return std::tuple(si::assign(x, si::relu(x) * v), si::sum(x));
});

constexpr si::options combo = with<&si::options::combo_kernels, true>;
constexpr auto parts =
    si::fuse<combo, X, W>([](auto x, auto w) { return std::tuple(si::exp(x), si::sum(w, si::axis<-1>)); });
constexpr auto both_ways = si::fuse<si::tensor<float, 8192, 1024>>([](auto x) {
  return std::tuple(si::sum(x, si::axis<0>), si::sum(x, si::axis<1>));
});
static_assert(parts.kernel_count() == 1 && both_ways.kernel_count() == 1);

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// What a strict reader finds in a page: no error, the ids, and what refers to ids.
struct markup {
  std::string error;
  std::set<std::string> ids;
  std::vector<std::string> references;
};

void read_attributes(const std::string& text, markup& m) {
  std::set<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == '/') {
      ++at;
      continue;
    }
    const std::size_t equals = text.find("=\"", at);
    const std::size_t end = equals == std::string::npos ? equals : text.find('"', equals + 2);
    if (end == std::string::npos) {
      m.error = "attribute without a quoted value: " + text;
      return;
    }
    const std::string name = text.substr(at, equals - at), value = text.substr(equals + 2, end - equals - 2);
    if (!names.insert(name).second || name.find_first_of(" <>&'/") != std::string::npos)
      m.error = "attribute " + name + " in " + text;
    if (name == "id" && !m.ids.insert(value).second) m.error = "two of id " + value;
    if (name == "for" || name == "aria-labelledby") m.references.push_back(value);
    if (name == "src" || (name == "href" && value[0] != '#')) m.error = "loads " + value;
    if (name == "href") m.references.push_back(value.substr(1));
    at = end + 1;
  }
}

/// Text between tags, and the values of attributes: only the five entities may begin with an ampersand.
void read_text(const std::string& text, markup& m) {
  for (std::size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
    const std::string entity = text.substr(at, text.find(';', at) - at);
    if (entity != "&amp" && entity != "&lt" && entity != "&gt" && entity != "&quot") m.error = "entity in " + text;
  }
  if (text.find('>') != std::string::npos) m.error = "unescaped > in " + text;
}

markup read(const std::string& page) {
  markup m;
  std::vector<std::string> open;
  const std::string type = "<!DOCTYPE html>\n";
  std::size_t at = page.substr(0, type.size()) == type ? type.size() : 0;
  while (at < page.size() && m.error.empty()) {
    const bool raw = !open.empty() && (open.back() == "style" || open.back() == "script");
    const std::size_t tag = raw ? page.find("</" + open.back(), at) : page.find('<', at);
    if (tag == std::string::npos) break;
    if (!raw) read_text(page.substr(at, tag - at), m);
    const std::size_t end = page.find('>', tag);
    const std::string inside = page.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside.find('<') != std::string::npos) m.error = "< in " + inside;
    if (inside[0] == '/') {
      if (open.empty() || open.back() != inside.substr(1)) m.error = "unexpected <" + inside + ">";
      if (!open.empty()) open.pop_back();
      continue;
    }
    const std::string name = inside.substr(0, inside.find_first_of(" /"));
    read_attributes(inside.substr(name.size()), m);
    read_text(inside, m);
    if (inside.back() != '/') open.push_back(name);
  }
  if (m.error.empty() && !open.empty()) m.error = "<" + open.back() + "> is not closed";
  for (const std::string& id : m.references)
    if (m.error.empty() && m.ids.count(id) == 0) m.error = "nothing has the id " + id;
  return m;
}

template <class Fused>
void check_page(Fused f) {
  const std::string page = si::to_html(f, "A <plan> & more");
  const markup m = read(page);
  CHECK(m.error == "");
  CHECK(has(page, "<h1>A &lt;plan&gt; &amp; more</h1>"));
  CHECK(count(page, "http") == count(page, "xmlns=\"http://www.w3.org/2000/svg\""));  // a name, not an address
  for (int k = 0; k < f.kernel_count(); ++k) {
    CHECK(m.ids.count("k" + std::to_string(k)) == 1);
    CHECK(has(page, views::escaped(f.kernel(k).name)));
  }
  const views::report r = views::report_of<Fused>();
  std::set<int> drawn;  // what is computed, and what that reads: of no elements nothing is read
  for (int i = r.num_inputs; i < r.num_items(); ++i) {
    drawn.insert(i);
    drawn.insert(r.items[i].reads.begin(), r.items[i].reads.end());
  }
  for (int i : drawn) {
    CHECK(has(page, ">" + r.items[i].label + "</text>"));
    CHECK(has(page, views::escaped(r.items[i].shape)));
  }
  for (const views::report::verdict& v : r.verdicts)
    if (v.stands) CHECK(has(page, views::escaped(si::sentence(v.reason))));
}

/// Nodes that Graphviz's text declares and refers to. Labels are cut out first.
template <class Fused>
void check_dot(Fused f) {
  const std::string dot = si::to_dot(f);
  std::string plain;
  bool quoted = false;
  for (std::size_t i = 0; i < dot.size(); ++i) {
    if (quoted && dot[i] == '\\')
      ++i;
    else if (dot[i] == '"')
      quoted = !quoted;
    else if (!quoted)
      plain += dot[i];
  }
  CHECK(!quoted);
  CHECK(count(plain, "{") == count(plain, "}"));
  CHECK(count(plain, "subgraph cluster_") == f.kernel_count());
  std::set<std::string> lines;
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t end = plain.find('\n', at);
    std::string line = plain.substr(at, end - at);
    at = end + 1;
    const std::size_t arrow = line.find(" -> ");
    if (arrow == std::string::npos) continue;
    const std::size_t end_of_name = line.find_first_of(" ;", arrow + 4);
    const std::string from = line.substr(2, arrow - 2), to = line.substr(arrow + 4, end_of_name - arrow - 4);
    CHECK(has(plain, " " + from + " [label="));
    CHECK(has(plain, " " + to + " [label="));
    CHECK(lines.insert(line).second);
  }
}

}  // namespace

TEST_CASE("pages are well formed, whole and alone") {
  check_page(plan);
  check_page(eager);
  check_page(tuned);
  check_page(one);
  check_page(nothing);
  check_page(in_place);
  check_page(parts);
  check_page(both_ways);
}

TEST_CASE("the reader of pages finds mistakes") {
  CHECK(read("<p>a</p>").error == "");
  CHECK(read("<p>a").error != "");
  CHECK(read("<p><b>a</p></b>").error != "");
  CHECK(read("<p>a > b</p>").error != "");
  CHECK(read("<p>a &c</p>").error != "");
  CHECK(read("<p id=\"a\"/><p id=\"a\"/>").error != "");
  CHECK(read("<a href=\"#b\">a</a>").error != "");
  CHECK(read("<a href=\"elsewhere\">a</a>").error != "");
  CHECK(read("<p hidden>a</p>").error != "");
}

TEST_CASE("drawings for Graphviz name what they draw, each line once") {
  check_dot(plan);
  check_dot(eager);
  check_dot(tuned);
  check_dot(one);
  check_dot(nothing);
  check_dot(in_place);
  check_dot(parts);
  check_dot(both_ways);
  CHECK(has(si::to_dot(plan), "rows <&amp;\\\">"));
}

TEST_CASE("the text has the reasons, and the log every pair") {
  const std::string brief = si::explain(plan, si::verbosity::kernels), text = si::explain(plan);
  const std::string all = si::explain(plan, si::verbosity::log);
  CHECK(text == si::explain(plan, si::verbosity::plan));
  CHECK(text.substr(0, brief.size()) == brief);
  CHECK(all.substr(0, brief.size()) == brief);
  CHECK(has(text, si::sentence(plan.why_not_fused("mm_0", "gelu_0"))));
  CHECK(has(text, "layer_norm_0"));
  CHECK(has(text, "softmax_0.amax"));
  CHECK(has(si::explain(parts), "independent loops"));
  CHECK(has(si::explain(both_ways), "rows and columns"));
  int refused = 0, fused = 0, invalidated = 0;
  constexpr auto log = plan.fusion_log();
  for (const si::fusion_entry& e : log) {
    refused += e.event == si::log_event::considered && e.reason != si::refusal::none;
    fused += e.event == si::log_event::fused;
    invalidated += e.event == si::log_event::invalidated;
    CHECK(has(all, std::string(e.first.text().view()) + " with " + std::string(e.second.text().view())));
  }
  CHECK(fused > 0);
  CHECK(count(all, "\n  refused      ") == refused);
  CHECK(count(all, "\n  fused        ") == fused);
  CHECK(count(all, "\n  invalidated  ") == invalidated);
}

TEST_CASE("a layered drawing keeps its vertices apart and its edges in order") {
  views::layered_drawing<double> d;
  const int a = d.add(0, 90), b = d.add(0, 30), left = d.add(1, 60), right = d.add(1, 200);
  const int end = d.add(2, 40), far = d.add(4, 10);
  const si::detail::list<int> long_edge = d.connect(a, far), shared = d.connect(a, end);
  d.connect(a, right), d.connect(b, left), d.connect(left, end), d.connect(right, end);
  CHECK(long_edge.size() == 5);
  CHECK(shared.size() == 3);
  CHECK(shared[1] == long_edge[1]);  // one bend for both
  d.place();
  CHECK((d[a].x < d[b].x) == (d[right].x < d[left].x));  // no crossing where none is needed
  for (const si::detail::list<int>& row : d.rows())
    for (std::size_t i = 1; i < row.size(); ++i)
      CHECK(d[row[i]].x - d[row[i - 1]].x >= (d[row[i]].width + d[row[i - 1]].width) / 2 + d.gap - 1e-9);
}

TEST_CASE("bytes in words") {
  CHECK(views::bytes_text(0) == "0 bytes");
  CHECK(views::bytes_text(1) == "1 byte");
  CHECK(views::bytes_text(1023) == "1023 bytes");
  CHECK(views::bytes_text(1024) == "1 KiB");
  CHECK(views::bytes_text(1536) == "1.5 KiB");
  CHECK(views::bytes_text(std::int64_t{5} << 40) == "5 TiB");
  CHECK(views::px(-0.04) == "0");
  CHECK(views::px(-1.25) == "-1.3");
}
