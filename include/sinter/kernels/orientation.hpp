#pragma once
#include "sinter/base/orientation.hpp"
