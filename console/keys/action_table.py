"""Every action by screen and group, in the order of the help page. Data only.

A row is an action's id, its keys, its title and, where it has them, its rank in the footer, `in
text`, `own`, `writes` and `acts` (see `console.keys.actions.Action`); below it stands what it does.
Two spaces part the columns.
"""

TABLE = """
[everywhere: Sessions]
session.stop_all  ctrl+x  Stop all  rank 90, in text, acts
    Interrupt every session at once; each can be resumed.

[deck: Sessions]
session.stop  x  Stop  rank 7, acts
    Interrupt the selected session; it can be resumed.
session.pause  p  Pause  rank 8, acts
    Hold the selected session before its next step, or resume one that is paused, stopped or
    over.
session.cancel  c  Cancel  rank 22, acts
    End the selected session and its children; press twice.
session.new  n  New  rank 10, writes, acts
    Write the goal of a new session and choose its device.
session.write  i  Write  rank 11, writes, acts
    Go to the composer: prompt, steer or answer the selected session.
session.replay  R  Replay  rank 30
    Play the selected session again from the store.
session.confirm  plus  Confirm result  acts
    Confirm that the selected, completed session met its goal; the latest verdict counts.
session.wrong  minus  Result wrong  acts
    Record that the selected, completed session did not meet its goal; the latest verdict
    counts.
session.undo  b  Put back  acts
    Take back on the phone what the selected session did last, while that can be reached; press
    twice. The session has to wait or be over.
session.let_through  L  Let through  rank 6, acts
    Send your redacted texts to this session again, unredacted; press twice.
session.require  Q  Requirements  rank 26, acts
    Read what the goal of the selected session requires; add, change and withdraw.
session.keep  P  Keep pictures  acts
    Keep the pictures of the selected session and its tree for ever; again returns them to
    retention.
session.copy  y  Copy
    Copy the text of the selected row or step.
notice.done  D  Clear read  rank 14, acts
    Dismiss the ended sessions that you have read, or the marked ones, from every console; the
    history keeps them.
notice.send  s  Follow up  rank 15, writes, acts
    Write a new goal that starts from the result of the selected, ended session.
session.tag  l  Tag  rank 24, writes, acts
    Tag the selected or marked sessions; -word removes a tag.
session.rename  E  Rename  writes, acts
    Write another title for the selected or marked sessions.

[deck: Several]
view.mark  space  Mark  rank 19, own
    Mark the session under the cursor; session keys then act on all marked ones. esc unmarks
    all.
view.mark_range  V  Mark range
    Mark all sessions from the last mark to the cursor.
view.mark_all  asterisk  Mark all
    Mark all sessions that are listed, or none.
view.undo  U  Undo  rank 23, acts
    Undo the newest action on marked or dismissed sessions, as far as possible.

[deck: Looking]
view.sort  O  Sort  rank 33
    Sort the sessions: asking first, live first, newest first, by state, by phone, by tag, by
    title; on a fleet by host.
view.group  B  Group  rank 34
    Group the sessions: as a tree, by state, by phone, by tag, by age; on a fleet by host.

[deck: Panes]
view.left_wider  greater_than_sign  Left pane wider
    Make the session list wider. The mouse drags the border.
view.left_narrower  less_than_sign  Left pane narrower
    Make the session list narrower.
view.right_wider  left_curly_bracket  Right pane wider
    Make the phone's pane wider.
view.right_narrower  right_curly_bracket  Right pane narrower
    Make the phone's pane narrower.
view.even  equals_sign  Even panes
    Return to automatic pane widths.
view.full  F  Full pane  rank 35
    Give the pane with the focus the whole width; again shows all. tab goes to the next.

[deck: Sessions]
session.editor  e  In your editor
    Open the step under the cursor with all that was stored of it, else the whole transcript, in
    $VISUAL or $EDITOR.
steer.edit  h  Change hint  rank 16, writes, acts
    Change the hint under the cursor, or the newest, that no step has applied.
steer.withdraw  u  Take back  rank 17, acts
    Withdraw the hint under the cursor, or the newest, that no step has applied.

[everywhere: Questions]
question.next  exclamation_mark  Next question  rank 12
    Go to the oldest question that waits, from anywhere; from its card, or once it is answered,
    to the next. While sessions are marked, theirs come first.

[deck: Questions]
question.approve  a  Approve  rank 5, acts
    Approve the card's action once; press twice away from the card.
question.reject  r  Reject  rank 6, writes, acts
    Reject the card's action: type a reason, or nothing, and press enter.
question.session  A  For this session  acts
    Approve the same effect for the same recipient for the rest of the session, or of a job's
    run; press twice on the card.
question.warrants  W  Allowed in words  rank 27, acts
    Say in a sentence what is allowed for a time; try it on borderline cases, sign and revoke it.
question.modify  m  Instead  writes, acts
    Write what to do instead of the card's action; a text to be typed can be edited.
question.wheel  t  By hand  own, acts
    On the card: take the wheel of its phone.
question.dismiss  d  Dismiss  rank 9, acts
    Dismiss the notice under the cursor on every console.
question.option  1…9  Answer  own, acts
    Choose an option of the question that has the focus.

[deck: Phones]
wheel.take  w  Drive  rank 13, acts
    Take the wheel of the phone that is shown: its session waits. Again, or esc, hands it back.
wheel.buttons  f2 f3 f4  Back, home, recents  own, acts
    Press a button of the phone that you drive; the right and middle mouse buttons are back and
    home.
phone.text  t f5  Text or picture  rank 19
    Show the phone's screen as text, refreshed as it changes; enter presses. Again: the picture.
phone.closer  z f6  Zoom  rank 20
    Zoom into the picture of the phone, up to 8×, then whole again; arrows move it, with shift
    while you drive. The mouse wheel zooms too, with ctrl while you drive.
phone.farther  Z  Zoom out
    Zoom out of the picture of the phone.
target.show  S  Show app  acts
    Show the app of the selected session on a display of its own.
target.hide  H  Hide app  acts
    Move the app of the selected session to a hidden display.
target.attach  T  Attach app  acts
    Bring the app of the selected session to the phone's main display.
device.virtual  v  Virtual phone  rank 32, acts
    Start a virtual phone, if none is there.
device.open  o  Open phone  rank 18
    Show this phone large: elements, log, health, the wheel.

[deck: Looking]
view.filter  slash  Filter  rank 31, writes
    Show only sessions that match; esc clears.
view.find  f  Find  writes
    Find words in the transcript; enter goes to the next, esc leaves.
view.numbers  number_sign  Numbers
    Show or hide the element numbers on the picture.
view.fold  left right  Fold  own
    Fold or unfold the subtasks of a session.
view.expand  space  Expand  own
    Show more of the step under the cursor: its details, then its record.
view.open  enter  Open  own
    Go from a session to its transcript, from a question to its card.

[everywhere: Moving]
view.down  j down  Down  own
    Move down.
view.up  k up  Up  own
    Move up.
view.first  g home  First  own
    Go to the first row or the oldest step.
view.last  G end  Last  own
    Go to the last row, or follow the newest step.
view.page_down  ctrl+d pagedown  Half a page down  own
    Move down by half a page.
view.page_up  ctrl+u pageup  Half a page up  own
    Move up by half a page.

[deck: Moving]
view.next_pane  tab  Next pane
    Go to the next pane; if not all fit, show it.
view.previous_pane  shift+tab  Previous pane
    Go to the previous pane.

[everywhere: Moving]
view.back  escape  Back
    One layer back: filter, composer, dialog, screen. Never touches a session.

[wall: Phones]
wall.open  enter  Open  own
    Show the phone under the cursor large.

[wall: Moving]
wall.left  h left  Left  own
    Go to the phone at the left.
wall.right  l right  Right  own
    Go to the phone at the right.

[wall: Phones]
wall.virtual  v  Virtual phone  rank 32, acts
    Start a virtual phone, if none is there.

[wall: Looking]
wall.filter  slash  Filter  rank 31, writes
    Show only phones that match, by name, state, session, @host/ or #tag; esc clears.
wall.group  B  Group  rank 34
    Group the phones by host, or not; on a fleet.

[jobs: Jobs]
job.new  n  New  rank 10, writes, acts
    Write a job, a watcher or a commitment in a few lines.
job.edit  e  Change  rank 14, writes, acts
    Change what the selected job does and when.
job.run  r  Run now  rank 11, acts
    Make the selected job due now; its schedule continues after the run.
job.pause  p  Pause  rank 12, acts
    Keep the selected job from running, or let it run again.
job.review  a  Review  rank 9
    Go to the card of the selected job's review; again approves it. On the card 1 approves and 2
    rejects.
job.done  c  Complete  rank 11, acts
    Complete the selected commitment.
job.snooze  z  Snooze  rank 12, acts
    Snooze the selected commitment for an hour, or reopen one that is over.
job.read  d  Seen  rank 13, acts
    Mark the result or match as seen; dismiss the selected commitment.
job.stop  x  Stop  rank 20, acts
    Stop the selected job or watcher for good; press twice.
job.replay  R  Replay  rank 21
    Play the newest run of the selected job again.
job.filter  slash  Filter  rank 31, writes
    Show only what matches; esc clears.
job.next_list  tab  Next list  rank 30
    Go from the jobs to the watchers, and on to the commitments.
job.previous_list  shift+tab  Previous list
    Go to the previous list.
job.copy  y  Copy
    Copy the details.
job.open  enter  Details  own
    Go to the details, which scroll; again, or esc, back to the list.
job.group  B  Group  rank 34
    Group what is listed by host, or not; on a fleet.

[history: History]
history.search  slash  Search  rank 10, writes
    Find sessions by what they said and did; esc clears.
history.replay  enter  Replay  own
    Replay the session from the place found.
history.sums  s  Spending  rank 11
    Show tokens, money and sessions of the last days as bars, and the most expensive sessions;
    again, or esc, shows the list alone.
history.measure  m  Measure  rank 12
    Let the bars measure tokens, then money, then sessions.
history.pick  space  Pick  rank 13
    Pick the session under the cursor to compare another with it; again unpicks it.
history.filters  F  Filters  rank 9
    Choose a filter: failed this week, unverified, kept, or saved by you.
history.save  S  Save filter
    Save the list's filter, or delete the saved one.
history.keep  P  Keep pictures  rank 15, acts
    Keep the pictures of the session under the cursor and its tree for ever; again returns them
    to retention.
history.compare  d  Compare  rank 14
    Compare the session under the cursor with the picked one, from the first step where they
    diverge.
history.group  B  Group  rank 34
    Group the sessions by host, or not; on a fleet.

[replay: Replay]
replay.play  space  Play or hold  rank 10
    Play or pause the replay.
replay.forward  right l  Step on  rank 11
    Go one step forward.
replay.backward  left h  Step back  rank 12
    Go one step back.
replay.start  home g  Start
    Go to the beginning.
replay.end  end G  End
    Go to the end.
replay.faster  plus equals_sign  Faster  rank 13
    Double the speed, up to 64.
replay.slower  minus  Slower  rank 14
    Halve the speed, down to 1.
replay.record  i  Record  rank 15
    Show what the step was made of: tree, then prompt, then reply, then nothing.
replay.branch  b  Branch  rank 16, acts
    Start a new session with the past up to this step; press twice.
replay.again  a  Do again  rank 18, acts
    Repeat the session's actions on a free phone, asking the model only where the screen
    differs; press twice.
replay.export  E  Write to a file  rank 17
    Write the session as an HTML page, a film or a rollout.
replay.editor  e  In your editor
    Open the step under the cursor with all that was stored of it, else the transcript up to
    here, in $VISUAL or $EDITOR.
replay.text  t  Text or picture
    Show the screen of this moment as text. Again: the picture.
replay.closer  z  Zoom
    Zoom into the frame, up to 8×, then whole again; shift and arrows, or the mouse, move it.
replay.farther  Z  Zoom out
    Zoom out of the frame.
replay.numbers  number_sign  Numbers
    Show or hide the element numbers on the picture.
replay.compare  d  Compare  rank 19
    Pick this session and choose another in the history to compare.

[compare: Compare]
compare.replay  enter  Replay the first  rank 9, own
    Play the first session from the place under the cursor.
compare.other  o  Replay the second  rank 10
    Play the second session from the place under the cursor.
compare.parting  d  First difference  rank 11
    Go to the first step where the two differ.
compare.copy  y  Copy  rank 12
    Copy where the two diverge, as lines.

[device: Driving]
device.drive  w  Drive  rank 10, acts
    Take the wheel of this phone: its session waits. Again, or esc, hands it back with a note.
device.tap  enter  Tap  own, acts
    Tap the element under the cursor, while you drive; on a finding: repair it.
device.press  L  Long press  acts
    Long-press the element under the cursor, while you drive.
device.buttons  f2 f3 f4  Back, home, recents  own, acts
    Press a button of the phone that you drive; the right and middle mouse buttons are back and
    home.

[device: Looking]
device.elements  e  Elements  rank 20
    Show what is on the phone's screen, numbered as a model sees it; the cursor is seen on the
    picture.
device.log  l  Log  rank 21
    Show the newest lines of the phone's log, as they come.
device.health  h  Health  rank 22
    Show the phone's health check, with repairs.
device.read  r  Read again  rank 11
    Refresh the elements, the log or the health check.
device.repair  f  Repair  rank 9, acts
    Repair the finding under the cursor, where the core can.
device.filter  slash  Filter  rank 12, writes
    Show only lines of the log that match; !word excludes; esc clears.
device.numbers  number_sign  Numbers
    Show or hide the element numbers on the picture.
device.text  t f5  Text or picture  rank 13
    Show the phone's screen as text, refreshed as it changes; enter presses. Again: the picture.
device.closer  z f6  Zoom  rank 14
    Zoom into the picture of the phone, up to 8×, then whole again; arrows move it, with shift
    while you drive. The mouse wheel zooms too, with ctrl while you drive.
device.farther  Z  Zoom out
    Zoom out of the picture of the phone.
device.copy  y  Copy
    Copy what is under the cursor, with all details.

[device: Moving]
device.next  right_square_bracket  Next phone  rank 30
    Show the next phone.
device.previous  left_square_bracket  Previous phone
    Show the previous phone.
device.next_pane  tab  Next pane
    Go to the next pane; if not both fit, show it.
device.previous_pane  shift+tab  Previous pane
    Go to the previous pane.

[settings: Settings]
settings.edit  enter  Change  own
    Change the setting under the cursor; it is checked and saved in the file.
settings.filter  slash  Filter  rank 10, writes
    Show only settings that match; esc clears.

[everywhere: Screens]
screen.deck  1  Deck
    Sessions, what waits for you, transcript and phone.
screen.wall  2  Wall  rank 39
    Every phone live, as many as fit.
screen.jobs  3  Jobs  rank 40
    The queue of scheduled work.
screen.history  4  History  rank 41
    All stored sessions, and full-text search over them.
screen.settings  comma  Settings
    Every setting, what it means, and a place to change it.

[everywhere: Console]
app.palette  ctrl+p colon  Palette  rank 94, writes
    Find any action by name.
app.model  M  Connect a model  acts
    Connect a model by key, local server or login.
app.help  question_mark f1  Help  rank 95
    What the keys do here.
app.theme  ctrl+t  Dark or light
    Switch between dark and light colours.
app.themes  C  Colours
    Choose a colour theme; the choice is kept.
app.suspend  ctrl+z  To the shell
    Suspend the console and go to the shell; fg returns. Press twice if running sessions would
    be suspended with it.
app.quit  ctrl+q  Quit  rank 96, in text
    Leave the console; it first shows what keeps running.
"""
