// SPDX-License-Identifier: MIT

module aftershock.lab/refunds

go 1.24
