// A layered drawing: vertices in rows, edges from row to row; for each vertex an x that keeps edges short and straight.
// Long edges bend at a vertex of their own in each row between; edges of one source share these. The rows are given.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include "sinter/base/list.hpp"

namespace sinter::detail::views {

template <class Real>
class layered_drawing {
 public:
  struct vertex {
    int row = 0;
    Real width = 0;
    Real x = 0;         ///< of its middle
    Real pull = 0;      ///< how strongly it is drawn to `wish`, in edges
    Real wish = 0;
    Real weight = 1;    ///< how strongly it is drawn to where it is, by all that draws it
    bool bend = false;
    list<int> up, down;
  };
  static constexpr Real gap = 18;

  int add(int row, Real width) {
    vertices_.push_back({});
    vertex& v = vertices_.back();
    v.row = row, v.width = width;
    while (row >= static_cast<int>(rows_.size())) rows_.push_back({});
    const int id = static_cast<int>(vertices_.size()) - 1;
    rows_[row].push_back(id);
    return id;
  }
  void wish(int v, Real x, Real pull) { vertices_[v].wish = x, vertices_[v].pull = pull; }

  /// An edge downwards, bent where it crosses rows. Returns its vertices from `from` to `to`.
  list<int> connect(int from, int to) {
    list<int> path{from};
    for (int row = vertices_[from].row + 1; row < vertices_[to].row; ++row) {
      int bend = -1;
      for (const trunk& t : trunks_)
        if (t.from == from && vertices_[t.bend].row == row) bend = t.bend;
      if (bend < 0) {
        bend = add(row, 0);
        vertices_[bend].bend = true;
        trunks_.push_back({from, bend});
        link(path.back(), bend);
      }
      path.push_back(bend);
    }
    link(path.back(), to);
    path.push_back(to);
    return path;
  }

  /// Orders the rows by the places of their neighbours, from both sides in turn, then straightens.
  void place() {
    for (list<int>& row : rows_) separate(row);
    for (int sweep = 0; sweep < 12; ++sweep) {
      const bool downwards = sweep % 2 == 0;
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        list<int>& row = rows_[downwards ? i : rows_.size() - 1 - i];
        for (int v : row) draw(v, downwards, !downwards);
        sort(row);
        separate(row);
      }
    }
    for (int sweep = 0; sweep < 8; ++sweep)
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        list<int>& row = rows_[sweep % 2 == 0 ? i : rows_.size() - 1 - i];
        for (int v : row) draw(v, true, true);
        separate(row);
      }
  }

  const vertex& operator[](int v) const { return vertices_[v]; }
  const list<list<int>>& rows() const { return rows_; }

 private:
  struct trunk {
    int from, bend;
  };
  list<vertex> vertices_;
  list<list<int>> rows_;
  list<trunk> trunks_;

  void link(int from, int to) {
    vertices_[from].down.push_back(to);
    vertices_[to].up.push_back(from);
  }

  /// Moves a vertex to the mean place of its neighbours and of its wish; bent edges pull harder, to be straight.
  void draw(int v, bool up, bool down) {
    vertex& self = vertices_[v];
    Real total = self.pull * self.wish, weight = self.pull;
    const auto pull = [&](int other) {
      const Real strength = (self.bend ? 2 : 1) * (vertices_[other].bend ? 2 : 1);
      total += strength * vertices_[other].x, weight += strength;
    };
    if (up)
      for (int u : self.up) pull(u);
    if (down)
      for (int u : self.down) pull(u);
    if (weight > 0) self.x = total / weight, self.weight = weight;
  }

  void sort(list<int>& row) {  // stable; rows are short
    for (std::size_t i = 1; i < row.size(); ++i)
      for (std::size_t j = i; j > 0 && vertices_[row[j]].x < vertices_[row[j - 1]].x; --j) {
        const int v = row[j];
        row[j] = row[j - 1], row[j - 1] = v;
      }
  }

  /// Moves the vertices of a row apart, in their order and as little as possible: neighbours that are too near form
  /// blocks, and each block stands at the mean of what its members want.
  void separate(list<int>& row) {
    struct block {
      Real total, weight;
      std::size_t size;
    };
    list<block> blocks;
    list<Real> offsets;
    Real offset = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const vertex& v = vertices_[row[i]];
      if (i > 0) offset += (vertices_[row[i - 1]].width + v.width) / 2 + gap;
      offsets.push_back(offset);
      blocks.push_back({(v.x - offset) * v.weight, v.weight, 1});
      while (blocks.size() > 1) {
        const block last = blocks.back();
        block& before = blocks[blocks.size() - 2];
        if (before.total / before.weight <= last.total / last.weight) break;
        before.total += last.total, before.weight += last.weight, before.size += last.size;
        blocks.pop_back();
      }
    }
    std::size_t i = 0;
    for (const block& b : blocks)
      for (std::size_t k = 0; k < b.size; ++k, ++i) vertices_[row[i]].x = b.total / b.weight + offsets[i];
  }
};

}  // namespace sinter::detail::views
