# SPDX-License-Identifier: MIT
# Long lists are cut in the text, with the number of the rest, and whole in HTML and JSON.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fails() { echo "$*"; cat "$out/text"; exit 1; }

mkdir "$out/in"
for i in $(seq 10 39); do
	printf '\211PNG\r\n\032\n%d' "$i" >"$out/in/$i.png"
	printf '[2026-11-30 10:00:%d,000] INFO [GroupCoordinator 1]: nothing of note (kafka.coordinator.group.GroupCoordinator)\n' "$i" >"$out/in/$i.log"
done
"$a" analyze "$out/in" -o "$out/o" >"$out/text" 2>/dev/null
for title in Inputs Problems 'Not evidence, left aside:'; do
	sed -n "/^$title\$/,\$p" "$out/text" | grep -q '^5 more of these stand in the HTML and the JSON report.$' || fails "$title: no word of the rest"
done
for format in html json; do
	for i in $(seq 10 39); do
		grep -q "/$i.png" "$out/o/report.$format" && grep -q "/$i.log" "$out/o/report.$format" || fails "$format lacks $i"
	done
done

# An error stands before the notes, however many they are.
"$a" analyze "$out/in" "$out/no-such" -o "$out/o" >"$out/text" 2>/dev/null && fails "no error" || [ $? = 1 ]
sed -n '/^Problems$/,$p' "$out/text" | sed -n 3p | grep -q 'error: .*no-such' || fails "the error is hidden"
