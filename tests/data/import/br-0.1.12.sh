#!/bin/sh
# Makes the export beside this file with br (beads_rust): a small project that has something of
# everything. The ids and times are new each time, so the export is kept as it came.
# Usage, in an empty folder: sh br-0.1.12.sh && cat .beads/issues.jsonl
set -eu
new() { br create "$@" --silent; }
br init --prefix shop
epic=$(new "Make paying pleasant" -t epic -p 1 -d "Fewer steps." -l checkout,ux)
parse=$(new "Prices are read wrong" -t bug -p 0 -a ann -d "1.000,00 becomes 1." \
  --external-ref JIRA-12 --parent "$epic" -e 90 \
  --due 2030-05-01T12:00:00Z --owner bob@example.com)
br update "$parse" --design "One parser, per locale." --notes "See the log of 3 May." \
  --acceptance-criteria="- [ ] German prices
- [ ] Swiss prices"
pay=$(new "Pay by card" -t feature -p 2 --parent "$epic" -l help-wanted)
chore=$(new "Bring the libraries up to date" -t chore -p 4 --defer 2031-01-01T00:00:00Z)
docs=$(new "Tell how to pay" -t docs -p 3)
question=$(new "Which currencies?" -t question)
br comments add "$question" "EUR and CHF, I think." --author bob
br comments add "$question" 'Ünïcödé, "quotes" & <tags>
in two lines' --author "Ann Example"
late=$(new "Loyalty points")
br defer "$late"
doing=$(new "Round as the bank does" -a team/bob)
br update "$doing" -s in_progress
stuck=$(new "Pay by invoice")
br update "$stuck" -s blocked
pin=$(new "Read this first")
br update "$pin" -s pinned
logo=$(new "Draw a logo" -p 3)
br close "$logo" --reason "drawn"
plain=$(new "Closed without a word")
br close "$plain"
failed=$(new "Send bills by pigeon")
br close "$failed" --reason "failed: they are slow"
twice=$(new "Draw the logo again")
br dep add "$twice" "$logo" -t duplicates
br delete "$twice" --reason "a double"
br dep add "$pay" "$parse"
br dep add "$docs" "$pay" -t waits-for
br dep add "$chore" "$failed" -t conditional-blocks
br dep add "$stuck" "$pay" -t discovered-from
br dep add "$question" "$pay" -t related
br dep add "$late" "$question" -t relates-to
br dep add "$pin" "$question" -t replies-to
br dep add "$plain" "$logo" -t duplicates
br dep add "$stuck" "$late" -t supersedes
br dep add "$doing" "$parse" -t caused-by --metadata '{"why":"rounding"}'
br dep add "$doing" external:bank:payments
br sync --flush-only
