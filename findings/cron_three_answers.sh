#!/bin/sh
# croniter, cronsim and APScheduler, and when one line of cron is due.
#
# Expected: one line, one time. Seen, in Berlin: `30 2 * * *` on the night when the clock goes back is due
# twice for croniter and APScheduler and once for cronsim; on the night when it goes forward APScheduler
# answers 02:30+01:00, a time that no clock there shows. `0 9 */2 * 1` is every odd day and every Monday
# for croniter, the Mondays on odd days for cronsim (as Debian's cron), and Tuesdays on odd days for
# APScheduler, which counts the week's days from Monday, 0, in crontab lines too.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet croniter==7.0.0 cronsim==2.8 apscheduler==3.11.3 tzdata==2026.6
"$folder/env/bin/python" - <<'PYTHON'
import sys
from datetime import datetime
from importlib.metadata import version
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger
from croniter import croniter
from cronsim import CronSim

BERLIN = ZoneInfo("Europe/Berlin")


def by_croniter(line, start):
    times = croniter(line, start)
    while True:
        yield times.get_next(datetime)


def by_apscheduler(line, now):
    trigger, due = CronTrigger.from_crontab(line, timezone=BERLIN), None
    while True:
        due = now = trigger.get_next_fire_time(due, now)
        yield due


ASKED = {
    ("30 2 * * *", datetime(2026, 10, 24, 12, tzinfo=BERLIN)): (
        ["Sun 25 02:30+0200", "Sun 25 02:30+0100"],
        ["Sun 25 02:30+0200", "Mon 26 02:30+0100"],
        ["Sun 25 02:30+0200", "Sun 25 02:30+0100"],
    ),
    ("30 2 * * *", datetime(2026, 3, 28, 12, tzinfo=BERLIN)): (
        ["Sun 29 03:00+0200", "Mon 30 02:30+0200"],
        ["Sun 29 03:00+0200", "Mon 30 02:30+0200"],
        ["Sun 29 02:30+0100", "Mon 30 02:30+0200"],
    ),
    ("0 9 */2 * 1", datetime(2026, 12, 1, 12, tzinfo=BERLIN)): (
        ["Thu 03 09:00+0100", "Sat 05 09:00+0100"],
        ["Mon 07 09:00+0100", "Mon 21 09:00+0100"],
        ["Tue 15 09:00+0100", "Tue 29 09:00+0100"],
    ),
}
print(*(f"{name} {version(name)}" for name in ("croniter", "cronsim", "apscheduler")))
changed = False
for (line, start), expected in ASKED.items():
    print(f"  {line} from {start:%d %b}")
    answers = []
    for reader in (by_croniter, CronSim, by_apscheduler):
        times = iter(reader(line, start))
        answers.append([f"{next(times):%a %d %H:%M%z}" for _ in range(2)])
        print("   ", *answers[-1], sep="  ")
    changed |= tuple(answers) != expected
sys.exit(changed)
PYTHON
