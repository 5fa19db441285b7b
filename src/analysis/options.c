/* SPDX-License-Identifier: MIT */
/* What holds unless the user says otherwise. See analysis/options.h. */

#include "analysis/options.h"

struct analysis_options analysis_options_default(void)
{
	return (struct analysis_options){
		.threshold_percent = 80, /* the runbook's line (domain: "more than 80 % of rebalances") */
		.thresholds = thresholds_default(),
		.shifts = 10000,	 /* method.md 6; a p-value of 0.01 is then known to about 0.002 */
		.seed = 1,		 /* any, but always the same: same input, same bytes */
		.ttl_margin_percent = 20,
	};
}
