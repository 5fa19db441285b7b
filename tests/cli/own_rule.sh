# SPDX-License-Identifier: MIT
# The README's rule for a home-made log works as it stands there.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cp rules/*.rules "$out"
sed -n '/^use      prefixes.rules/,/^```/p' README.md | sed '$d' >"$out/shop.rules"
test -s "$out/shop.rules"

"$a" rules check "$out/shop.rules"
line='2026-11-30 10:00:31.207 | WARN | lost my place in group refunds as consumer-1'
echo "$line" | "$a" rules test --rules "$out" >"$out/told"
grep -q 'client.membership_lost (suggests) group=refunds client=consumer-1' "$out/told"

# A broken one is refused with its file, line and reason.
sed 's/^match .*/match    ^lost (my place$/' "$out/shop.rules" >"$out/broken.rules"
status=0
"$a" rules check "$out/broken.rules" 2>"$out/err" || status=$?
test "$status" = 1
grep -q 'broken.rules' "$out/err"
grep -q 'line' "$out/err"

# Several files at once, each by itself: a broken one hides nothing of the others.
"$a" rules check rules/*.rules "$out/shop.rules"
sed 's/^expect   group=refunds client=consumer-1/expect   group=refunds client=consumer-2/' "$out/shop.rules" >"$out/wrong.rules"
status=0
"$a" rules check "$out/broken.rules" "$out/shop.rules" "$out/wrong.rules" 2>"$out/err" || status=$?
test "$status" = 1
grep -q 'broken.rules' "$out/err"
grep -q 'wrong.rules' "$out/err"
if grep -q 'shop.rules' "$out/err"; then
	exit 1
fi

# What the shipped example prints, and the help of each.
for verb in list check test; do
	"$a" rules "$verb" --help | grep -q 'check \[FILE...\]'
done
"$a" rules list | grep -q 'client.membership_lost'
